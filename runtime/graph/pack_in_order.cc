// SPDX-License-Identifier: MIT
// Packing in any order: an item meets the placed ones with a common epoch, which are looked through
// from low to high addresses. Overlapping windows of epochs each keep their own list of what is
// taken; an item that lies within a window looks at that list only. Items that fill a window from
// end to end meet everything in it, so neighbours of this kind are one row of its list: the few
// chains that live long cost the many that do not next to nothing.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "runtime/graph/pack.h"

namespace kiln::graph {
namespace {

constexpr uint32_t kStride = 8;           // epochs from window to window
constexpr uint32_t kWidth = 2 * kStride;  // of a window
constexpr size_t kWorthWindows = 128;     // items

// Looks for the best place among gaps that are offered from low to high addresses.
struct Search {
  const PackItem& item;
  std::span<const uint64_t> blocks;
  bool best_fit;
  uint64_t cursor = 0;  // end of what was seen so far
  uint64_t begin = kNoAddress;
  uint64_t rest = kNoAddress;

  // A gap from the cursor to `end`. True: nothing better can follow.
  bool Offer(uint64_t end) {
    uint64_t at = AlignAddress(cursor, item.alignment);
    while (at + item.size <= end) {
      const uint64_t limit = std::min(end, BlockEnd(blocks, at));
      if (at + item.size <= limit) {
        const uint64_t left = end == kNoAddress ? kNoAddress - 1 : limit - at - item.size;
        if (left < rest) {
          rest = left;
          begin = at;
        }
        if (!best_fit || left == 0) {
          return true;
        }
      }
      if (limit == end) {
        break;
      }
      at = AlignAddress(limit, item.alignment);
    }
    return false;
  }
  // An item with a common epoch.
  bool Meet(uint64_t other_begin, uint64_t other_end) {
    if (other_begin >= cursor + item.size && Offer(other_begin)) {
      return true;
    }
    cursor = std::max(cursor, other_end);
    return false;
  }
  void Finish() {
    if (begin == kNoAddress) {
      Offer(kNoAddress);
    }
  }
};

// Sixteen-bit lanes that GCC and clang compare at once.
using Lanes = uint16_t __attribute__((vector_size(16)));

constexpr size_t kLanes = 8;

// Which of eight rows share an epoch with [first, last]: bit 16 × lane of two halves.
std::array<uint64_t, 2> Meeting(const PlacedBytes& placed, size_t at, uint16_t first,
                                uint16_t last) {
  Lanes firsts;
  Lanes lasts;
  std::memcpy(&firsts, placed.firsts.data() + at, sizeof(firsts));
  std::memcpy(&lasts, placed.lasts.data() + at, sizeof(lasts));
  const Lanes meet = (firsts <= last) & (lasts >= first);
  std::array<uint64_t, 2> halves;
  std::memcpy(halves.data(), &meet, sizeof(halves));
  return halves;
}

// Offers the gaps between what is taken in a window, which is sorted by offset.
void ScanPlaced(const PlacedBytes& placed, const PlacedWindow& window, Search& search) {
  const auto first = static_cast<uint16_t>(search.item.first);
  const auto last = static_cast<uint16_t>(search.item.last);
  for (size_t i = window.begin; i < window.begin + window.count; i += kLanes) {
    const std::array<uint64_t, 2> halves = Meeting(placed, i, first, last);
    for (size_t half = 0; half < 2; ++half) {
      for (uint64_t bits = halves[half] & 0x0001000100010001ULL; bits != 0; bits &= bits - 1) {
        const size_t lane = half * 4 + static_cast<size_t>(std::countr_zero(bits)) / 16;
        if (search.Meet(placed.begins[i + lane], placed.ends[i + lane])) {
          return;
        }
      }
    }
  }
}

// A row of a window's list.
struct Taken {
  uint64_t begin;
  uint64_t end;
  uint16_t first;
  uint16_t last;
  bool fills;  // the window, from its first epoch to its last
};

constexpr uint16_t kEver = 0xFFFF;  // last epoch of rows that fill their window; the first is 0

template <class T>
void InsertAt(std::vector<T>& values, size_t slot, size_t end, T value) {
  T* at = values.data() + slot;
  std::memmove(at + 1, at, (end - slot) * sizeof(T));
  *at = value;
}

template <class T>
void RemoveAt(std::vector<T>& values, size_t slot, size_t end, T unused) {
  T* at = values.data() + slot;
  std::memmove(at, at + 1, (end - slot - 1) * sizeof(T));
  values[end - 1] = unused;
}

void InsertRow(PlacedBytes& placed, PlacedWindow& window, size_t slot, const Taken& row) {
  const size_t end = window.begin + window.count;
  InsertAt(placed.begins, slot, end, row.begin);
  InsertAt(placed.ends, slot, end, row.end);
  InsertAt(placed.firsts, slot, end, row.fills ? uint16_t{0} : row.first);
  InsertAt(placed.lasts, slot, end, row.fills ? kEver : row.last);
  ++window.count;
}

void RemoveRow(PlacedBytes& placed, PlacedWindow& window, size_t slot) {
  const size_t end = window.begin + window.count;
  RemoveAt(placed.begins, slot, end, uint64_t{0});
  RemoveAt(placed.ends, slot, end, uint64_t{0});
  RemoveAt(placed.firsts, slot, end, kEver);
  RemoveAt(placed.lasts, slot, end, uint16_t{0});
  --window.count;
}

void InsertPlaced(PlacedBytes& placed, PlacedWindow& window, const Taken& row) {
  const size_t begin = window.begin;
  const size_t end = begin + window.count;
  const uint64_t* begins = placed.begins.data();
  const auto slot =
      static_cast<size_t>(std::upper_bound(begins + begin, begins + end, row.begin) - begins);
  const bool after = row.fills && slot < end && placed.lasts[slot] == kEver &&
                     placed.firsts[slot] == 0 && placed.begins[slot] == row.end;
  const bool before = row.fills && slot > begin && placed.lasts[slot - 1] == kEver &&
                      placed.firsts[slot - 1] == 0 && placed.ends[slot - 1] == row.begin;
  if (before) {
    placed.ends[slot - 1] = after ? placed.ends[slot] : row.end;
    if (after) {
      RemoveRow(placed, window, slot);
    }
  } else if (after) {
    placed.begins[slot] = row.begin;
  } else {
    InsertRow(placed, window, slot, row);
  }
}

struct WindowRange {
  uint32_t first;
  uint32_t last;
};

// The windows that touch the item's epochs.
WindowRange WindowsOf(const PackItem& item) {
  const uint32_t first = item.first / kStride;
  return {.first = first == 0 ? 0 : first - 1, .last = item.last / kStride};
}

// The last window has every item.
void MakeWindows(std::span<const PackItem> items, PackScratch& s) {
  uint32_t count = 0;
  if (items.size() >= kWorthWindows) {
    for (const PackItem& item : items) {
      count = std::max(count, WindowsOf(item).last + 1);
    }
  }
  s.windows.assign(count + 1, {});
  for (size_t i = 0; i < items.size() && count != 0; ++i) {
    const WindowRange range = WindowsOf(items[i]);
    for (uint32_t window = range.first; window <= range.last; ++window) {
      ++s.windows[window].count;
    }
  }
  s.windows.back().count = static_cast<uint32_t>(items.size());
  uint32_t next = 0;
  for (PlacedWindow& window : s.windows) {
    window.begin = next;
    next += window.count + kLanes;
    window.count = 0;
  }
  s.placed.firsts.assign(next, kEver);  // lanes beyond the count meet nothing
  s.placed.lasts.assign(next, 0);
  s.placed.begins.resize(next);
  s.placed.ends.resize(next);
}

}  // namespace

uint64_t PlaceInOrder(PackAttempt& attempt, bool best_fit) {
  PackScratch& s = attempt.scratch;
  MakeWindows(attempt.items, s);
  s.begins.resize(attempt.items.size());
  const size_t windows = s.windows.size() - 1;
  uint64_t top = 0;
  for (const uint32_t index : s.order) {
    const PackItem& item = attempt.items[index];
    const WindowRange range = WindowsOf(item);
    const uint32_t home = item.first / kStride;
    const bool inside = windows != 0 && item.last < home * kStride + kWidth;
    Search search{.item = item, .blocks = attempt.blocks, .best_fit = best_fit};
    ScanPlaced(s.placed, inside ? s.windows[home] : s.windows.back(), search);
    search.Finish();
    s.begins[index] = search.begin;
    top = std::max(top, search.begin + item.size);
    if (top >= attempt.limit) {
      return attempt.limit;
    }
    Taken row{.begin = search.begin,
              .end = search.begin + item.size,
              .first = static_cast<uint16_t>(item.first),
              .last = static_cast<uint16_t>(item.last),
              .fills = false};
    InsertPlaced(s.placed, s.windows.back(), row);
    for (uint32_t window = range.first; windows != 0 && window <= range.last; ++window) {
      row.fills = item.first <= window * kStride && item.last + 1 >= window * kStride + kWidth;
      InsertPlaced(s.placed, s.windows[window], row);
    }
  }
  return top;
}

}  // namespace kiln::graph
