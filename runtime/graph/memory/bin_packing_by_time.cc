// SPDX-License-Identifier: MIT
// Packing as a sweep over the epochs: items begin, items end, and the address space is a chain of
// parts that are either an item or free. Free parts below the highest item lie in bins of about
// equal size, so that the best fit is found without looking at the others.
#include "runtime/graph/memory/bin_packing_by_time.h"

#include <algorithm>
#include <bit>

namespace kiln::graph {
namespace {

// Part 0 lies before the first and after the last of all: lists end there, and what is written to
// it is never read but for its neighbours.
constexpr uint32_t kEnd = 0;
// Sixteen bins from a size to its double: what a double has in its exponent and in the first bits
// of its mantissa.
constexpr uint32_t kMantissa = 4;
constexpr uint32_t kShift = 52 - kMantissa;
constexpr uint64_t kBias = uint64_t{1023} << kMantissa;
constexpr uint32_t kBins = 64U << kMantissa;
constexpr uint32_t kNotFree = kBins;  // the bin of an item

uint32_t BinOf(uint64_t size) {
  const auto rounded = static_cast<double>(static_cast<int64_t>(size));
  return static_cast<uint32_t>((std::bit_cast<uint64_t>(rounded) >> kShift) - kBias);
}

// The smallest size in the bin, which lies below 2⁶³.
uint64_t FloorOf(uint32_t bin) {
  return static_cast<uint64_t>(
      static_cast<int64_t>(std::bit_cast<double>((bin + kBias) << kShift)));
}

// The address space at one moment of the sweep. All parts, free or not, form a ring in the order of
// their addresses through part 0, so neighbours are found without a search when a part is released
// and merges with them. Free parts are also linked by bin; a bit set says which bins have any.
// Nothing is allocated during a sweep: two items leave at most one free part between them, or one
// per block, so the number of parts is known beforehand.
class Sweep {
 public:
  Sweep(std::span<const uint64_t> blocks, SweepScratch& scratch, size_t items, size_t epochs)
      : blocks_(blocks) {
    // Between two items lies one free part, or one of each block.
    const size_t parts = 2 * items + blocks.size() + 4;
    if (scratch.parts.size() < parts) {
      scratch.parts.resize(parts);
    }
    scratch.bins.assign(kBins, kEnd);
    scratch.filled.assign(kBins / 64, 0);
    scratch.ending.assign(epochs, kEnd);
    parts_ = scratch.parts.data();
    bins_ = scratch.bins.data();
    filled_ = scratch.filled.data();
    ending_ = scratch.ending.data();
    parts_[kEnd] = {.bin = kNotFree};
  }

  // Frees what ends before the epoch.
  void Advance(uint32_t epoch) {
    for (; now_ < epoch; ++now_) {
      for (uint32_t part = ending_[now_]; part != kEnd;) {
        const uint32_t next = parts_[part].bin_after;
        Release(part);
        part = next;
      }
    }
  }

  uint64_t Place(const PackItem& item) {
    uint64_t at = kNoAddress;
    const uint32_t gap = BestGap(item, at);
    uint32_t part = gap;
    if (gap == kEnd) {
      at = TopFor(item);
      FillTo(at);
      part = AddAfter(Last(), at, at + item.size);
    } else {
      part = Cut(gap, at, item.size);
    }
    parts_[part].bin_after = ending_[item.last];
    ending_[item.last] = part;
    return at;
  }

 private:
  // The part with the highest address: an item.
  uint32_t Last() const { return parts_[kEnd].before; }
  uint64_t Top() const { return parts_[Last()].end; }

  uint64_t TopFor(const PackItem& item) const {
    uint64_t at = AlignAddress(Top(), item.alignment);
    for (uint64_t end = BlockEnd(blocks_, at); at + item.size > end; end = BlockEnd(blocks_, at)) {
      at = AlignAddress(end, item.alignment);
    }
    return at;
  }

  // The free part that leaves the least room, the lowest address among equals; kEnd if the item
  // fits nowhere. Bins are visited from the item's own size upwards. Once something was found, a
  // bin whose smallest part would leave more room than that ends the search, alignment included.
  uint32_t BestGap(const PackItem& item, uint64_t& best) const {
    uint32_t found = kEnd;
    uint64_t rest = kNoAddress;
    const uint32_t first = BinOf(item.size);
    uint64_t bits = filled_[first / 64] & ~uint64_t{0} << first % 64;
    for (uint32_t word = first / 64;;) {
      for (; bits != 0; bits &= bits - 1) {
        const uint32_t bin = word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
        if (found != kEnd && FloorOf(bin) > rest + item.size + item.alignment - 1) {
          return found;
        }
        for (uint32_t part = bins_[bin]; part != kEnd; part = parts_[part].bin_after) {
          const SweepPart& gap = parts_[part];
          const uint64_t at = AlignAddress(gap.begin, item.alignment);
          if (at + item.size > gap.end) {
            continue;
          }
          const uint64_t left = gap.end - at - item.size;
          if (left < rest || (left == rest && at < best)) {
            rest = left;
            best = at;
            found = part;
          }
        }
      }
      if (++word == kBins / 64) {
        return found;
      }
      bits = filled_[word];
    }
  }

