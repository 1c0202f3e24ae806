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
  --held_->owners_[holder->second.owner];
  held_->holders_.erase(holder);
}

HeldLeases::ScopedLease HeldLeases::Hold(std::string_view kind, std::vector<Key> keys) {
  if (leases_ == nullptr) {
    return {};
  }
  const int64_t now_s = std::chrono::duration_cast<std::chrono::seconds>(clock_.UnixTime()).count();
  const Holder holder{.owner = std::string(kind) + " " + std::to_string(now_s / kQuantumSeconds),
                      .keys = std::move(keys)};
  bool is_new = false;
  uint64_t number = 0;
  {
    const MutexLock lock(mutex_);
    is_new = owners_.try_emplace(holder.owner, 0).second;
    ++owners_[holder.owner];
    number = next_++;
    holders_.emplace(number, holder);
  }
  if (is_new) {
    (void)leases_->Hold(holder.owner);
  }
  if (!holder.keys.empty()) {
    (void)store_.FindMissing(holder.keys, {});
  }
  return ScopedLease(*this, number);
}

// A store that takes no lease evicts nothing either.
void HeldLeases::RenewAll() {
  std::vector<std::string> held;
  std::vector<std::string> released;
  std::vector<Key> keys;
  {
    const MutexLock lock(mutex_);
    for (auto owner = owners_.begin(); owner != owners_.end();) {
      (owner->second == 0 ? released : held).push_back(owner->first);
      owner = owner->second == 0 ? owners_.erase(owner) : std::next(owner);
    }
    for (const auto& [number, holder] : holders_) {
      keys.insert(keys.end(), holder.keys.begin(), holder.keys.end());
    }
  }
  for (const std::string& owner : held) {
    (void)leases_->Hold(owner);
  }
  for (const std::string& owner : released) {
    (void)leases_->Release(owner);
  }
  if (!keys.empty()) {
    (void)store_.FindMissing(keys, {});
  }
}

}  // namespace kiln::cache
