// SPDX-License-Identifier: MIT
// Packs items in the order in which they are given. Each goes through the placed items that share
// an epoch with it, from low to high addresses. Overlapping windows of epochs each keep their own
// pages of the bytes that are taken; an item that lies within a window looks at those only. Items
// that fill a window from end to end meet everything in it, so neighbours of this kind are one row:
// the few chains that live long cost the many short ones next to nothing.
#include "runtime/graph/memory/bin_packing_in_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace kiln::graph {
namespace {

constexpr uint32_t kStride = 24;          // epochs from window to window
constexpr uint32_t kWidth = kStride + 4;  // of a window: most items live no longer than it overlaps
constexpr size_t kWorthWindows = 128;     // items
constexpr uint32_t kNoPage = ~0U;
constexpr uint64_t kNoRest = uint64_t{1} << 63;  // more than any gap, less than a negative rest

// Looks for the best place among gaps that are offered from low to high addresses.
class Search {
 public:
  Search(const PackItem& item, std::span<const uint64_t> blocks, Fit fit)
      : size_(item.size),
        alignment_(item.alignment),
        good_(fit == Fit::kBest ? 0 : kNoRest - 1),
        blocks_(blocks),
        border_(BlockEnd(blocks, 0)) {}

  // Bytes [begin, end), which nobody has; they may lie in several blocks.
  void Meet(uint64_t begin, uint64_t end) {
    // A gap that reaches beyond a block is offered piece by piece.
    while (end >= border_) {
      begin = Leave(begin);
    }
    Offer(begin, end);
  }
  // Nothing better can follow.
  bool done() const { return rest_ <= good_; }
  // The best gap, else the lowest place from `top` on, where nobody has any bytes.
  uint64_t BeginBelow(uint64_t top) {
    while (rest_ == kNoRest && border_ != kNoAddress) {
      top = Leave(top);
    }
    return rest_ == kNoRest ? AlignAddress(top, alignment_) : begin_;
  }

 private:
  // The rest of a block, and on to the next.
  uint64_t Leave(uint64_t begin) {
    const uint64_t end = border_;
    Offer(begin, end);
    border_ = BlockEnd(blocks_, end);
    return std::max(begin, end);
  }
  // A gap whose end may lie below its begin.
  void Offer(uint64_t begin, uint64_t end) {
    const uint64_t at = AlignAddress(begin, alignment_);
    // The difference wraps around where the item does not fit, and is then larger than every real
    // rest.
    const uint64_t rest = end - at - size_;  // huge if it does not fit
    const bool better = rest < rest_ && !done();
    begin_ = better ? at : begin_;
    rest_ = better ? rest : rest_;
  }

