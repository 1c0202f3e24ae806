// SPDX-License-Identifier: MIT
// Packing in any order: an item meets the placed ones with a common epoch, which are looked through
// from low to high addresses. Overlapping windows of epochs each keep their own pages of what is
// taken; an item that lies within a window looks at those only. Items that fill a window from end
// to end meet everything in it, so neighbours of this kind are one row: the few chains that live
// long cost the many that do not next to nothing.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "runtime/graph/pack.h"

namespace kiln::graph {
namespace {

constexpr uint32_t kStride = 8;           // epochs from window to window
constexpr uint32_t kWidth = 2 * kStride;  // of a window
constexpr size_t kWorthWindows = 128;     // items
constexpr uint32_t kNoPage = ~0U;
constexpr uint64_t kNoRest = uint64_t{1} << 63;  // more than any gap, less than a negative rest

// Looks for the best place among gaps that are offered from low to high addresses.
class Search {
 public:
  Search(const PackItem& item, std::span<const uint64_t> blocks, bool best_fit)
      : size_(item.size),
        alignment_(item.alignment),
        good_(best_fit ? 0 : kNoRest - 1),
        blocks_(blocks),
        border_(BlockEnd(blocks, 0)) {}

  // Bytes that the item cannot have; none that were met before begin above them.
  void Meet(uint64_t begin, uint64_t end) {
    while (begin >= border_) {
      Offer(border_);
      cursor_ = std::max(cursor_, border_);
      border_ = BlockEnd(blocks_, border_);
    }
    Offer(begin);
    cursor_ = std::max(cursor_, end);
  }
  // Nothing better can follow.
  bool done() const { return rest_ <= good_; }
  // The best gap, else the lowest place on top.
  uint64_t Begin() {
    while (rest_ == kNoRest) {
      if (border_ == kNoAddress) {
        return AlignAddress(cursor_, alignment_);
      }
      Offer(border_);
      cursor_ = std::max(cursor_, border_);
      border_ = BlockEnd(blocks_, border_);
    }
    return begin_;
  }

 private:
  // A gap from the cursor to `end`, which may lie below it.
  void Offer(uint64_t end) {
    const uint64_t at = AlignAddress(cursor_, alignment_);
    const uint64_t rest = end - at - size_;  // huge if it does not fit
    const bool better = rest < rest_ && !done();
    begin_ = better ? at : begin_;
    rest_ = better ? rest : rest_;
  }

