// SPDX-License-Identifier: MIT
// Key to value, bounded in entries and in bytes; what was used least lately makes room, one entry
// at a time, so a full cache never forgets all it knows at once. Counts what it is asked.
//
// Threads: all functions may run concurrently; one mutex, held for look-ups only. Values come back
// as copies: a large one is a shared_ptr.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "compiler/base/cache_usage.h"
#include "compiler/base/lru_map.h"
#include "compiler/base/mutex.h"

namespace kiln {

template <class Key, class Value, class Hash = FlatHash>
class BoundedCache final : public CountedCache {
 public:
  // A bound of 0: there is none. The name outlives the cache.
  struct Bounds {
    uint64_t bytes = 0;
    size_t entries = 0;
  };
  enum class Use : uint8_t {
    kNoted,   // it is the latest now
    kUnseen,  // of who may change nothing: the order stays
  };

  BoundedCache(std::string_view name, const Bounds& bounds) : name_(name), bounds_(bounds) {}

  template <class Wanted>
  std::optional<Value> Find(const Wanted& key, Use use = Use::kNoted) {
    const MutexLock lock(mutex_);
    const Value* const found = use == Use::kNoted ? rows_.Find(key) : rows_.Peek(key);
    ++(found == nullptr ? misses_ : hits_);
    return found == nullptr ? std::nullopt : std::optional<Value>(*found);
  }

  // Replaces what the key had. `bytes`: what key and value take, about; what alone is more than the
  // bound is not kept.
  void Put(Key key, Value value, uint64_t bytes) {
    const MutexLock lock(mutex_);
    rows_.Erase(key);
    if (bounds_.bytes != 0 && bytes > bounds_.bytes) {
      return;
    }
    rows_.Add(std::move(key), std::move(value), bytes);
    while ((bounds_.entries != 0 && rows_.size() > bounds_.entries) ||
           (bounds_.bytes != 0 && rows_.cost() > bounds_.bytes)) {
      rows_.DropOldest();
    }
  }

  void Clear() {
    const MutexLock lock(mutex_);
    rows_.Clear();
  }

  CacheUsage Usage() override {
    const MutexLock lock(mutex_);
    return {.name = std::string(name_),
            .bytes = rows_.cost(),
            .max_bytes = bounds_.bytes,
            .entries = rows_.size(),
            .max_entries = bounds_.entries,
            .hits = hits_,
            .misses = misses_};
  }

 private:
  const std::string_view name_;
  const Bounds bounds_;
  Mutex mutex_;
  LruMap<Key, Value, Hash> rows_ KILN_GUARDED_BY(mutex_);
  uint64_t hits_ KILN_GUARDED_BY(mutex_) = 0;
  uint64_t misses_ KILN_GUARDED_BY(mutex_) = 0;
};

}  // namespace kiln
