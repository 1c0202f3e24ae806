// SPDX-License-Identifier: MIT
// Packing as a sweep over the epochs: items begin, items end, and the address space is a chain of
// parts that are either an item or free. Free parts below the highest item lie in bins of about
// equal size, so that the best fit is found without looking at the others.
#include <algorithm>
#include <bit>

#include "runtime/graph/pack.h"

namespace kiln::graph {
namespace {

constexpr uint32_t kNoPart = ~0U;
constexpr uint32_t kMantissa = 4;  // bits: sixteen bins from a size to its double
constexpr uint32_t kBins = 64U << kMantissa;

uint32_t BinOf(uint64_t size) {
  const auto exponent = static_cast<uint32_t>(std::bit_width(size)) - 1;
  return exponent < kMantissa ? static_cast<uint32_t>(size)
                              : exponent << kMantissa | (size >> (exponent - kMantissa) & 15);
}

// The smallest size in the bin.
uint64_t FloorOf(uint32_t bin) {
  const uint32_t exponent = bin >> kMantissa;
  return exponent < kMantissa ? bin : (uint64_t{16} | (bin & 15)) << (exponent - kMantissa);
}

class Sweep {
 public:
  Sweep(std::span<const uint64_t> blocks, PackScratch& scratch, size_t epochs)
      : blocks_(blocks), s_(scratch) {
    s_.parts.clear();
    s_.spare_parts.clear();
    s_.bins.assign(kBins, kNoPart);
    s_.filled.assign(kBins / 64, 0);
    s_.ending.assign(epochs, kNoPart);
  }

  // Frees what ends before the epoch.
  void Advance(uint32_t epoch) {
    for (; now_ < epoch; ++now_) {
      for (uint32_t part = s_.ending[now_]; part != kNoPart;) {
        const uint32_t next = s_.parts[part].bin_after;
        Release(part);
        part = next;
      }
    }
  }

  uint64_t Place(const PackItem& item) {
    uint64_t at = kNoAddress;
    const uint32_t gap = BestGap(item, at);
    uint32_t part = kNoPart;
    if (gap == kNoPart) {
      at = TopFor(item);
      FillTo(at);
      part = AddAfter(last_, at, at + item.size);
    } else {
      part = Cut(gap, at, item.size);
    }
    s_.parts[part].bin_after = s_.ending[item.last];
    s_.ending[item.last] = part;
    return at;
  }

 private:
  uint64_t Top() const { return last_ == kNoPart ? 0 : s_.parts[last_].end; }

  uint64_t TopFor(const PackItem& item) const {
    uint64_t at = AlignAddress(Top(), item.alignment);
    for (uint64_t end = BlockEnd(blocks_, at); at + item.size > end; end = BlockEnd(blocks_, at)) {
      at = AlignAddress(end, item.alignment);
    }
    return at;
  }