  uint64_t size_;
  uint64_t alignment_;
  uint64_t good_;  // a rest that ends the search
  std::span<const uint64_t> blocks_;
  uint64_t border_;  // end of the block that the last gap was in
  uint64_t begin_ = kNoAddress;
  uint64_t rest_ = kNoRest;
};

// Sixteen-bit lanes that GCC and clang compare at once.
using Lanes = uint16_t __attribute__((vector_size(16)));
constexpr uint32_t kLanes = 8;

// Which of eight rows share an epoch with [first, last]: all bits of a lane, in two halves.
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

using RowNumber = uint8_t;
static_assert(PlacedPage::kRows - 1 <= 0xFF);

// Of each set of four, its members in ascending order, a byte each.
struct FourRows {
  std::array<RowNumber, 4> rows;
  uint32_t count;
};
constexpr std::array<FourRows, 16> kSets = [] {
  std::array<FourRows, 16> sets{};
  for (uint32_t set = 0; set < sets.size(); ++set) {
    for (RowNumber row = 0; row < 4; ++row) {
      if ((set >> row & 1) != 0) {
        sets[set].rows[sets[set].count++] = row;
      }
    }
  }
  return sets;
}();

// Rows of a page, in ascending order; what stands beyond their count is written over.
using MetRows = std::array<RowNumber, PlacedPage::kRows + 4>;

// Adds those of four rows from `first` on whose lanes are set, and returns the new count. Nothing
// branches on a row.
uint32_t AddRows(MetRows& rows, uint32_t count, uint32_t first, uint64_t lanes) {
  const uint64_t bits = lanes & 0x0008000400020001ULL;  // one of each lane
  const FourRows& set = kSets[bits * 0x0001000100010001ULL >> 48];
  const uint32_t four = std::bit_cast<uint32_t>(set.rows) + first * 0x01010101;
  std::memcpy(rows.data() + count, &four, sizeof(four));
  return count + set.count;
}

// The rows of a page that share an epoch with the item.
uint32_t FindMetRows(const PlacedPage& page, const PackItem& item, MetRows& rows) {
  const auto first = static_cast<uint16_t>(item.first);
  const auto last = static_cast<uint16_t>(item.last);
  uint32_t count = 0;
  for (uint32_t i = 0; i < page.count; i += kLanes) {
    const std::array<uint64_t, 2> halves = Meeting(page, i, first, last);
    count = AddRows(rows, count, i, halves[0]);
    count = AddRows(rows, count, i + 4, halves[1]);
  }
  return count;
}

// Offers the gaps between what is taken on a page, from `cursor` on, and returns their end.
uint64_t ScanPage(const PlacedPage& page, const PackItem& item, uint64_t cursor, Search& search) {
  MetRows met;
  const uint32_t count = FindMetRows(page, item, met);
  for (uint32_t i = 0; i < count; ++i) {
    const PlacedPage::Extent& taken = page.extents[met[i]];
    if (taken.begin > cursor) {
      search.Meet(cursor, taken.begin);
      if (search.done()) {
        break;
      }
    }
    cursor = std::max(cursor, taken.end);
  }
  return cursor;
}

// A row that is about to be inserted.
struct PlacedRow {
  PlacedPage::Extent extent;
  uint16_t first;
  uint16_t last;
};

constexpr uint16_t kEver = 0xFFFF;  // last epoch of rows that fill their window; the first is 0

// The first row above the address.
uint32_t RowAbove(const PlacedPage& page, uint64_t address) {
  const PlacedPage::Extent* row = page.extents.data();
  for (uint32_t rest = page.count; rest > 0;) {
    // A search without a branch that depends on the data.
    const uint32_t half = (rest + 1) / 2;
    row += row[half - 1].begin <= address ? half : 0;
    rest -= half;
  }
  return static_cast<uint32_t>(row - page.extents.data());
}

template <class T>
void Shift(std::array<T, PlacedPage::kRows>& values, uint32_t from, uint32_t to, uint32_t end) {
  std::memmove(values.data() + to, values.data() + from, (end - from) * sizeof(T));
}

// Rows [from, count) move to `to`.
void ShiftRows(PlacedPage& page, uint32_t from, uint32_t to) {
  Shift(page.extents, from, to, page.count);
  Shift(page.firsts, from, to, page.count);
  Shift(page.lasts, from, to, page.count);
}

void InsertRow(PlacedPage& page, uint32_t at, const PlacedRow& row) {
  ShiftRows(page, at, at + 1);
  page.extents[at] = row.extent;
  page.firsts[at] = row.first;
  page.lasts[at] = row.last;
  ++page.count;
}

void RemoveRow(PlacedPage& page, uint32_t at) {
  ShiftRows(page, at + 1, at);
  --page.count;
  // An empty row has a first epoch above every other, so it meets nobody.
  page.firsts[page.count] = kEver;
  page.lasts[page.count] = 0;
}

// A row that fills the window, like the one that ends where it begins or begins where it ends,
// becomes one row with it: for whoever is inside of the window there is no difference between them.
bool Merge(PlacedPage& page, uint32_t at, const PlacedPage::Extent& extent) {
  const auto fills = [&](uint32_t other) {
    return page.firsts[other] == 0 && page.lasts[other] == kEver;
  };
  const bool after = at < page.count && fills(at) && page.extents[at].begin == extent.end;
  const bool before = at > 0 && fills(at - 1) && page.extents[at - 1].end == extent.begin;
  if (before) {
    page.extents[at - 1].end = after ? page.extents[at].end : extent.end;
    if (after) {
      RemoveRow(page, at);
    }
  } else if (after) {
    page.extents[at].begin = extent.begin;
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
    to.extents[to.count] = from.extents[row];
    to.firsts[to.count] = std::exchange(from.firsts[row], kEver);
    to.lasts[to.count] = std::exchange(from.lasts[row], uint16_t{0});
  }
  from.count = PlacedPage::kRows / 2;
}

void InsertPlaced(std::vector<PlacedPage>& pages, uint32_t index, const PlacedRow& row) {
  const uint64_t begin = row.extent.begin;
  for (uint32_t next = pages[index].after;
       next != kNoPage && pages[next].extents.front().begin <= begin; next = pages[index].after) {
    index = next;
  }
  PlacedPage& page = pages[index];
  const uint32_t at = RowAbove(page, begin);
  if (row.first == 0 && row.last == kEver && Merge(page, at, row.extent)) {
    return;
  }
  InsertRow(page, at, row);
  if (page.count == PlacedPage::kRows) {
    SplitPage(pages, index);
  }
}

struct WindowRange {
  uint32_t first;
  uint32_t last;
};

// The windows that touch the item's epochs.
WindowRange WindowsOf(const PackItem& item) {
  const uint32_t first = item.first < kWidth ? 0 : (item.first - kWidth) / kStride + 1;
  return {.first = first, .last = item.last / kStride};
}

// The last window has every item.
void MakeWindows(std::span<const PackItem> items, InOrderScratch& s) {
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

// The place of an item that meets nothing but what is on the pages from `window` on.
uint64_t FindPlace(const std::vector<PlacedPage>& pages, const PackItem& item, uint32_t window,
                   Search search) {
  uint64_t cursor = 0;
  for (uint32_t page = window; page != kNoPage && !search.done(); page = pages[page].after) {
    cursor = ScanPage(pages[page], item, cursor, search);
  }
  return search.BeginBelow(cursor);
}

// In all windows that it touches.
void TakePlace(InOrderScratch& s, const PackItem& item, uint64_t begin) {
  const PlacedPage::Extent extent{.begin = begin, .end = begin + item.size};
  const PlacedRow row{.extent = extent,
                      .first = static_cast<uint16_t>(item.first),
                      .last = static_cast<uint16_t>(item.last)};
  const PlacedRow filling{.extent = extent, .first = 0, .last = kEver};
  InsertPlaced(s.pages, s.windows.back(), row);
  const WindowRange range = WindowsOf(item);
  for (uint32_t w = range.first; s.windows.size() > 1 && w <= range.last; ++w) {
    // The window's own epochs are all that items inside of it can have.
    const bool fills = item.first <= w * kStride && item.last + 1 >= w * kStride + kWidth;
    InsertPlaced(s.pages, s.windows[w], fills ? filling : row);
  }
}

}  // namespace

// Every item looks through what shares an epoch with it, from low to high addresses, and takes the
// first or the best gap. Done plainly that is O(n²), with n in the thousands. Two things make it
// fast. Windows of epochs: an item that lies inside of one meets nothing outside of it, so it scans
// that window's rows only. And rows lie on pages, epochs apart from addresses, so that eight rows
// are compared at a time and the rows that meet the item are written down without a branch.
uint64_t PlaceInOrder(const PackAttempt& attempt, Fit fit, InOrderScratch& scratch,
                      std::vector<uint64_t>& begins) {
  InOrderScratch& s = scratch;
  MakeWindows(attempt.items, s);
  begins.resize(attempt.items.size());
  uint64_t top = 0;
  s.sorted.resize(attempt.order.size());
  std::transform(attempt.order.begin(), attempt.order.end(), s.sorted.begin(),
                 [&](uint32_t index) { return attempt.items[index]; });
  for (uint32_t i = 0; i < s.sorted.size(); ++i) {
    const PackItem& item = s.sorted[i];
    const uint32_t home = item.first / kStride;
    const bool inside = s.windows.size() > 1 && item.last < home * kStride + kWidth;
    const uint64_t begin = FindPlace(s.pages, item, inside ? s.windows[home] : s.windows.back(),
                                     Search(item, attempt.blocks, fit));
    begins[attempt.order[i]] = begin;
    top = std::max(top, begin + item.size);
    if (top >= attempt.limit) {
      return attempt.limit;
    }
    TakePlace(s, item, begin);
  }
  return top;
}

}  // namespace kiln::graph
