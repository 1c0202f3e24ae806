// SPDX-License-Identifier: MIT
// Masks of entries (spec/cache 3.4): which options the results of an entry were found to read. They
// are read from the store once for each entry and then kept in memory, where this process adds its
// own. A list is small, at most 64 masks of some names, and is searched from its beginning.
#include "server/compile/batch/masks.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cache/key.h"
#include "cache/record.h"

namespace kiln::compile {
namespace {

// Names are sorted, so both are linear.
constexpr uint32_t kSpace = 0;

size_t SymmetricDifference(const MaskList::Names& a, const MaskList::Names& b) {
  std::vector<std::string> different;
  std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(),
                                std::back_inserter(different));
  return different.size();
}

bool Includes(const MaskList::Names& mask, const MaskList::Names& live) {
  return std::includes(mask.begin(), mask.end(), live.begin(), live.end());
}

}  // namespace

// Returns the ordinal to be written, or nothing if the list says the same without it. Up to 64
// masks each has its place; then a mask that is included in another one needs none, and else the
// closest one is widened (spec/cache 3.4). A widened mask finds fewer variants by signature, never
// a wrong one.
std::optional<uint32_t> MaskList::Add(const Names& live) {
  if (std::find(masks_.begin(), masks_.end(), live) != masks_.end()) {
    return std::nullopt;
  }
  if (masks_.size() < cache::kMaxMasks) {
    masks_.push_back(live);
    return static_cast<uint32_t>(masks_.size() - 1);
  }
  if (std::any_of(masks_.begin(), masks_.end(),
                  [&](const Names& mask) { return Includes(mask, live); })) {
    return std::nullopt;
  }
  Names& closest =
      *std::min_element(masks_.begin(), masks_.end(), [&](const Names& a, const Names& b) {
        return SymmetricDifference(a, live) < SymmetricDifference(b, live);
      });
  std::vector<std::string> wide;
  std::set_union(closest.begin(), closest.end(), live.begin(), live.end(),
                 std::back_inserter(wide));
  closest = Names(std::move(wide));
  return static_cast<uint32_t>(&closest - masks_.data());
}

// Requires: Add was called with these names. Then the mask itself is there, or one that includes
// it, since lists only grow and masks only widen.
const MaskList::Names& MaskList::Of(const Names& live) const {
  const auto found = std::find(masks_.begin(), masks_.end(), live);
  return found != masks_.end()
             ? *found
             : *std::find_if(masks_.begin(), masks_.end(),
                             [&](const Names& mask) { return Includes(mask, live); });
}

bool MaskList::is_full() const { return masks_.size() >= cache::kMaxMasks; }

// Masks are stored with the results that have them. If there were none when the entry was first
// asked for, all live keys of it come from this process, and their masks are in memory.
StoredMasks::MasksPtr StoredMasks::Of(const Hash128& entry, const cache::Call& call) {
  {
    const MutexLock lock(mutex_);
    // Whoever may only read leaves no trace, not even in the order of what is dropped
    // (spec/daemon 11.4).
    const Row* const row = call.may_write ? rows_.Find(entry) : rows_.Peek(entry);
    const bool is_known = row != nullptr && row->loaded;
    ++(is_known ? hits_ : misses_);
    if (is_known) {
      return row->read;
    }
  }
  std::vector<MaskList::Names> masks;
  for (uint32_t ordinal = 0; ordinal < cache::kMaxMasks; ++ordinal) {
    const Result<cache::Blob> row = store_.Get(
        {.level = cache::Level::kMask, .space = kSpace, .id = cache::MaskKey(entry, ordinal)},
        call);
    if (!row.ok()) {
      break;  // a gap ends the list
    }
    Result<std::vector<std::string>> mask = cache::DecodeMask(row->bytes);
    if (!mask.ok()) {
      break;
    }
    masks.emplace_back(std::move(mask).value());
  }
  const bool stored = !masks.empty();
  auto read =
      std::make_shared<const Masks>(Masks{.stored = stored, .list = MaskList(std::move(masks))});
  if (!call.may_write) {
    return read;
  }
  const MutexLock lock(mutex_);
  Row& row = RowOf(entry);
  // Another thread may have loaded or added meanwhile: the first stays, since its ordinals were
  // given out.
  if (!row.loaded) {
    row = {.loaded = true, .read = std::move(read)};
  }
  return row.read;
}

MaskList::Names StoredMasks::Add(const Hash128& entry, const MaskList::Names& live,
                                 std::vector<cache::Item>& items, const cache::Call& call) {
  (void)Of(entry, call);  // ordinals that the store has are taken
  const MutexLock lock(mutex_);
  MasksPtr& known = RowOf(entry).read;
  // Nearly every result has the options of an earlier one.
  const std::vector<MaskList::Names>& all = known->list.all();
  if (const auto same = std::find(all.begin(), all.end(), live); same != all.end()) {
    return *same;
  }
  Masks changed = *known;
  if (const std::optional<uint32_t> ordinal = changed.list.Add(live); ordinal.has_value()) {
    items.push_back(
        cache::MaskItem(kSpace, cache::MaskKey(entry, *ordinal), changed.list.all()[*ordinal]));
  }
  known = std::make_shared<const Masks>(std::move(changed));
  return known->list.Of(live);
}

// For tests and after a store was emptied: masks of it name nothing any more.
void StoredMasks::Clear() {
  const MutexLock lock(mutex_);
  rows_.Clear();
}

CacheUsage StoredMasks::Usage() {
  const MutexLock lock(mutex_);
  return {.name = "masks",
          .bytes = rows_.cost(),
          .entries = rows_.size(),
          .max_entries = kMaxEntries,
          .hits = hits_,
          .misses = misses_};
}

// The oldest entry is dropped before one is added, so what the store has of it is read again, and
// nothing is lost.
StoredMasks::Row& StoredMasks::RowOf(const Hash128& entry) {
  if (Row* const row = rows_.Find(entry)) {
    return *row;
  }
  if (rows_.size() >= kMaxEntries) {
    rows_.DropOldest();
  }
  return rows_.Add(entry, {}, sizeof(Row));
}

}  // namespace kiln::compile