  uint32_t AddAfter(uint32_t before, uint64_t begin, uint64_t end) {
    uint32_t part = spare_;
    // A part that was given back is used again before a new one.
    if (part == kEnd) {
      part = ++made_;
    } else {
      spare_ = parts_[part].after;
    }
    const uint32_t after = parts_[before].after;
    SweepPart& own = parts_[part];
    own.begin = begin;
    own.end = end;
    own.before = before;
    own.after = after;
    own.bin = kNotFree;
    parts_[before].after = part;
    parts_[after].before = part;
    return part;
  }

  void Remove(uint32_t part) {
    SweepPart& gone = parts_[part];
    parts_[gone.before].after = gone.after;
    parts_[gone.after].before = gone.before;
    // Parts that are not used form a list of their own, through the same link.
    gone.after = spare_;
    spare_ = part;
  }

  void Bin(uint32_t part) {
    SweepPart& gap = parts_[part];
    const uint32_t bin = BinOf(gap.end - gap.begin);
    gap.bin = bin;
    gap.bin_before = kEnd;
    gap.bin_after = bins_[bin];
    parts_[gap.bin_after].bin_before = part;
    bins_[bin] = part;
    filled_[bin / 64] |= uint64_t{1} << bin % 64;
  }

  void Unbin(uint32_t part) {
    SweepPart& gap = parts_[part];
    const uint32_t bin = gap.bin;
    gap.bin = kNotFree;
    parts_[gap.bin_after].bin_before = gap.bin_before;
    if (gap.bin_before != kEnd) {
      parts_[gap.bin_before].bin_after = gap.bin_after;
      return;
    }
    bins_[bin] = gap.bin_after;
    const uint64_t emptied = gap.bin_after == kEnd ? 1 : 0;
    filled_[bin / 64] &= ~(emptied << bin % 64);
  }

  // Free parts from the top to the address, none of them across blocks.
  void FillTo(uint64_t at) {
    while (Top() < at) {
      const uint64_t begin = Top();
      Bin(AddAfter(Last(), begin, std::min(at, BlockEnd(blocks_, begin))));
    }
  }

  // Puts an item into a free part and returns its own.
  uint32_t Cut(uint32_t gap, uint64_t at, uint64_t size) {
    Unbin(gap);
    const uint64_t begin = parts_[gap].begin;
    const uint64_t end = parts_[gap].end;
    uint32_t part = gap;
    // What alignment leaves below the item stays free.
    if (begin < at) {
      parts_[gap].end = at;
      Bin(gap);
      part = AddAfter(gap, at, at + size);
    }
    parts_[part].end = at + size;
    if (at + size < end) {
      Bin(AddAfter(part, at + size, end));
    }
    return part;
  }

  bool IsFree(uint32_t part) const { return parts_[part].bin != kNotFree; }
  bool IsBorder(uint64_t address) const { return BlockEnd(blocks_, address - 1) == address; }

  // Merges the part with free neighbours, but not across the border of two blocks: an item must lie
  // in one. What is highest is not kept as free; the top sinks instead, through everything free
  // below it.
  void Release(uint32_t part) {
    if (part == Last()) {
      Remove(part);
      for (uint32_t last = Last(); IsFree(last); last = Last()) {
        Unbin(last);
        Remove(last);
      }
      return;
    }
    const uint32_t before = parts_[part].before;
    const uint32_t after = parts_[part].after;
    if (IsFree(before) && !IsBorder(parts_[part].begin)) {
      Unbin(before);
      parts_[part].begin = parts_[before].begin;
      Remove(before);
    }
    if (IsFree(after) && !IsBorder(parts_[part].end)) {
      Unbin(after);
      parts_[part].end = parts_[after].end;
      Remove(after);
    }
    Bin(part);
  }

  std::span<const uint64_t> blocks_;
  SweepPart* parts_;
  uint32_t* bins_;    // first free part of about this size
  uint64_t* filled_;  // bit set of bins
  uint32_t* ending_;  // by epoch: an item that ends in it
  uint32_t now_ = 0;
  uint32_t made_ = 0;      // parts that have been used
  uint32_t spare_ = kEnd;  // those of them that are not, linked by `after`
};

}  // namespace

uint64_t PlaceByTime(const PackAttempt& attempt, SweepScratch& scratch,
                     std::vector<uint64_t>& begins) {
  uint32_t epochs = 0;
  for (const PackItem& item : attempt.items) {
    epochs = std::max(epochs, item.last + 1);
  }
  begins.resize(attempt.items.size());
  Sweep sweep(attempt.blocks, scratch, attempt.items.size(), epochs);
  uint64_t top = 0;
  for (const uint32_t index : attempt.order) {
    const PackItem& item = attempt.items[index];
    sweep.Advance(item.first);
    const uint64_t begin = sweep.Place(item);
    begins[index] = begin;
    top = std::max(top, begin + item.size);
    if (top >= attempt.limit) {
      return attempt.limit;
    }
  }
  return top;
}

}  // namespace kiln::graph
