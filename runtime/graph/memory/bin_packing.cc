// SPDX-License-Identifier: MIT
// Which orders of packing are tried, and which wins: the lowest top. See spec/graph 6.8.2
#include "runtime/graph/memory/bin_packing.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>

#include "runtime/graph/plan.h"

namespace kiln::graph {
namespace {

// The order of the items, and the rule by which a gap is chosen.
enum class Packer : uint8_t {
  kBySize,       // best fit
  kByTime,       // first epoch, then size; best fit
  kByArea,       // size × epochs, first fit
  kBySizeFirst,  // size, first fit
  kByRootArea,   // size × √epochs, first fit
  kByPressure,   // largest epoch that it touches, then epochs; first fit
};

// Large ones go first.
uint64_t RankOf(const PackItem& item, Packer packer, std::span<const uint64_t> load) {
  const uint64_t epochs = item.last - item.first + 1;
  switch (packer) {
    case Packer::kBySize:
    case Packer::kBySizeFirst:
    case Packer::kByTime:
      return item.size;
    case Packer::kByArea:
      return item.size * epochs;
    case Packer::kByRootArea: {
      const auto size = static_cast<double>(item.size);
      // Bits of positive doubles have the order of their values; the square root is spared by
      // squaring the size.
      return std::bit_cast<uint64_t>(size * size * static_cast<double>(epochs));  // as ordered
    }
    case Packer::kByPressure:
      return *std::max_element(load.begin() + item.first, load.begin() + item.last + 1);
  }
  return 0;
}

// Larger ones first, ties in the order they came. Insertion for the few items that usually begin in
// one epoch, since std::sort costs more to set up than they cost to sort.
void SortBySize(const PackItem* items, uint32_t* begin, uint32_t* end) {
  constexpr ptrdiff_t kFew = 16;
  if (end - begin > kFew) {
    std::sort(begin, end, [&](uint32_t a, uint32_t b) {
      return items[a].size != items[b].size ? items[a].size > items[b].size : a < b;
    });
    return;
  }
  for (uint32_t* next = begin + 1; next < end; ++next) {
    const uint32_t item = *next;
    const uint64_t size = items[item].size;
    uint32_t* at = next;
    for (; at != begin && size > items[at[-1]].size; --at) {
      *at = at[-1];
    }
    *at = item;
  }
}

// By first epoch, then size.
void SortByTime(std::span<const PackItem> all, PackScratch& s) {
  const PackItem* const items = all.data();
  const auto count = static_cast<uint32_t>(all.size());
  s.by_epoch.assign(s.load.size() + 1, 0);
  uint32_t* const by_epoch = s.by_epoch.data();
  for (uint32_t i = 0; i < count; ++i) {
    ++by_epoch[items[i].first + 1];
  }
  std::partial_sum(s.by_epoch.begin(), s.by_epoch.end(), s.by_epoch.begin());
  s.order.resize(count);
  uint32_t* const order = s.order.data();
  for (uint32_t i = 0; i < count; ++i) {
    order[by_epoch[items[i].first]++] = i;
  }
  uint32_t begin = 0;
  for (const uint32_t end : s.by_epoch) {  // of the epochs, by now
    SortBySize(items, order + begin, order + std::max(begin, end));
    begin = std::max(begin, end);
  }
}

// Ties in the order of the items; under pressure those that live long first.
void SortItems(std::span<const PackItem> items, Packer packer, PackScratch& s) {
  if (packer == Packer::kByTime) {
    SortByTime(items, s);
    return;
  }
  s.keys.resize(items.size());
  for (uint32_t i = 0; i < s.keys.size(); ++i) {
    const uint32_t epochs = items[i].last - items[i].first;
    // Inverted, as keys are sorted upwards and the longest come first.
    s.keys[i] = {.key = ~uint64_t{epochs}, .index = i};
  }
  if (packer == Packer::kByPressure) {
    SortByKey(s.keys, s.spare_keys);
  }
  for (KeyedIndex& row : s.keys) {
    row.key = ~RankOf(items[row.index], packer, s.load);
  }
  SortByKey(s.keys, s.spare_keys);
  s.order.resize(s.keys.size());
  for (size_t i = 0; i < s.keys.size(); ++i) {
    s.order[i] = s.keys[i].index;
  }
}

// One attempt with the order that scratch.order has: the top, with the addresses in scratch.begins.
uint64_t Run(std::span<const PackItem> items, std::span<const uint64_t> blocks, Packer packer,
             uint64_t limit, PackScratch& s) {
  const PackAttempt attempt{.items = items, .order = s.order, .blocks = blocks, .limit = limit};
  switch (packer) {
    case Packer::kBySize:
      return PlaceInOrder(attempt, Fit::kBest, s.in_order, s.begins);
    case Packer::kByTime:
      return PlaceByTime(attempt, s.sweep, s.begins);
    case Packer::kByArea:
    case Packer::kBySizeFirst:
    case Packer::kByRootArea:
    case Packer::kByPressure:
      return PlaceInOrder(attempt, Fit::kFirst, s.in_order, s.begins);
  }
  return limit;
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

// Small changes of the winner's order: a few swaps at random, kept if the top sinks. The numbers
// are the same in every run (xorshift from a fixed seed), since a plan must not depend on chance.
void SearchOrders(std::span<const PackItem> items, std::span<const uint64_t> blocks, Packer winner,
                  PackScratch& s, PackResult& result) {
  SortItems(items, winner, s);
  std::vector<uint32_t> best_order = s.order;
  uint64_t random = 0x2545F4914F6CDD1DULL;
  const auto next = [&](size_t bound) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return static_cast<size_t>(random % bound);
  };
  for (int round = 0; round < 256 && items.size() > 1; ++round) {
    // Each round begins with the best order so far, so a bad swap is forgotten.
    s.order = best_order;
    for (size_t swaps = 1 + next(3); swaps > 0; --swaps) {
      std::swap(s.order[next(best_order.size())], s.order[next(best_order.size())]);
    }
    // The rule of placing is the best fit, whatever the winner's was: only the order is searched.
    const uint64_t top = Run(items, blocks, Packer::kBySize, result.top, s);
    if (top < result.top) {
      result = {.top = top, .packer = "search"};
      std::swap(s.best, s.begins);
      best_order = s.order;
    }
  }
}

}  // namespace

// Packing intervals of time into addresses is NP-hard, and no single rule wins on all frames. So a
// few orders are tried, and the lowest top is kept. No packing can be lower than the bytes of the
// fullest epoch, so the search ends as soon as a result is within two per cent of that: on most
// frames after the first or second order. An attempt also gives up when it reaches the best top so
// far.
PackResult Pack(std::span<const PackItem> items, std::span<const uint64_t> blocks, Effort effort,
                PackScratch& scratch) {
  // The bound is a sum, so it costs one pass over the items.
  const uint64_t peak = SumLoads(items, scratch.load);
  const uint64_t good = peak * 100 / 98;
  PackResult result{.top = kNoAddress, .packer = "none"};
  Packer winner = Packer::kByTime;
  constexpr Packer kAll[] = {Packer::kBySize,      Packer::kByTime,     Packer::kByArea,
                             Packer::kBySizeFirst, Packer::kByRootArea, Packer::kByPressure};
  constexpr Packer kFast[] = {Packer::kByTime};
  // The first three orders are tried whatever the size, the others where they cost little.
  constexpr size_t kSmall = 1024;
  std::span<const Packer> packers = kFast;
  if (effort != Effort::kFast) {
    packers = std::span<const Packer>(kAll).first(items.size() <= kSmall ? 6 : 3);
  }
  for (const Packer packer : packers) {
    SortItems(items, packer, scratch);
    const uint64_t top = Run(items, blocks, packer, result.top, scratch);
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
    SearchOrders(items, blocks, winner, scratch, result);
  }
  return result;
}

}  // namespace kiln::graph
