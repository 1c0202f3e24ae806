// SPDX-License-Identifier: MIT
#include "cache/leases/held_leases.h"

#include <iterator>

namespace kiln::cache {
namespace {

constexpr int64_t kQuantumSeconds = 600;  // of leases (spec/cache 6.3)

}  // namespace

HeldLeases::HeldLeases(Leases* leases, BlobStore& store, Clock& clock, Duration every)
    : leases_(leases), store_(store), clock_(clock) {
  if (leases == nullptr || every == Duration::zero()) {
    return;
  }
  thread_ = Thread({.name = "leases"}, [this, every](const std::stop_token&) {
    for (;;) {
      {
        const MutexLock lock(mutex_);
        if (!ended_) {
          // An early wake only renews early.
          (void)ending_.WaitFor(mutex_, every);
        }
        if (ended_) {
          return;
        }
      }
      RenewAll();
    }
  });
}

HeldLeases::~HeldLeases() {
  {
    const MutexLock lock(mutex_);
    ended_ = true;
    ending_.NotifyAll();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

HeldLeases::ScopedLease::~ScopedLease() {
  if (held_ == nullptr) {
    return;
  }
  const MutexLock lock(held_->mutex_);
  const auto holder = held_->holders_.find(number_);
  // The row of the owner goes with the next renewal: another call of the same ten minutes may take
  // it up again.
  if (const auto owner = held_->owners_.find(holder->second.owner); owner != held_->owners_.end()) {
    --owner->second.holders;
  }
  held_->holders_.erase(holder);
}

HeldLeases::ScopedLease HeldLeases::Hold(std::string_view kind, std::vector<Key> keys) {
  if (leases_ == nullptr) {
    return {};
  }
  const int64_t now_s = std::chrono::duration_cast<std::chrono::seconds>(clock_.UnixTime()).count();
  // Calls of one kind that begin in the same ten minutes share an owner, and the floor that the
  // store keeps for it. So the table of leases has a row for each kind and quantum and not for each
  // call.
  const Holder holder{.owner = std::string(kind) + " " + std::to_string(now_s / kQuantumSeconds),
                      .keys = std::move(keys),
                      .began_s = now_s};
  bool is_new = false;
  uint64_t number = 0;
  {
    const MutexLock lock(mutex_);
    const auto [owner, made] = owners_.try_emplace(holder.owner, LeaseOwner{.began_s = now_s});
    is_new = made;
    ++owner->second.holders;
    number = next_++;
    holders_.emplace(number, holder);
  }
  // Without the mutex, since both write to the store. The lease is there before the keys are looked
  // up, so nothing can be evicted in between.
  if (is_new) {
    (void)leases_->Hold(holder.owner);
  }
  if (!holder.keys.empty()) {
    // Finding keys marks them as used, which puts them above the floor.
    (void)store_.FindMissing(holder.keys, {});
  }
  return ScopedLease(*this, number);
}

// A store that takes no lease evicts nothing either. Whoever reads slowly enough would keep all
// that anybody uses meanwhile, so what has been held for long is given up, while its holder goes
// on: what goes then is computed again.
void HeldLeases::RenewAll() {
  const int64_t now_s = std::chrono::duration_cast<std::chrono::seconds>(clock_.UnixTime()).count();
  const auto is_old = [&](int64_t began_s) { return now_s - began_s > kMostHeld.count(); };
  std::vector<std::string> held;
  std::vector<std::string> released;
  std::vector<Key> keys;
  {
    const MutexLock lock(mutex_);
    for (auto owner = owners_.begin(); owner != owners_.end();) {
      const bool ends = owner->second.holders == 0 || is_old(owner->second.began_s);
      (ends ? released : held).push_back(owner->first);
      owner = ends ? owners_.erase(owner) : std::next(owner);
    }
    for (const auto& [number, holder] : holders_) {
      if (!is_old(holder.began_s)) {
        keys.insert(keys.end(), holder.keys.begin(), holder.keys.end());
      }
    }
  }
  for (const std::string& owner : held) {
    (void)leases_->Hold(owner);
  }
  for (const std::string& owner : released) {
    (void)leases_->Release(owner);
  }
  if (!keys.empty()) {
    // The store leases for a while what it was asked about, so asking renews.
    (void)store_.FindMissing(keys, {});
  }
}

}  // namespace kiln::cache
