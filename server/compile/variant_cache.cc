// SPDX-License-Identifier: MIT
// Tables of words. The first group of an entry has the values of all options, and each other one
// those of a list of options that some result read. A look-up picks the words of each group and
// finds them by their process hash: about 20 ns for each group of 20 options, of which programs
// have a handful; by digests it would be two microseconds for each.
#include "server/compile/variant_cache.h"

#include <algorithm>
#include <numeric>

#include "cache/key.h"

namespace kiln::compile {
namespace {

constexpr uint64_t kEntryBytes = 512;  // lists, slots, room to grow; about
constexpr uint64_t kRowBytes = 48;     // signature, slot, room to grow; about
constexpr size_t kMostLost = 65'536;

uint64_t BytesOfRow(size_t options) { return kRowBytes + options * sizeof(uint32_t) * 3 / 2; }

uint64_t HashOf(std::span<const uint32_t> words) { return Hash64(std::as_bytes(words)); }

}  // namespace

// The words that were picked stay in picked_ for AddTo.
const Hash128* VariantCache::FindIn(const Group& group, std::span<const uint32_t> values) {
  picked_.clear();
  for (const uint32_t option : group.options) {
    picked_.push_back(values[option]);
  }
  const size_t size = picked_.size();
  const uint32_t row = group.index.Find(HashOf(picked_), [&](uint32_t number) {
    return std::equal(picked_.begin(), picked_.end(), group.words.begin() + number * size);
  });
  return row == InternIndex::kFree ? nullptr : &group.signatures[row];
}

std::optional<VariantCache::Found> VariantCache::Find(const Hash128& entry,
                                                      const resolve::OptionValues& values,
                                                      Use use) {
  const MutexLock lock(mutex_);
  const auto place = by_id_.find(entry);
  if (place != by_id_.end()) {
    if (use == Use::kNoted) {
      entries_.splice(entries_.begin(), entries_, place->second);
    }
    for (const Group& group : place->second->groups) {
      if (const Hash128* const found = FindIn(group, values.bits)) {
        ++hits_;
        return Found{.signature = *found, .is_same = &group == &place->second->groups.front()};
      }
    }
  }
  ++misses_;
  return std::nullopt;
}

// The first value of a key stays, as in the store. An entry that is as large as all may be takes no
// more, so that one of them cannot push out what it holds itself, over and over.
void VariantCache::AddTo(Entry& entry, Group& group, std::span<const uint32_t> values,
                         const Hash128& signature) {
  if (FindIn(group, values) != nullptr) {
    return;
  }
  const uint64_t more = BytesOfRow(group.options.size());
  if (entry.bytes + more > max_bytes_) {
    NoteLost(entry.id);
    return;
  }
  const auto row = static_cast<uint32_t>(group.signatures.size());
  group.index.FindOrAdd(
      HashOf(picked_), [](uint32_t) { return false; }, [&] { return row; });
  group.words.insert(group.words.end(), picked_.begin(), picked_.end());
  group.signatures.push_back(signature);
  entry.bytes += more;
  bytes_ += more;
  ++entry.rows;
  ++rows_;
}

void VariantCache::Add(const Hash128& entry, const resolve::Program& program,
                       const resolve::OptionValues& values, const cache::NameList& live,
                       const Hash128& signature) {
  const MutexLock lock(mutex_);
  Entry& of = EntryOf(entry);
  if (of.groups.empty()) {
    std::vector<uint32_t> all(program.option_count());
    std::iota(all.begin(), all.end(), 0u);
    AddGroup(of, {.names = {}, .options = std::move(all)});
  }
  AddTo(of, of.groups.front(), values.bits, signature);
  auto group = std::find_if(of.groups.begin() + 1, of.groups.end(),
                            [&](const Group& known) { return known.names == live; });
  if (group == of.groups.end()) {
    // As many as an entry has masks (spec/cache 3.4): a look-up tries each of them.
    if (of.groups.size() > cache::kMaxMasks) {
      NoteLost(entry);
      return MakeRoom();
    }
    Group made{.names = live};
    for (const std::string& name : live) {
      const ir::OptionId option = program.FindOption(name);
      if (!option.valid()) {  // a row from elsewhere is no reason to end the daemon
        return MakeRoom();
      }
      made.options.push_back(option.value);
    }
    AddGroup(of, std::move(made));
    group = of.groups.end() - 1;
  }
  // With all options it would be a second table of the same rows.
  if (group->options.size() < of.groups.front().options.size()) {
    AddTo(of, *group, values.bits, signature);
  }
  MakeRoom();
}

void VariantCache::AddGroup(Entry& entry, Group group) {
  const uint64_t more = sizeof(Group) + group.options.size() * sizeof(uint32_t);
  entry.groups.push_back(std::move(group));
  entry.bytes += more;
  bytes_ += more;
}

VariantCache::Entry& VariantCache::EntryOf(const Hash128& id) {
  const auto [place, is_new] = by_id_.try_emplace(id);
  if (is_new) {
    entries_.push_front({.id = id, .groups = {}, .bytes = kEntryBytes});
    place->second = entries_.begin();
    bytes_ += kEntryBytes;
  } else {
    entries_.splice(entries_.begin(), entries_, place->second);
  }
  return *place->second;
}

// The entry that was just added to is the first one, and stays.
void VariantCache::MakeRoom() {
  while (bytes_ > max_bytes_ && entries_.size() > 1) {
    const Entry& oldest = entries_.back();
    NoteLost(oldest.id);
    bytes_ -= oldest.bytes;
    rows_ -= oldest.rows;
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
}

bool VariantCache::HasLost(const Hash128& entry) {
  const MutexLock lock(mutex_);
  return lost_more_ || lost_.contains(entry);
}

void VariantCache::Clear() {
  const MutexLock lock(mutex_);
  entries_.clear();
  by_id_.clear();
  lost_.clear();
  lost_more_ = false;
  bytes_ = 0;
  rows_ = 0;
}

CacheUsage VariantCache::Usage() {
  const MutexLock lock(mutex_);
  return {.name = "variants",
          .bytes = bytes_,
          .max_bytes = max_bytes_,
          .entries = rows_,
          .hits = hits_,
          .misses = misses_};
}

}  // namespace kiln::compile
