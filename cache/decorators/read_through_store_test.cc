// SPDX-License-Identifier: MIT
#include "cache/decorators/read_through_store.h"

#include <set>

#include <gtest/gtest.h>

#include "cache/decorators/fault_store.h"
#include "cache/decorators/memory_store.h"
#include "cache/record.h"

namespace kiln::cache {
namespace {

Hash128 IdOf(std::string_view text) { return HashBytes(AsBytes(text)); }
Key SignatureOf(std::string_view text) {
  return {.level = Level::kSignature, .space = 0, .id = IdOf(text)};
}

// Counts calls; may be down.
class Upstream final : public BlobStore {
 public:
  explicit Upstream(BlobStore& below) : below_(below) {}
  Result<Blob> Get(const Key& key, const Call& call) override {
    ++gets;
    if (slow) {
      return Error{.code = ErrorCode::kDeadlineExceeded, .context = "slow"};
    }
    return down ? Result<Blob>(Down()) : below_.Get(key, call);
  }
  Result<PutResult> Put(std::span<const Item> items, Durability durability,
                        const Call& call) override {
    ++puts;
    return down ? Result<PutResult>(Down()) : below_.Put(items, durability, call);
  }
  Result<std::vector<Key>> FindMissing(std::span<const Key> keys, const Call& call) override {
    return below_.FindMissing(keys, call);
  }
  void Touch(std::span<const Key>) override {}

  std::atomic<bool> down{false};
  std::atomic<bool> slow{false};  // whatever the deadline is, it passes
  std::atomic<int> gets{0}, puts{0};

 private:
  static Error Down() { return {.code = ErrorCode::kUnavailable, .context = "down"}; }
  BlobStore& below_;
};

class ReadThroughStoreTest : public testing::Test {
 protected:
  ReadThroughStore Make(bool writes = true) {
    return {local, upstream, upstream, clock, {.writes = writes, .on_change = [this](bool open) {
                                                 states += open ? "open " : "closed ";
                                               }}};
  }
  // A record with one product, and the alias `alias` that leads to it.
  void PutResult(BlobStore& store, std::string_view name) {
    const Item content = ContentItem(CopiedBlob(AsBytes(name)));
    Record record;
    record.products.push_back({.name = "meta", .digest = DigestOf(AsBytes(name))});
    const Item items[] = {content, RecordItem(Level::kSignature, 0, IdOf(name), record),
                          AliasItem(0, IdOf(std::string(name) + " alias"), IdOf(name))};
    ASSERT_TRUE(store.Put(items, Durability::kDurable, {}).ok());
  }
  bool Has(BlobStore& store, const Key& key) { return store.Get(key, {}).ok(); }

  FakeClock clock;
  MemoryStore local{nullptr, nullptr, {}};
  MemoryStore far{nullptr, nullptr, {}};
  Upstream upstream{far};
  std::string states;
};

TEST_F(ReadThroughStoreTest, UpstreamHas_BackFillsWithAllThatItNames) {
  PutResult(far, "a");
  ReadThroughStore store = Make();
  const Key alias{.level = Level::kAlias, .space = 0, .id = IdOf("a alias")};
  const Result<Blob> found = store.Get(alias, {});
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->from_upstream);
  EXPECT_TRUE(Has(local, alias));
  EXPECT_TRUE(Has(local, SignatureOf("a")));
  EXPECT_TRUE(Has(local, {.level = Level::kContent, .space = 0, .id = IdOf("a")}));
  const int before = upstream.gets;
  EXPECT_FALSE(store.Get(alias, {})->from_upstream);
  EXPECT_EQ(upstream.gets, before);
}

TEST_F(ReadThroughStoreTest, RecordWithoutItsContent_IsAMiss) {
  Record record;
  record.products.push_back(
      {.name = "meta", .digest = DigestOf(AsBytes(std::string_view("gone")))});
  const Item item = RecordItem(Level::kSignature, 0, IdOf("x"), record);
  ASSERT_TRUE(far.Put(std::span(&item, 1), Durability::kDurable, {}).ok());
  ReadThroughStore store = Make();
  EXPECT_FALSE(Has(store, SignatureOf("x")));
  EXPECT_FALSE(Has(local, SignatureOf("x")));
}

TEST_F(ReadThroughStoreTest, RowThatDoesNotDecode_IsAMiss) {
  const Item item = RowItem(SignatureOf("x"), Bytes(7));
  ASSERT_TRUE(far.Put(std::span(&item, 1), Durability::kDurable, {}).ok());
  ReadThroughStore store = Make();
  EXPECT_FALSE(Has(store, SignatureOf("x")));
}

TEST_F(ReadThroughStoreTest, NeitherHas_IsAMiss) {
  ReadThroughStore store = Make();
  EXPECT_EQ(store.Get(SignatureOf("x"), {}).error().code, ErrorCode::kNotFound);
}

TEST_F(ReadThroughStoreTest, UpstreamDown_ServesLocalAndStopsAsking) {
  PutResult(local, "a");
  upstream.down = true;
  ReadThroughStore store = Make();
  EXPECT_TRUE(Has(store, SignatureOf("a")));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(store.Get(SignatureOf("x"), {}).error().code, ErrorCode::kNotFound);
  }
  EXPECT_EQ(upstream.gets, 5);
  EXPECT_EQ(store.breaker().OpenSince(), std::optional<int64_t>(1'000'000'000));
  clock.Advance(std::chrono::seconds(31));
  EXPECT_FALSE(Has(store, SignatureOf("x")));
  EXPECT_FALSE(Has(store, SignatureOf("x"))) << "one call tries, the others wait";
  EXPECT_EQ(upstream.gets, 6);
  upstream.down = false;
  PutResult(far, "x");
  clock.Advance(std::chrono::seconds(31));
  EXPECT_TRUE(Has(store, SignatureOf("x")));
  EXPECT_EQ(states, "open closed ");
}

TEST_F(ReadThroughStoreTest, CallersWithLittlePatience_TakeTheUpstreamFromNobody) {
  upstream.slow = true;
  ReadThroughStore store = Make();
  for (int i = 0; i < 20; ++i) {
    const Deadline soon = clock.Monotonic() + std::chrono::milliseconds(1);
    EXPECT_FALSE(store.Get(SignatureOf("x"), {.deadline = soon}).ok());
  }
  EXPECT_EQ(upstream.gets, 20);
  EXPECT_EQ(store.breaker().OpenSince(), std::nullopt);
  for (int i = 0; i < 20; ++i) {  // those that have patience find out
    EXPECT_FALSE(store.Get(SignatureOf("x"), {}).ok());
  }
  EXPECT_EQ(upstream.gets, 25);
  EXPECT_EQ(states, "open ");
}

TEST_F(ReadThroughStoreTest, Put_GoesToBothUnlessTheUpstreamIsReadOnly) {
  ReadThroughStore reading = Make(false);
  PutResult(reading, "a");
  EXPECT_FALSE(Has(far, SignatureOf("a")));
  ReadThroughStore store = Make();
  PutResult(store, "b");
  EXPECT_TRUE(Has(far, SignatureOf("b")));
  upstream.down = true;
  PutResult(store, "c");
  EXPECT_TRUE(Has(local, SignatureOf("c")));
}

TEST_F(ReadThroughStoreTest, Quorum_SaysIfOnlyThisStoreHasIt) {
  ReadThroughStore store = Make();
  const Item item = ContentItem(CopiedBlob(AsBytes(std::string_view("q"))));
  EXPECT_TRUE(store.Put(std::span(&item, 1), Durability::kQuorum, {}).ok());
  upstream.down = true;
  const Result<cache::PutResult> alone = store.Put(std::span(&item, 1), Durability::kQuorum, {});
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.error().reason, kUpstreamDown);
}

// An upstream that is not written to cannot acknowledge; the nearer one, which is, is waited for.
TEST_F(ReadThroughStoreTest, QuorumOverAnUpstreamThatIsOnlyRead_WaitsForTheNearerOne) {
  ReadThroughStore nearer = Make();
  MemoryStore far(nullptr, nullptr, {});
  ReadThroughStore store(nearer, far, far, clock, {.writes = false});
  const Item item = ContentItem(CopiedBlob(AsBytes(std::string_view("q"))));
  EXPECT_TRUE(store.Put(std::span(&item, 1), Durability::kQuorum, {}).ok());
  upstream.down = true;
  const Result<cache::PutResult> alone = store.Put(std::span(&item, 1), Durability::kQuorum, {});
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.error().reason, kUpstreamDown);
  EXPECT_TRUE(store.Put({}, Durability::kDurable, {}).ok()) << "nothing to send";
}

