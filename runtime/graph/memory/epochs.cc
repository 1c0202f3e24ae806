// SPDX-License-Identifier: MIT
// Long epochs hold more than is alive at any position. Points are added, as many as the options
// allow, each where it saves most: every memory class needs the bytes of its own largest epoch, so
// the class whose largest epoch is furthest above its peak is next, and the epoch is split where
// the larger half is smallest. The point cuts the epochs of all classes. Each class keeps its
// epochs in a heap; what another class has cut since is dropped when it comes up.
#include "runtime/graph/memory/epochs.h"

#include <algorithm>

#include "runtime/graph/types.h"

namespace kiln::graph {
namespace {

// Splitting stops this close to the peak: the last bytes are not worth a command.
constexpr uint64_t kGoodEnough = 128;
constexpr uint32_t kAllClasses = kNone;

uint64_t Touching(const EpochLoad& load, uint32_t begin, uint32_t end) {
  // All that began before the end, less what ended before the beginning.
  return load.starts[end] - load.stops[begin];
}

// Sums over the chains of a class, and the largest at one position.
void SumSizes(const EpochInputs& in, uint32_t memory_class, EpochLoad& load) {
  const uint32_t positions = in.positions;
  load.starts.assign(positions + 1, 0);
  load.stops.assign(positions + 1, 0);
  for (const PackItem& item : in.packed) {
    if (memory_class == kAllClasses || item.memory_class == memory_class) {
      load.starts[item.first + 1] += item.size;
      load.stops[item.last + 1] += item.size;
    }
  }
  load.peak_live = 0;
  for (uint32_t i = 0; i < positions; ++i) {
    load.starts[i + 1] += load.starts[i];
    load.stops[i + 1] += load.stops[i];
    load.peak_live = std::max(load.peak_live, Touching(load, i, i + 1));
  }
}

// The position that makes the larger half smallest. Chains that touch a half are a sum over a
// range, by prefix sums; the left half grows with the position and the right one shrinks, so the
// place where they meet is found by bisection, and it or the one before it is the best. Requires:
// two positions at least.
uint32_t BestSplit(const EpochLoad& load, const Epoch& epoch) {
  uint32_t low = epoch.begin + 1;
  uint32_t high = epoch.end - 1;
  while (low < high) {  // the first split whose left half is at least as large as its right one
    const uint32_t middle = (low + high) / 2;
    const bool left = Touching(load, epoch.begin, middle) >= Touching(load, middle, epoch.end);
    (left ? high : low) = left ? middle : middle + 1;
  }
  const auto larger = [&](uint32_t at) {
    return std::max(Touching(load, epoch.begin, at), Touching(load, at, epoch.end));
  };
  return low > epoch.begin + 1 && larger(low - 1) <= larger(low) ? low - 1 : low;
}

bool SmallerSum(const Epoch& a, const Epoch& b) {
  return a.sum != b.sum ? a.sum < b.sum : a.begin > b.begin;
}

void PushEpoch(EpochLoad& load, uint32_t begin, uint32_t end) {
  load.heap.push_back({.sum = Touching(load, begin, end), .begin = begin, .end = end});
  std::push_heap(load.heap.begin(), load.heap.end(), SmallerSum);
}

// The largest epoch that was not split meanwhile; null: there are no positions.
const Epoch* Largest(EpochLoad& load, const std::vector<uint32_t>& ends) {
  while (!load.heap.empty() && ends[load.heap.front().begin] != load.heap.front().end) {
    std::pop_heap(load.heap.begin(), load.heap.end(), SmallerSum);
    load.heap.pop_back();
  }
  return load.heap.empty() ? nullptr : &load.heap.front();
}

// How far the largest epoch is above the peak; 0: near enough, or nothing can be done.
uint64_t Excess(EpochLoad& load, const std::vector<uint32_t>& ends) {
  const Epoch* const largest = Largest(load, ends);
  const bool worth = largest != nullptr && largest->end - largest->begin > 1 &&
                     largest->sum > load.peak_live + load.peak_live / kGoodEnough;
  return worth ? largest->sum - load.peak_live : 0;
}

void FindEpochs(const std::vector<uint8_t>& chosen, std::vector<uint32_t>& ends,
                std::span<EpochLoad> loads) {
  const auto positions = static_cast<uint32_t>(chosen.size());
  ends.assign(positions, 0);
  for (uint32_t begin = 0; begin < positions;) {
    uint32_t end = begin + 1;
    while (end < positions && chosen[end] == 0) {
      ++end;
    }
    ends[begin] = end;
    begin = end;
  }
  for (EpochLoad& load : loads) {
    load.heap.clear();
    for (uint32_t begin = 0; begin < positions; begin = ends[begin]) {
      const uint32_t end = ends[begin];
      load.heap.push_back({.sum = Touching(load, begin, end), .begin = begin, .end = end});
    }
    std::make_heap(load.heap.begin(), load.heap.end(), SmallerSum);
  }
}

// False: no class can gain anything.
bool SplitOne(std::vector<uint8_t>& chosen, std::vector<uint32_t>& ends,
              std::span<EpochLoad> loads) {
  EpochLoad* worst = nullptr;
  uint64_t most = 0;
  for (EpochLoad& load : loads) {
    const uint64_t excess = Excess(load, ends);
    worst = excess > most ? &load : worst;
    most = std::max(most, excess);
  }
  if (worst == nullptr) {
    return false;
  }
  const Epoch epoch = worst->heap.front();
  const uint32_t at = BestSplit(*worst, epoch);
  chosen[at] = 1;
  // The two halves take the place of the epoch that was split; in the heaps its row is out of date
  // now.
  ends[epoch.begin] = at;
  ends[at] = epoch.end;
  for (EpochLoad& load : loads) {
    PushEpoch(load, epoch.begin, at);
    PushEpoch(load, at, epoch.end);
  }
  return true;
}

// The loads of the classes; that of all if there is one class.
std::span<EpochLoad> SumLoads(const EpochInputs& in, Epochs& out) {
  SumSizes(in, kAllClasses, out.load);
  if (in.classes <= 1) {
    return {&out.load, 1};
  }
  out.loads.resize(std::max(out.loads.size(), in.classes));
  for (uint32_t i = 0; i < in.classes; ++i) {
    SumSizes(in, i, out.loads[i]);
  }
  return std::span(out.loads).first(in.classes);
}

}  // namespace

// Greedy: the epoch that costs most is split where that saves most, until the budget of points is
// spent or every class is within 1/128 of the bytes that are alive at its fullest position, below
// which nothing can get. Each split is O(log epochs) for the heaps and O(log positions) for the
// place.
void SplitEpochs(const EpochInputs& in, std::vector<uint8_t>& chosen, Epochs& out) {
  const std::span<EpochLoad> loads = SumLoads(in, out);
  FindEpochs(chosen, out.ends, loads);
  for (uint32_t budget = in.budget; budget > 0 && SplitOne(chosen, out.ends, loads);) {
    --budget;
  }
  out.peak_epoch = 0;
  uint32_t epoch = 0;
  out.of_position.resize(in.positions);
  for (uint32_t begin = 0; begin < in.positions; begin = out.ends[begin], ++epoch) {
    const uint32_t end = out.ends[begin];
    out.peak_epoch = std::max(out.peak_epoch, Touching(out.load, begin, end));
    std::fill(out.of_position.begin() + begin, out.of_position.begin() + end, epoch);
  }
}

}  // namespace kiln::graph
