// SPDX-License-Identifier: MIT
// Packing of chains into an address space: two may share bytes iff their epochs are disjoint. Three
// packers, the lowest top wins. Spec: graph §6.8.2
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "runtime/graph/planning.h"

namespace kiln::graph {
namespace {

constexpr uint64_t kNowhere = ~uint64_t{0};

uint64_t AlignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

// The end of the block that holds the address; the last block has no end.
uint64_t BlockEnd(std::span<const uint64_t> blocks, uint64_t address) {
  uint64_t end = 0;
  for (const uint64_t block : blocks) {
    end += block;
    if (address < end) {
      return end;
    }
  }
  return kNowhere;
}

// Looks for the best place among gaps that are offered from low to high addresses.
struct Search {
  const PackItem& item;
  std::span<const uint64_t> blocks;
  bool best_fit;
  uint64_t cursor = 0;  // end of what was seen so far
  uint64_t begin = kNowhere;
  uint64_t rest = kNowhere;

  // A gap from the cursor to `end`. True: nothing better can follow.
  bool Offer(uint64_t end) {
    uint64_t at = AlignUp(cursor, item.alignment);
    while (at + item.size <= end) {
      const uint64_t limit = std::min(end, BlockEnd(blocks, at));
      if (at + item.size <= limit) {
        const uint64_t left = end == kNowhere ? kNowhere - 1 : limit - at - item.size;
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
      at = AlignUp(limit, item.alignment);
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
    if (begin == kNowhere) {
      Offer(kNowhere);
    }
  }
};

struct Attempt {
  std::span<const PackItem> items;
  std::span<const uint64_t> blocks;
  PackScratch& scratch;
  uint64_t limit;  // give up at this top
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

// Offers the gaps between the placed items, which are sorted by offset.
void ScanPlaced(const PackScratch& s, size_t count, Search& search) {
  const auto first = static_cast<uint16_t>(search.item.first);
  const auto last = static_cast<uint16_t>(search.item.last);
  for (size_t i = 0; i < count; i += kLanes) {
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
void InsertAt(std::vector<T>& values, size_t count, size_t slot, T value) {
  std::copy_backward(values.begin() + static_cast<ptrdiff_t>(slot),
                     values.begin() + static_cast<ptrdiff_t>(count),
                     values.begin() + static_cast<ptrdiff_t>(count) + 1);
  values[slot] = value;
}

void InsertPlaced(PackScratch& s, size_t count, uint32_t index, const PackItem& item) {
  const uint32_t* at =
      std::upper_bound(s.placed.data(), s.placed.data() + count, s.begins[index],
                       [&](uint64_t begin, uint32_t other) { return begin < s.begins[other]; });
  const auto slot = static_cast<size_t>(at - s.placed.data());
  InsertAt(s.placed, count, slot, index);
  InsertAt(s.placed_first, count, slot, static_cast<uint16_t>(item.first));
  InsertAt(s.placed_last, count, slot, static_cast<uint16_t>(item.last));
}

// Items in the order of scratch.order; each goes to a gap between placed ones that share an epoch.
// Returns the top, or the limit if it was reached.
uint64_t PlaceInOrder(Attempt& attempt, bool best_fit) {
  PackScratch& s = attempt.scratch;
  const size_t capacity = attempt.items.size() + 2 * kLanes;
  s.placed_first.assign(capacity, 0xFFFF);  // lanes beyond the count meet nothing
  s.placed_last.assign(capacity, 0);
  s.placed.resize(capacity);
  s.begins.resize(attempt.items.size());
  s.ends.resize(attempt.items.size());
  size_t count = 0;
  uint64_t top = 0;
  for (const uint32_t index : s.order) {
    const PackItem& item = attempt.items[index];
    Search search{.item = item, .blocks = attempt.blocks, .best_fit = best_fit};
    ScanPlaced(s, count, search);
    search.Finish();
    s.begins[index] = search.begin;
    s.ends[index] = search.begin + item.size;
    top = std::max(top, s.ends[index]);
    if (top >= attempt.limit) {
      return attempt.limit;
    }
    InsertPlaced(s, count++, index, item);
  }
  return top;
}

// The same for orders by first epoch, best fit: only items that are alive still matter.
uint64_t PlaceByTime(Attempt& attempt) {
  PackScratch& s = attempt.scratch;
  std::vector<ActiveItem>& active = s.active;  // by offset
  active.clear();
  s.begins.resize(attempt.items.size());
  uint64_t top = 0;
  for (const uint32_t index : s.order) {
    const PackItem& item = attempt.items[index];
    Search search{.item = item, .blocks = attempt.blocks, .best_fit = true};
    size_t kept = 0;
    bool done = false;
    for (const ActiveItem other : active) {
      if (other.last < item.first) {
        continue;
      }
      active[kept++] = other;
      done = done || search.Meet(other.begin, other.end);
    }
    active.resize(kept);
    search.Finish();
    s.begins[index] = search.begin;
    top = std::max(top, search.begin + item.size);
    if (top >= attempt.limit) {
      return attempt.limit;
    }
    const auto at = std::upper_bound(
        active.begin(), active.end(), search.begin,
        [](uint64_t begin, const ActiveItem& other) { return begin < other.begin; });
    active.insert(at, {.begin = search.begin, .end = search.begin + item.size, .last = item.last});
  }
  return top;
}

// By what the items are ordered, and which gap they take.
enum class Packer : uint8_t {
  kBySize,       // best fit
  kByTime,       // first epoch, then size; best fit
  kByArea,       // size × epochs, first fit
  kBySizeFirst,  // size, first fit
  kByRootArea,   // size × √epochs, first fit
  kByPressure,   // largest epoch that it touches, then epochs; first fit
};

double KeyOf(const PackItem& item, Packer packer, std::span<const uint64_t> load) {
  const auto size = static_cast<double>(item.size);
  const double epochs = item.last - item.first + 1;
  switch (packer) {
    case Packer::kBySize:
    case Packer::kBySizeFirst:
    case Packer::kByTime:
      return size;
    case Packer::kByArea:
      return size * epochs;
    case Packer::kByRootArea:
      return size * size * epochs;
    case Packer::kByPressure:
      return static_cast<double>(
          *std::max_element(load.begin() + item.first, load.begin() + item.last + 1));
  }
  return 0;
}

void SortItems(Attempt& attempt, Packer packer) {
  std::vector<uint32_t>& order = attempt.scratch.order;
  std::vector<double>& keys = attempt.scratch.keys;
  order.resize(attempt.items.size());
  keys.resize(attempt.items.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    order[i] = i;
    keys[i] = KeyOf(attempt.items[i], packer, attempt.scratch.load);
  }
  const auto epochs = [&](uint32_t i) { return attempt.items[i].last - attempt.items[i].first; };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (packer == Packer::kByTime && attempt.items[a].first != attempt.items[b].first) {
      return attempt.items[a].first < attempt.items[b].first;
    }
    if (keys[a] != keys[b]) {
      return keys[a] > keys[b];
    }
    if (packer == Packer::kByPressure && epochs(a) != epochs(b)) {
      return epochs(a) > epochs(b);
    }
    return a < b;
  });
}

uint64_t Run(Attempt& attempt, Packer packer) {
  SortItems(attempt, packer);
  switch (packer) {
    case Packer::kBySize:
      return PlaceInOrder(attempt, true);
    case Packer::kByTime:
      return PlaceByTime(attempt);
    case Packer::kByArea:
    case Packer::kBySizeFirst:
    case Packer::kByRootArea:
    case Packer::kByPressure:
      return PlaceInOrder(attempt, false);
  }
  return attempt.limit;
}

const char* NameOf(Packer packer) {
  switch (packer) {
    case Packer::kBySize:
      return "size";
    case Packer::kByTime:
      return "time";
    case Packer::kByArea:
      return "area";
    case Packer::kBySizeFirst:
      return "size, first fit";
    case Packer::kByRootArea:
      return "root area";
    case Packer::kByPressure:
      return "pressure";
  }
  return "";
}

// Bytes that every epoch needs; the largest is what no packing can be lower than.
uint64_t SumLoads(std::span<const PackItem> items, std::vector<uint64_t>& load) {
  uint32_t epochs = 0;
  for (const PackItem& item : items) {
    epochs = std::max(epochs, item.last + 1);
  }
  load.assign(epochs + 1, 0);
  for (const PackItem& item : items) {
    load[item.first] += item.size;
    load[item.last + 1] -= item.size;  // wraps, and wraps back in the sum
  }
  uint64_t peak = 0;
  for (size_t epoch = 0; epoch < load.size(); ++epoch) {
    load[epoch] += epoch == 0 ? 0 : load[epoch - 1];
    peak = std::max(peak, load[epoch]);
  }
  return peak;
}

// Small changes of the winner's order.
void SearchOrders(Attempt& attempt, Packer winner, PackResult& result) {
  SortItems(attempt, winner);
  std::vector<uint32_t> best_order = attempt.scratch.order;
  uint64_t random = 0x2545F4914F6CDD1DULL;
  const auto next = [&](size_t bound) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return static_cast<size_t>(random % bound);
  };
  for (int round = 0; round < 256 && attempt.items.size() > 1; ++round) {
    attempt.scratch.order = best_order;
    for (size_t swaps = 1 + next(3); swaps > 0; --swaps) {
      std::swap(attempt.scratch.order[next(best_order.size())],
                attempt.scratch.order[next(best_order.size())]);
    }
    attempt.limit = result.top;
    std::vector<uint32_t> tried = attempt.scratch.order;
    const uint64_t top = PlaceInOrder(attempt, true);
    if (top < result.top) {
      result = {.top = top, .packer = "search"};
      std::swap(attempt.scratch.best, attempt.scratch.begins);
      best_order = std::move(tried);
    }
  }
}

}  // namespace

PackResult Pack(std::span<const PackItem> items, std::span<const uint64_t> blocks, Effort effort,
                PackScratch& scratch) {
  Attempt attempt{.items = items, .blocks = blocks, .scratch = scratch, .limit = kNowhere};
  const uint64_t peak = SumLoads(items, scratch.load);
  const uint64_t good = peak * 100 / 98;
  PackResult result{.top = kNowhere, .packer = "none"};
  Packer winner = Packer::kByTime;
  constexpr Packer kAll[] = {Packer::kBySize,      Packer::kByTime,     Packer::kByArea,
                             Packer::kBySizeFirst, Packer::kByRootArea, Packer::kByPressure};
  constexpr Packer kFast[] = {Packer::kByTime};
  // The first three whatever the size; the others where they cost little.
  constexpr size_t kSmall = 1024;
  std::span<const Packer> packers = kFast;
  if (effort != Effort::kFast) {
    packers = std::span<const Packer>(kAll).first(items.size() <= kSmall ? 6 : 3);
  }
  for (const Packer packer : packers) {
    attempt.limit = result.top;
    const uint64_t top = Run(attempt, packer);
    if (top < result.top) {
      result = {.top = top, .packer = NameOf(packer)};
      winner = packer;
      std::swap(scratch.best, scratch.begins);
    }
    if (result.top <= good) {
      break;
    }
  }
  if (effort == Effort::kSearch && result.top > peak) {
    SearchOrders(attempt, winner, result);
  }
  return result;
}

}  // namespace kiln::graph