  uint32_t BestGap(const PackItem& item, uint64_t& best) const {
    uint32_t found = kNoPart;
    uint64_t rest = kNoAddress;
    const uint32_t first = BinOf(item.size);
    uint64_t bits = s_.filled[first / 64] & ~uint64_t{0} << first % 64;
    for (uint32_t word = first / 64;;) {
      for (; bits != 0; bits &= bits - 1) {
        const uint32_t bin = word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
        if (found != kNoPart && FloorOf(bin) > rest + item.size + item.alignment - 1) {
          return found;
        }
        for (uint32_t part = s_.bins[bin]; part != kNoPart; part = s_.parts[part].bin_after) {
          const SweepPart& gap = s_.parts[part];
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
      if (++word == s_.filled.size()) {
        return found;
      }
      bits = s_.filled[word];
    }
  }

  uint32_t AddAfter(uint32_t before, uint64_t begin, uint64_t end) {
    uint32_t part = static_cast<uint32_t>(s_.parts.size());
    if (s_.spare_parts.empty()) {
      s_.parts.emplace_back();
    } else {
      part = s_.spare_parts.back();
      s_.spare_parts.pop_back();
    }
    const uint32_t after = before == kNoPart ? kNoPart : s_.parts[before].after;
    s_.parts[part] = {.begin = begin,
                      .end = end,
                      .before = before,
                      .after = after,
                      .bin_before = kNoPart,
                      .bin_after = kNoPart,
                      .free = false};
    if (before != kNoPart) {
      s_.parts[before].after = part;
    }
    (after == kNoPart ? last_ : s_.parts[after].before) = part;
    return part;
  }

  void Remove(uint32_t part) {
    const SweepPart& gone = s_.parts[part];
    if (gone.before != kNoPart) {
      s_.parts[gone.before].after = gone.after;
    }
    (gone.after == kNoPart ? last_ : s_.parts[gone.after].before) = gone.before;
    s_.spare_parts.push_back(part);
  }

  void Bin(uint32_t part) {
    SweepPart& gap = s_.parts[part];
    const uint32_t bin = BinOf(gap.end - gap.begin);
    gap.free = true;
    gap.bin_before = kNoPart;
    gap.bin_after = s_.bins[bin];
    if (gap.bin_after != kNoPart) {
      s_.parts[gap.bin_after].bin_before = part;
    }
    s_.bins[bin] = part;
    s_.filled[bin / 64] |= uint64_t{1} << bin % 64;
  }

  void Unbin(uint32_t part) {
    SweepPart& gap = s_.parts[part];
    gap.free = false;
    if (gap.bin_after != kNoPart) {
      s_.parts[gap.bin_after].bin_before = gap.bin_before;
    }
    if (gap.bin_before != kNoPart) {
      s_.parts[gap.bin_before].bin_after = gap.bin_after;
      return;
    }
    const uint32_t bin = BinOf(gap.end - gap.begin);
    s_.bins[bin] = gap.bin_after;
    if (gap.bin_after == kNoPart) {
      s_.filled[bin / 64] &= ~(uint64_t{1} << bin % 64);
    }
  }

  // Free parts from the top to the address, none of them across blocks.
  void FillTo(uint64_t at) {
    while (Top() < at) {
      const uint64_t begin = Top();
      Bin(AddAfter(last_, begin, std::min(at, BlockEnd(blocks_, begin))));
    }
  }

  // Puts an item into a free part and returns its own.
  uint32_t Cut(uint32_t gap, uint64_t at, uint64_t size) {
    Unbin(gap);
    const uint64_t begin = s_.parts[gap].begin;
    const uint64_t end = s_.parts[gap].end;
    uint32_t part = gap;
    if (begin < at) {
      s_.parts[gap].end = at;
      Bin(gap);
      part = AddAfter(gap, at, at + size);
    }
    s_.parts[part].end = at + size;
    if (at + size < end) {
      Bin(AddAfter(part, at + size, end));
    }
    return part;
  }

  bool IsFree(uint32_t part) const { return part != kNoPart && s_.parts[part].free; }
  bool IsBorder(uint64_t address) const { return BlockEnd(blocks_, address - 1) == address; }

  void Release(uint32_t part) {
    if (part == last_) {
      Remove(part);
      while (IsFree(last_)) {
        Unbin(last_);
        Remove(last_);
      }
      return;
    }
    const uint32_t before = s_.parts[part].before;
    const uint32_t after = s_.parts[part].after;
    if (IsFree(before) && !IsBorder(s_.parts[part].begin)) {
      Unbin(before);
      s_.parts[part].begin = s_.parts[before].begin;
      Remove(before);
    }
    if (IsFree(after) && !IsBorder(s_.parts[part].end)) {
      Unbin(after);
      s_.parts[part].end = s_.parts[after].end;
      Remove(after);
    }
    Bin(part);
  }

  std::span<const uint64_t> blocks_;
  PackScratch& s_;
  uint32_t now_ = 0;
  uint32_t last_ = kNoPart;  // the part with the highest address: an item
};

}  // namespace

uint64_t PlaceByTime(PackAttempt& attempt) {
  PackScratch& s = attempt.scratch;
  uint32_t epochs = 0;
  for (const PackItem& item : attempt.items) {
    epochs = std::max(epochs, item.last + 1);
  }
  s.begins.resize(attempt.items.size());
  Sweep sweep(attempt.blocks, s, epochs);
  uint64_t top = 0;
  GatherItems(attempt);
  for (uint32_t i = 0; i < s.sorted.size(); ++i) {
    const PackItem& item = s.sorted[i];
    sweep.Advance(item.first);
    const uint64_t begin = sweep.Place(item);
    s.begins[s.order[i]] = begin;
    top = std::max(top, begin + item.size);
    if (top >= attempt.limit) {
      return attempt.limit;
    }
  }
  return top;
}

}  // namespace kiln::graph
