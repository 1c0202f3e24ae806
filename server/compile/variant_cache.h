// SPDX-License-Identifier: MIT
// Which result a variant has, by the values of its options, for what this process has seen: found
// by the values of all options, or of those alone that some result of the entry read
// (spec/cache 3.3). Values are compared one by one, so no digest is made and none can be met by
// another one.
//
// What makes room is a whole entry, the one used least lately. Of an entry that lost something
// HasLost tells so, because then the store knows more than this does.
//
// Threads: all functions may run concurrently. One mutex is for the list of entries and held for
// moments; what an entry has is under a mutex of its own, so that workers of different programs do
// not wait for each other while rows are compared, and tables grow.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cache/name_list.h"
#include "compiler/base/cache_usage.h"
#include "compiler/base/digest.h"
#include "compiler/base/flat_map.h"
#include "compiler/base/mutex.h"
#include "compiler/resolve/program.h"
#include "compiler/resolve/values/options.h"

namespace kiln::compile {

class VariantCache final : public CountedCache {
 public:
  struct Found {
    Hash128 signature;
    bool is_same = false;  // the very variant; else one that agrees on all that was read
  };
  enum class Use : uint8_t {
    kNoted,   // the entry is the latest now
    kUnseen,  // of who may change nothing: the order stays
  };

  explicit VariantCache(uint64_t max_bytes) : max_bytes_(max_bytes) {}

  // Requires: values of the program of the entry.
  std::optional<Found> Find(const Hash128& entry, const resolve::OptionValues& values, Use use);
  // The variant has the result of this signature, which read the options `live`. If the program
  // does not declare them, the result is found by all values only. Requires: the program is that of
  // the entry.
  void Add(const Hash128& entry, const resolve::Program& program,
           const resolve::OptionValues& values, const cache::NameList& live,
           const Hash128& signature);
  // Whether something that was added for the entry is not known here any more.
  bool HasLost(const Hash128& entry);
  void Clear();

  CacheUsage Usage() override;

 private:
  // Results by the values of some options: rows of `options.size()` words.
  struct Group {
    cache::NameList names;
    std::vector<uint32_t> options;  // numbers in the program; of the first group all of them
    std::vector<uint32_t> words;
    std::vector<Hash128> signatures;
    InternIndex index;
  };
  struct Entry {
    explicit Entry(const Hash128& of) : id(of) {}

    const Hash128 id;
    Mutex mutex;  // taken last; nothing else is taken while it is held
    std::vector<Group> groups KILN_GUARDED_BY(mutex);
    std::vector<uint32_t> picked KILN_GUARDED_BY(mutex);  // values of a group, for AddTo
    uint64_t bytes KILN_GUARDED_BY(mutex) = 0;            // as counted in bytes_
    size_t rows KILN_GUARDED_BY(mutex) = 0;               // as counted in rows_
    bool gone KILN_GUARDED_BY(mutex) = false;             // it made room and takes nothing more
  };
  using Entries = std::list<std::shared_ptr<Entry>>;  // the latest first
  enum class Added : uint8_t { kYes, kEntryIsFull, kEntryIsGone };

  static const Hash128* FindIn(Entry& entry, const Group& group, std::span<const uint32_t> values)
      KILN_REQUIRES(entry.mutex);
  Added AddTo(Entry& entry, size_t group, std::span<const uint32_t> values,
              const Hash128& signature) KILN_REQUIRES(entry.mutex);
  void AddGroup(Entry& entry, Group group) KILN_REQUIRES(entry.mutex);
  Added AddBoth(Entry& entry, const resolve::Program& program, const resolve::OptionValues& values,
                const cache::NameList& live, const Hash128& signature);
  std::shared_ptr<Entry> EntryOf(const Hash128& id);  // the latest then
  void Drop(Entry& entry);
  void NoteLost(const Hash128& id) KILN_REQUIRES(mutex_);
  void MakeRoom();

  const uint64_t max_bytes_;
  Mutex mutex_;
  Entries entries_ KILN_GUARDED_BY(mutex_);
  std::unordered_map<Hash128, Entries::iterator, Hash128Hash> by_id_ KILN_GUARDED_BY(mutex_);
  std::unordered_set<Hash128, Hash128Hash> lost_ KILN_GUARDED_BY(mutex_);
  bool lost_more_ KILN_GUARDED_BY(mutex_) = false;  // than lost_ has
  std::atomic<bool> has_lost_ = false;              // so that who has lost nothing need not wait
  std::atomic<uint64_t> bytes_ = 0, hits_ = 0, misses_ = 0;
  std::atomic<size_t> rows_ = 0;
};

}  // namespace kiln::compile
