// SPDX-License-Identifier: MIT
// Tables of words. The first group of an entry has the values of all options, and each other one
// those of a list of options that some result read. A look-up picks the words of each group and
// finds them by their process hash: about 20 ns for each group of 20 options, of which programs
// have a handful; by digests it would be two microseconds for each.
#include "server/compile/variant_cache.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "cache/key.h"

namespace kiln::compile {
namespace {

constexpr uint64_t kEntryBytes = 512;  // lists, slots, room to grow; about
constexpr uint64_t kRowBytes = 48;     // signature, slot, room to grow; about
constexpr size_t kMostLost = 65'536;

uint64_t BytesOfRow(size_t options) { return kRowBytes + options * sizeof(uint32_t) * 3 / 2; }

uint64_t HashOf(std::span<const uint32_t> words) { return Hash64(std::as_bytes(words)); }

}  // namespace

// The words that were picked stay in `picked` for AddTo.
const Hash128* VariantCache::FindIn(Entry& entry, const Group& group,
                                    std::span<const uint32_t> values) {
  std::vector<uint32_t>& picked = entry.picked;
  picked.clear();
  for (const uint32_t option : group.options) {
    picked.push_back(values[option]);
  }
  const size_t size = picked.size();
  const uint32_t row = group.index.Find(HashOf(picked), [&](uint32_t number) {
    return std::equal(picked.begin(), picked.end(), group.words.begin() + number * size);
  });
  return row == InternIndex::kFree ? nullptr : &group.signatures[row];
}

std::optional<VariantCache::Found> VariantCache::Find(const Hash128& entry,
                                                      const resolve::OptionValues& values,
                                                      Use use) {
  std::shared_ptr<Entry> of;
  {
    const MutexLock lock(mutex_);
    if (const auto place = by_id_.find(entry); place != by_id_.end()) {
      of = *place->second;
      if (use == Use::kNoted) {
        entries_.splice(entries_.begin(), entries_, place->second);
      }
    }
  }
  if (of != nullptr) {
    const MutexLock lock(of->mutex);
    for (const Group& group : of->groups) {
      if (const Hash128* const found = FindIn(*of, group, values.bits)) {
        ++hits_;
        return Found{.signature = *found, .is_same = &group == &of->groups.front()};
      }
    }
  }
  ++misses_;
  return std::nullopt;
}

// The first value of a key stays, as in the store. An entry that is as large as all may be takes no
// more, so that one of them cannot push out what it holds itself, over and over.
VariantCache::Added VariantCache::AddTo(Entry& entry, size_t number,
                                        std::span<const uint32_t> values,
                                        const Hash128& signature) {
  Group& group = entry.groups[number];
  if (FindIn(entry, group, values) != nullptr) {
    return Added::kYes;
  }
  const uint64_t more = BytesOfRow(group.options.size());
  if (entry.bytes + more > max_bytes_) {
    return Added::kEntryIsFull;
  }
  const auto row = static_cast<uint32_t>(group.signatures.size());
  group.index.FindOrAdd(
      HashOf(entry.picked), [](uint32_t) { return false; }, [&] { return row; });
  group.words.insert(group.words.end(), entry.picked.begin(), entry.picked.end());
  group.signatures.push_back(signature);
  entry.bytes += more;
  bytes_ += more;
  ++entry.rows;
  ++rows_;
  return Added::kYes;
}

// Between the two mutexes another thread may drop the entry, and what is added to it then would be
// lost unseen. It begins anew with another one; if that is dropped, too, what was not added counts
// as lost like what was added just before.
void VariantCache::Add(const Hash128& entry, const resolve::Program& program,
                       const resolve::OptionValues& values, const cache::NameList& live,
                       const Hash128& signature) {
  Added added = AddBoth(*EntryOf(entry), program, values, live, signature);
  if (added == Added::kEntryIsGone) {
    added = AddBoth(*EntryOf(entry), program, values, live, signature);
  }
  if (added != Added::kYes) {
    const MutexLock lock(mutex_);
    NoteLost(entry);
  }
  MakeRoom();
}

// By all values, and by those of the options that the result read.
VariantCache::Added VariantCache::AddBoth(Entry& entry, const resolve::Program& program,
                                          const resolve::OptionValues& values,
                                          const cache::NameList& live, const Hash128& signature) {
  const MutexLock lock(entry.mutex);
  if (entry.gone) {
    return Added::kEntryIsGone;
  }
  if (entry.groups.empty()) {
    std::vector<uint32_t> all(program.option_count());
    std::iota(all.begin(), all.end(), 0u);
    AddGroup(entry, {.names = {}, .options = std::move(all)});
  }
  const Added by_all = AddTo(entry, 0, values.bits, signature);
  auto group = std::find_if(entry.groups.begin() + 1, entry.groups.end(),
                            [&](const Group& known) { return known.names == live; });
  if (group == entry.groups.end()) {
    // As many as an entry has masks (spec/cache 3.4): a look-up tries each of them.
    if (entry.groups.size() > cache::kMaxMasks) {
      return Added::kEntryIsFull;
    }
    Group made{.names = live};
    for (const std::string& name : live) {
      const ir::OptionId option = program.FindOption(name);
      if (!option.valid()) {  // a row from elsewhere is no reason to end the daemon
        return by_all;
      }
      made.options.push_back(option.value);
    }
    AddGroup(entry, std::move(made));
    group = entry.groups.end() - 1;
  }
  // With all options it would be a second table of the same rows.
  if (group->options.size() == entry.groups.front().options.size()) {
    return by_all;
  }
  const auto number = static_cast<size_t>(group - entry.groups.begin());
  const Added by_read = AddTo(entry, number, values.bits, signature);
  return by_all == Added::kYes ? by_read : by_all;
}

void VariantCache::AddGroup(Entry& entry, Group group) {
  const uint64_t more = sizeof(Group) + group.options.size() * sizeof(uint32_t);
  entry.groups.push_back(std::move(group));
  entry.bytes += more;
  bytes_ += more;
}

std::shared_ptr<VariantCache::Entry> VariantCache::EntryOf(const Hash128& id) {
  const MutexLock lock(mutex_);
  const auto [place, is_new] = by_id_.try_emplace(id);
  if (!is_new) {
    entries_.splice(entries_.begin(), entries_, place->second);
    return *place->second;
  }
  auto made = std::make_shared<Entry>(id);
  {
    const MutexLock own(made->mutex);
    made->bytes = kEntryBytes;
  }
  bytes_ += kEntryBytes;
  entries_.push_front(made);
  place->second = entries_.begin();
  return made;
}

// Whoever has found it already may look at it still.
void VariantCache::Drop(Entry& entry) {
  const MutexLock lock(entry.mutex);
  entry.gone = true;
  bytes_ -= entry.bytes;
  rows_ -= entry.rows;
}

// The latest entry stays.
void VariantCache::MakeRoom() {
  if (bytes_ <= max_bytes_) {
    return;
  }
  const MutexLock lock(mutex_);
  while (bytes_ > max_bytes_ && entries_.size() > 1) {
    Entry& oldest = *entries_.back();
    NoteLost(oldest.id);
    Drop(oldest);
    by_id_.erase(oldest.id);
    entries_.pop_back();
  }
}

void VariantCache::NoteLost(const Hash128& id) {
  if (lost_.size() < kMostLost) {
    lost_.insert(id);
  } else {
    lost_more_ = true;
  }
  has_lost_ = true;
}

bool VariantCache::HasLost(const Hash128& entry) {
  if (!has_lost_) {
    return false;
  }
  const MutexLock lock(mutex_);
  return lost_more_ || lost_.contains(entry);
}

void VariantCache::Clear() {
  const MutexLock lock(mutex_);
  for (const std::shared_ptr<Entry>& entry : entries_) {
    Drop(*entry);
  }
  entries_.clear();
  by_id_.clear();
  lost_.clear();
  lost_more_ = false;
  has_lost_ = false;
}

CacheUsage VariantCache::Usage() {
  return {.name = "variants",
          .bytes = bytes_,
          .max_bytes = max_bytes_,
          .entries = rows_,
          .hits = hits_,
          .misses = misses_};
}

}  // namespace kiln::compile
