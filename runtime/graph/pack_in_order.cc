// SPDX-License-Identifier: MIT
// Packing in any order: an item meets the placed ones with a common epoch, which are looked through
// from low to high addresses. Overlapping windows of epochs each keep their own list of placed
// items; one that lies within a window looks at that list only.
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

// Which of eight placed items share an epoch with [first, last]: bit 16 × lane of two halves.
std::array<uint64_t, 2> Meeting(const PackScratch& s, size_t at, uint16_t first, uint16_t last) {
  Lanes firsts;
  Lanes lasts;
  std::memcpy(&firsts, s.placed_first.data() + at, sizeof(firsts));
  std::memcpy(&lasts, s.placed_last.data() + at, sizeof(lasts));
  const Lanes meet = (firsts <= last) & (lasts >= first);
  std::array<uint64_t, 2> halves;
  std::memcpy(halves.data(), &meet, sizeof(halves));
  return halves;
}

// Offers the gaps between the placed items of a window, which are sorted by offset.
void ScanPlaced(const PackScratch& s, const PlacedWindow& window, Search& search) {
  const auto first = static_cast<uint16_t>(search.item.first);
  const auto last = static_cast<uint16_t>(search.item.last);
  for (size_t i = window.begin; i < window.begin + window.count; i += kLanes) {
    const std::array<uint64_t, 2> halves = Meeting(s, i, first, last);
    for (size_t half = 0; half < 2; ++half) {
      for (uint64_t bits = halves[half] & 0x0001000100010001ULL; bits != 0; bits &= bits - 1) {
        const size_t lane = half * 4 + static_cast<size_t>(std::countr_zero(bits)) / 16;
        const uint32_t other = s.placed[i + lane];
        if (search.Meet(s.begins[other], s.ends[other])) {
          return;
        }
      }
    }
  }
}

template <class T>
void InsertAt(std::vector<T>& values, const PlacedWindow& window, size_t slot, T value) {
  T* at = values.data() + slot;
  std::memmove(at + 1, at, (window.begin + window.count - slot) * sizeof(T));
  *at = value;
}

void InsertPlaced(PackScratch& s, PlacedWindow& window, uint32_t index, const PackItem& item) {
  const uint32_t* begin = s.placed.data() + window.begin;
  const uint32_t* at =
      std::upper_bound(begin, begin + window.count, s.begins[index],
                       [&](uint64_t value, uint32_t other) { return value < s.begins[other]; });
  const auto slot = static_cast<size_t>(at - s.placed.data());
  InsertAt(s.placed, window, slot, index);
  InsertAt(s.placed_first, window, slot, static_cast<uint16_t>(item.first));
  InsertAt(s.placed_last, window, slot, static_cast<uint16_t>(item.last));
  ++window.count;
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
  s.placed_first.assign(next, 0xFFFF);  // lanes beyond the count meet nothing
  s.placed_last.assign(next, 0);
  s.placed.resize(next);
}

}  // namespace

uint64_t PlaceInOrder(PackAttempt& attempt, bool best_fit) {
  PackScratch& s = attempt.scratch;
  MakeWindows(attempt.items, s);
  s.begins.resize(attempt.items.size());
  s.ends.resize(attempt.items.size());
  const size_t windows = s.windows.size() - 1;
  uint64_t top = 0;
  for (const uint32_t index : s.order) {
    const PackItem& item = attempt.items[index];
    const WindowRange range = WindowsOf(item);
    const uint32_t home = item.first / kStride;
    const bool inside = windows != 0 && item.last < home * kStride + kWidth;
    Search search{.item = item, .blocks = attempt.blocks, .best_fit = best_fit};
    ScanPlaced(s, inside ? s.windows[home] : s.windows.back(), search);
    search.Finish();
    s.begins[index] = search.begin;
    s.ends[index] = search.begin + item.size;
    top = std::max(top, s.ends[index]);
    if (top >= attempt.limit) {
      return attempt.limit;
    }
    for (uint32_t window = range.first; windows != 0 && window <= range.last; ++window) {
      InsertPlaced(s, s.windows[window], index, item);
    }
    InsertPlaced(s, s.windows.back(), index, item);
  }
  return top;
}

}  // namespace kiln::graph