  uint64_t size_;
  uint64_t alignment_;
  uint64_t good_;  // a rest that ends the search
  std::span<const uint64_t> blocks_;
  uint64_t border_;      // end of the block that the cursor is in
  uint64_t cursor_ = 0;  // end of what was seen so far
  uint64_t begin_ = kNoAddress;
  uint64_t rest_ = kNoRest;
};

// Sixteen-bit lanes that GCC and clang compare at once.
using Lanes = uint16_t __attribute__((vector_size(16)));
constexpr uint32_t kLanes = 8;

// Which of eight rows share an epoch with [first, last]: bit 16 × lane of two halves.
std::array<uint64_t, 2> Meeting(const PlacedPage& page, uint32_t at, uint16_t first,
                                uint16_t last) {
  Lanes firsts;
  Lanes lasts;
  std::memcpy(&firsts, page.firsts.data() + at, sizeof(firsts));
  std::memcpy(&lasts, page.lasts.data() + at, sizeof(lasts));
  const Lanes meet = (firsts <= last) & (lasts >= first);
  std::array<uint64_t, 2> halves;
  std::memcpy(halves.data(), &meet, sizeof(halves));
  return halves;
}

// Offers the gaps between what is taken on a page.
void ScanPage(const PlacedPage& page, const PackItem& item, Search& search) {
  const auto first = static_cast<uint16_t>(item.first);
  const auto last = static_cast<uint16_t>(item.last);
  for (uint32_t i = 0; i < page.count && !search.done(); i += kLanes) {
    const std::array<uint64_t, 2> halves = Meeting(page, i, first, last);
    for (uint32_t half = 0; half < 2; ++half) {
      for (uint64_t bits = halves[half] & 0x0001000100010001ULL; bits != 0; bits &= bits - 1) {
        const uint32_t row = i + half * 4 + static_cast<uint32_t>(std::countr_zero(bits)) / 16;
        search.Meet(page.begins[row], page.ends[row]);
      }
    }
  }
}

// A row to be.
struct Taken {
  uint64_t begin;
  uint64_t end;
  uint16_t first;
  uint16_t last;
};

constexpr uint16_t kEver = 0xFFFF;  // last epoch of rows that fill their window; the first is 0

// The first row above the address.
uint32_t RowAbove(const PlacedPage& page, uint64_t address) {
  const uint64_t* row = page.begins.data();
  for (uint32_t rest = page.count; rest > 0;) {
    const uint32_t half = (rest + 1) / 2;
    row += row[half - 1] <= address ? half : 0;
    rest -= half;
  }
  return static_cast<uint32_t>(row - page.begins.data());
}

template <class T>
void Shift(std::array<T, PlacedPage::kRows>& values, uint32_t from, uint32_t to, uint32_t end) {
  std::memmove(values.data() + to, values.data() + from, (end - from) * sizeof(T));
}

// Rows [from, count) move to `to`.
void ShiftRows(PlacedPage& page, uint32_t from, uint32_t to) {
  Shift(page.begins, from, to, page.count);
  Shift(page.ends, from, to, page.count);
  Shift(page.firsts, from, to, page.count);
  Shift(page.lasts, from, to, page.count);
}

void InsertRow(PlacedPage& page, uint32_t at, const Taken& row) {
  ShiftRows(page, at, at + 1);
  page.begins[at] = row.begin;
  page.ends[at] = row.end;
  page.firsts[at] = row.first;
  page.lasts[at] = row.last;
  ++page.count;
}

void RemoveRow(PlacedPage& page, uint32_t at) {
  ShiftRows(page, at + 1, at);
  --page.count;
  page.firsts[page.count] = kEver;
  page.lasts[page.count] = 0;
}

// A row that fills the window, like the one that ends where it begins or begins where it ends.
bool Merge(PlacedPage& page, uint32_t at, const Taken& row) {
  const auto fills = [&](uint32_t other) {
    return page.firsts[other] == 0 && page.lasts[other] == kEver;
  };
  const bool after = at < page.count && fills(at) && page.begins[at] == row.end;
  const bool before = at > 0 && fills(at - 1) && page.ends[at - 1] == row.begin;
  if (before) {
    page.ends[at - 1] = after ? page.ends[at] : row.end;
    if (after) {
      RemoveRow(page, at);
    }
  } else if (after) {
    page.begins[at] = row.begin;
  }
  return before || after;
}

uint32_t NewPage(std::vector<PlacedPage>& pages, uint32_t after) {
  PlacedPage& page = pages.emplace_back();
  page.firsts.fill(kEver);
  page.lasts.fill(0);
  page.count = 0;
  page.after = after;
  return static_cast<uint32_t>(pages.size()) - 1;
}

// The upper half of a full page moves to a page of its own.
void SplitPage(std::vector<PlacedPage>& pages, uint32_t index) {
  const uint32_t upper = NewPage(pages, pages[index].after);
  PlacedPage& from = pages[index];
  PlacedPage& to = pages[upper];
  from.after = upper;
  for (uint32_t row = PlacedPage::kRows / 2; row < PlacedPage::kRows; ++row, ++to.count) {
    to.begins[to.count] = from.begins[row];
    to.ends[to.count] = from.ends[row];
    to.firsts[to.count] = std::exchange(from.firsts[row], kEver);
    to.lasts[to.count] = std::exchange(from.lasts[row], uint16_t{0});
  }
  from.count = PlacedPage::kRows / 2;
}

void InsertPlaced(std::vector<PlacedPage>& pages, uint32_t index, const Taken& row) {
  for (uint32_t next = pages[index].after; next != kNoPage && pages[next].begins[0] <= row.begin;
       next = pages[index].after) {
    index = next;
  }
  const uint32_t at = RowAbove(pages[index], row.begin);
  if (row.last == kEver && row.first == 0 && Merge(pages[index], at, row)) {
    return;
  }
  InsertRow(pages[index], at, row);
  if (pages[index].count == PlacedPage::kRows) {
    SplitPage(pages, index);
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
  s.pages.clear();
  s.windows.resize(count + 1);
  for (uint32_t& window : s.windows) {
    window = NewPage(s.pages, kNoPage);
  }
}

uint64_t FindPlace(PackAttempt& attempt, const PackItem& item, uint32_t window, bool best_fit) {
  const std::vector<PlacedPage>& pages = attempt.scratch.pages;
  Search search(item, attempt.blocks, best_fit);
  for (uint32_t page = window; page != kNoPage && !search.done(); page = pages[page].after) {
    ScanPage(pages[page], item, search);
  }
  return search.Begin();
}

// In all windows that it touches.
void TakePlace(PackScratch& s, const PackItem& item, uint64_t begin) {
  const auto first = static_cast<uint16_t>(item.first);
  const auto last = static_cast<uint16_t>(item.last);
  const Taken row{.begin = begin, .end = begin + item.size, .first = first, .last = last};
  const Taken filling{.begin = row.begin, .end = row.end, .first = 0, .last = kEver};
  InsertPlaced(s.pages, s.windows.back(), row);
  const WindowRange range = WindowsOf(item);
  for (uint32_t w = range.first; s.windows.size() > 1 && w <= range.last; ++w) {
    const bool fills = item.first <= w * kStride && item.last + 1 >= w * kStride + kWidth;
    InsertPlaced(s.pages, s.windows[w], fills ? filling : row);
  }
}

}  // namespace

uint64_t PlaceInOrder(PackAttempt& attempt, bool best_fit) {
  PackScratch& s = attempt.scratch;
  MakeWindows(attempt.items, s);
  s.begins.resize(attempt.items.size());
  uint64_t top = 0;
  for (const uint32_t index : s.order) {
    const PackItem& item = attempt.items[index];
    const uint32_t home = item.first / kStride;
    const bool inside = s.windows.size() > 1 && item.last < home * kStride + kWidth;
    const uint64_t begin =
        FindPlace(attempt, item, inside ? s.windows[home] : s.windows.back(), best_fit);
    s.begins[index] = begin;
    top = std::max(top, begin + item.size);
    if (top >= attempt.limit) {
      return attempt.limit;
    }
    TakePlace(s, item, begin);
  }
  return top;
}

}  // namespace kiln::graph
