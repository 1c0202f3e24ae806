// SPDX-License-Identifier: MIT
// Which orders of packing are tried, and which wins: the lowest top. Spec: graph §6.8.2
#include "runtime/graph/pack.h"

#include <algorithm>
#include <bit>

#include "runtime/graph/plan.h"

namespace kiln::graph {
namespace {

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

// Large keys first, ties in the order that the rows have.
void SortByKeys(PackAttempt& attempt, Packer packer) {
  PackScratch& s = attempt.scratch;
  for (KeyedIndex& row : s.keys) {
    const double key = KeyOf(attempt.items[row.index], packer, s.load);
    row.key = ~std::bit_cast<uint64_t>(key);  // not negative: ordered as its bits
  }
  SortByKey(s.keys, s.spare_keys);
}

// Keeps the order of items with the same first epoch.
void SortByFirstEpoch(PackAttempt& attempt) {
  PackScratch& s = attempt.scratch;
  s.by_epoch.assign(s.load.size() + 1, 0);
  for (const PackItem& item : attempt.items) {
    ++s.by_epoch[item.first + 1];
  }
  for (size_t epoch = 1; epoch < s.by_epoch.size(); ++epoch) {
    s.by_epoch[epoch] += s.by_epoch[epoch - 1];
  }
  for (const KeyedIndex& row : s.keys) {
    s.order[s.by_epoch[attempt.items[row.index].first]++] = row.index;
  }
}

void SortItems(PackAttempt& attempt, Packer packer) {
  PackScratch& s = attempt.scratch;
  s.keys.resize(attempt.items.size());
  for (uint32_t i = 0; i < s.keys.size(); ++i) {
    const uint32_t epochs = attempt.items[i].last - attempt.items[i].first;
    s.keys[i] = {.key = ~uint64_t{epochs}, .index = i};
  }
  if (packer == Packer::kByPressure) {
    SortByKey(s.keys, s.spare_keys);
  }
  SortByKeys(attempt, packer);
  s.order.resize(s.keys.size());
  if (packer == Packer::kByTime) {
    SortByFirstEpoch(attempt);
    return;
  }
  for (size_t i = 0; i < s.keys.size(); ++i) {
    s.order[i] = s.keys[i].index;
  }
}

uint64_t Run(PackAttempt& attempt, Packer packer) {
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
void SearchOrders(PackAttempt& attempt, Packer winner, PackResult& result) {
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
  PackAttempt attempt{.items = items, .blocks = blocks, .scratch = scratch, .limit = kNoAddress};
  const uint64_t peak = SumLoads(items, scratch.load);
  const uint64_t good = peak * 100 / 98;
  PackResult result{.top = kNoAddress, .packer = "none"};
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
