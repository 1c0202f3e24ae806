// SPDX-License-Identifier: MIT
// Keeps leases alive for as long as somebody holds them: each is renewed every minute, together
// with the content that goes with it, whatever the holder waits for. See spec/cache 8.4, 8.5
//
// Threads: Hold and the end of a lease on any thread. One thread of its own renews; one mutex
// guards the list, and the store is called outside of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/leases/leases.h"
#include "cache/store.h"
#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"
#include "compiler/base/threads/thread.h"

namespace kiln::cache {

class HeldLeases {
 public:
  static constexpr Duration kEvery = std::chrono::minutes(1);
  static constexpr std::chrono::seconds kMostHeld = std::chrono::hours(1);

  // `leases` may be null: then nothing is evicted. All must outlive the object. Zero for `every`:
  // only RenewAll renews.
  HeldLeases(Leases* leases, BlobStore& store, Clock& clock, Duration every = kEvery);
  ~HeldLeases();
  HeldLeases(const HeldLeases&) = delete;
  HeldLeases& operator=(const HeldLeases&) = delete;

  // A lease as long as it lives, and for kMostHeld at most.
  class ScopedLease {
   public:
    ScopedLease() = default;
    ScopedLease(ScopedLease&& other) noexcept
        : held_(std::exchange(other.held_, nullptr)), number_(other.number_) {}
    ScopedLease& operator=(ScopedLease&& other) noexcept {
      std::swap(held_, other.held_);
      std::swap(number_, other.number_);
      return *this;
    }
    ~ScopedLease();

   private:
    friend class HeldLeases;
    ScopedLease(HeldLeases& held, uint64_t number) : held_(&held), number_(number) {}
    HeldLeases* held_ = nullptr;
    uint64_t number_ = 0;
  };

  // Everything that is used from now on stays, and so does content that no record names, like
  // sources, if `keys` has it. Holders of one kind that begin within ten minutes share a row of the
  // store, so that short calls do not wait for the disk each.
  ScopedLease Hold(std::string_view kind, std::vector<Key> keys = {});

  // What the thread does every minute: renews what is held and releases what is not.
  void RenewAll();

 private:
  struct Holder {
    std::string owner;
    std::vector<Key> keys;
    int64_t began_s = 0;  // Unix
  };
  struct LeaseOwner {
    uint64_t holders = 0;
    int64_t began_s = 0;
  };

  Leases* const leases_;
  BlobStore& store_;
  Clock& clock_;
  Mutex mutex_;
  CondVar ending_;
  std::map<std::string, LeaseOwner> owners_ KILN_GUARDED_BY(mutex_);  // that are renewed
  std::map<uint64_t, Holder> holders_ KILN_GUARDED_BY(mutex_);
  uint64_t next_ KILN_GUARDED_BY(mutex_) = 1;
  bool ended_ KILN_GUARDED_BY(mutex_) = false;
  Thread thread_;
};

}  // namespace kiln::cache
