// SPDX-License-Identifier: MIT
// Masks: which options were live in results of one entry id, as sorted lists of names. Projecting a
// variant on each of them gives the live keys under which its result may be known. There are at
// most kMaxMasks; a set that finds no place widens the mask that is closest to it, which is sound
// because a superset of live options tells apart at least as much. See spec/cache 3.3, 3.4
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cache/name_list.h"
#include "cache/store.h"
#include "compiler/base/cache_usage.h"
#include "compiler/base/digest.h"
#include "compiler/base/lru_map.h"
#include "compiler/base/mutex.h"

namespace kiln::compile {

class MaskList {
 public:
  using Names = cache::NameList;  // sorted, unique

  MaskList() = default;
  // By ordinal.
  explicit MaskList(std::vector<Names> masks) : masks_(std::move(masks)) {}

  // The ordinal of a mask that became another; nothing if one of them has all of `live` already and
  // no place is left, or if `live` itself is there.
  std::optional<uint32_t> Add(const Names& live);
  // `live` itself, else the first mask that has all of it. Requires: it was added.
  const Names& Of(const Names& live) const;

  const std::vector<Names>& all() const { return masks_; }
  // Whether masks may be wider than what any result read; before, each is what some result read.
  bool is_full() const;

 private:
  std::vector<Names> masks_;
};

// The masks of all entries that were asked for, as the store has them and as results added to them.
//
// Threads: all functions may run concurrently. One mutex guards the lists; the store is read
// outside of it.
class StoredMasks final : public CountedCache {
 public:
  struct Masks {
    bool stored = false;  // the store had some: then it may have results, too
    MaskList list;
  };

  // They do not change while somebody looks at them.
  using MasksPtr = std::shared_ptr<const Masks>;

  // The store must outlive the object.
  explicit StoredMasks(cache::BlobStore& store) : store_(store) {}

  MasksPtr Of(const Hash128& entry, const cache::Call& call);

  // A result has these live options: the mask that finds it. Rows to put are added to `items`.
  MaskList::Names Add(const Hash128& entry, const MaskList::Names& live,
                      std::vector<cache::Item>& items, const cache::Call& call);

  // The store is read again.
  void Clear();
  CacheUsage Usage() override;

 private:
  struct Row {
    bool loaded = false;
    MasksPtr read = std::make_shared<const Masks>();  // another one after each change
  };

  static constexpr size_t kMaxEntries = 65'536;

  // Makes room first, so the row stays until the next call. Requires: what it was told by an
  // earlier call is in the store, or on its way there.
  Row& RowOf(const Hash128& entry) KILN_REQUIRES(mutex_);

  cache::BlobStore& store_;
  Mutex mutex_;
  LruMap<Hash128, Row, Hash128Hash> rows_ KILN_GUARDED_BY(mutex_);
  uint64_t hits_ KILN_GUARDED_BY(mutex_) = 0;
  uint64_t misses_ KILN_GUARDED_BY(mutex_) = 0;
};

}  // namespace kiln::compile