TEST_F(ReadThroughStoreTest, FaultyUpstream_NeverFailsARequest) {
  MemoryStore perfect(nullptr, nullptr, {});
  FaultStore faulty(perfect, {.seed = 7, .fail = 300, .lose = 100});
  ReadThroughStore store(local, faulty, faulty, clock, {});
  for (int i = 0; i < 300; ++i) {
    const std::string name = std::to_string(i);
    PutResult(store, name);
    const Result<Blob> found = store.Get(SignatureOf(name), {});
    ASSERT_TRUE(found.ok());
    const Result<Blob> none = store.Get(SignatureOf("none " + name), {});
    ASSERT_EQ(none.error().code, ErrorCode::kNotFound);
  }
}

// Answers late, the first time that a key is asked for.
class SlowStore final : public BlobStore {
 public:
  Result<Blob> Get(const Key& key, const Call& call) override {
    bool first = false;
    {
      const MutexLock lock(mutex_);
      first = asked_.insert(key.id).second;
    }
    if (first && slow) {
      while (!call.stop.stop_requested()) {
        std::this_thread::yield();
      }
    }
    return CopiedBlob(AsBytes(std::string_view("late")));
  }
  Result<PutResult> Put(std::span<const Item>, Durability, const Call&) override {
    return PutResult{};
  }
  Result<std::vector<Key>> FindMissing(std::span<const Key>, const Call&) override {
    return std::vector<Key>();
  }
  void Touch(std::span<const Key>) override {}
  std::atomic<bool> slow{false};

 private:
  Mutex mutex_;
  std::set<Hash128> asked_ KILN_GUARDED_BY(mutex_);
};

TEST(HedgedReads, WhatTakesLongerThanMost_IsAskedTwice) {
  SlowStore slow;
  SystemClock clock;
  HedgedReads reads(slow, clock, 2);
  EXPECT_FALSE(reads.HedgeAfter().has_value());
  for (size_t i = 0; i < HedgedReads::kSamples; ++i) {
    ASSERT_TRUE(reads.Get(SignatureOf(std::to_string(i)), {}).ok());
  }
  ASSERT_TRUE(reads.HedgeAfter().has_value());
  slow.slow = true;
  EXPECT_TRUE(reads.Get(SignatureOf("slow"), {}).ok());
  EXPECT_GE(reads.hedged(), 1u);
}

TEST(HedgedReads, NobodyAnswers_EndsAtTheDeadline) {
  SlowStore slow;
  slow.slow = true;
  SystemClock clock;
  HedgedReads reads(slow, clock, 2);
  const Result<Blob> got =
      reads.Get(SignatureOf("slow"),
                {.stop = {}, .deadline = clock.Monotonic() + std::chrono::milliseconds(5)});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code, ErrorCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace kiln::cache
