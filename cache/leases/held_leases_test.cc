// SPDX-License-Identifier: MIT
#include "cache/leases/held_leases.h"

#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"

namespace kiln::cache {
namespace {

class WritingLeases final : public Leases {
 public:
  Result<void> Hold(std::string_view owner) override {
    const MutexLock lock(mutex_);
    text_ += "+" + std::string(owner) + " ";
    changed_.NotifyAll();
    return {};
  }
  Result<void> Release(std::string_view owner) override {
    const MutexLock lock(mutex_);
    text_ += "-" + std::string(owner) + " ";
    return {};
  }
  std::string text() {
    const MutexLock lock(mutex_);
    return text_;
  }
  void WaitForLength(size_t length) {
    const MutexLock lock(mutex_);
    while (text_.size() < length) {
      changed_.Wait(mutex_);
    }
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::string text_ KILN_GUARDED_BY(mutex_);
};

// Counts what it is asked for.
class AskedStore final : public BlobStore {
 public:
  Result<Blob> Get(const Key&, const Call&) override {
    return Error{.code = ErrorCode::kNotFound, .context = {}};
  }
  Result<PutResult> Put(std::span<const Item>, Durability, const Call&) override {
    return PutResult{};
  }
  Result<std::vector<Key>> FindMissing(std::span<const Key> keys, const Call&) override {
    asked += keys.size();
    return std::vector<Key>();
  }
  void Touch(std::span<const Key>) override {}
  size_t asked = 0;
};

TEST(HeldLeases, AreRenewedUntilTheyEnd) {
  WritingLeases leases;
  AskedStore store;
  FakeClock clock(std::chrono::seconds(600));
  HeldLeases held(&leases, store, clock, Duration::zero());
  {
    const HeldLeases::ScopedLease fetch = held.Hold("fetch", {Key{}, Key{}});
    HeldLeases::ScopedLease pack = held.Hold("pack");
    held.RenewAll();
    const HeldLeases::ScopedLease moved = std::move(pack);
  }
  held.RenewAll();
  held.RenewAll();
  EXPECT_EQ(leases.text(), "+fetch 1 +pack 1 +fetch 1 +pack 1 -fetch 1 -pack 1 ");
  EXPECT_EQ(store.asked, 4u) << "sources of the fetch, twice";
}

TEST(HeldLeases, OfOneKindAndTime_ShareARow) {
  WritingLeases leases;
  AskedStore store;
  FakeClock clock(std::chrono::seconds(600));
  HeldLeases held(&leases, store, clock, Duration::zero());
  const HeldLeases::ScopedLease first = held.Hold("fetch");
  const HeldLeases::ScopedLease second = held.Hold("fetch");
  clock.Advance(std::chrono::minutes(10));
  { const HeldLeases::ScopedLease third = held.Hold("fetch"); }
  held.RenewAll();
  EXPECT_EQ(leases.text(), "+fetch 1 +fetch 2 +fetch 1 -fetch 2 ")
      << "a later one does not keep what only an earlier one used";
}

// One who reads slowly enough keeps no cache from being collected.
TEST(HeldLeases, HeldForLong_AreGivenUpOnce) {
  WritingLeases leases;
  AskedStore store;
  FakeClock clock(std::chrono::seconds(600));
  HeldLeases held(&leases, store, clock, Duration::zero());
  {
    const HeldLeases::ScopedLease slow = held.Hold("fetch", {Key{}});
    clock.Advance(HeldLeases::kMostHeld);
    held.RenewAll();
    clock.Advance(std::chrono::seconds(1));
    const HeldLeases::ScopedLease other = held.Hold("fetch", {Key{}});
    held.RenewAll();
    held.RenewAll();
  }
  held.RenewAll();
  EXPECT_EQ(leases.text(), "+fetch 1 +fetch 1 +fetch 7 +fetch 7 -fetch 1 +fetch 7 -fetch 7 ");
  EXPECT_EQ(store.asked, 5u);
}

TEST(HeldLeases, ThreadOfItsOwn_Renews) {
  WritingLeases leases;
  AskedStore store;
  FakeClock clock(std::chrono::seconds(0));
  HeldLeases held(&leases, store, clock, std::chrono::milliseconds(1));
  const HeldLeases::ScopedLease one = held.Hold("x");
  leases.WaitForLength(15);
  EXPECT_EQ(leases.text().substr(0, 15), "+x 0 +x 0 +x 0 ");
}

TEST(HeldLeases, WithoutLeases_NothingHappens) {
  AskedStore store;
  FakeClock clock;
  HeldLeases held(nullptr, store, clock);
  const HeldLeases::ScopedLease one = held.Hold("x", {Key{}});
  held.RenewAll();
  EXPECT_EQ(store.asked, 0u);
}

}  // namespace
}  // namespace kiln::cache
