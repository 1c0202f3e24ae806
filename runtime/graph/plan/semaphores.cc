// SPDX-License-Identifier: MIT
#include "runtime/graph/plan/semaphores.h"

#include <algorithm>
#include <tuple>

namespace kiln::graph {
namespace {

// Signals by semaphore, then value, then declaration.
void SortSignals(const Declarations& rows, std::vector<uint32_t>& signals) {
  signals.clear();
  for (uint32_t i = 0; i < rows.semaphore_uses.size(); ++i) {
    if (!rows.semaphore_uses[i].wait) {
      signals.push_back(i);
    }
  }
  // Which semaphore comes first says nothing; the declaration breaks ties, so that the sort has one
  // result on every machine.
  std::sort(signals.begin(), signals.end(), [&](uint32_t a, uint32_t b) {
    const SemaphoreRow& x = rows.semaphore_uses[a];
    const SemaphoreRow& y = rows.semaphore_uses[b];
    return std::tie(x.semaphore, x.value, a) < std::tie(y.semaphore, y.value, b);
  });
}

// The first signal of the semaphore with at least the value.
size_t FirstSignal(const Declarations& rows, const std::vector<uint32_t>& signals,
                   uint32_t semaphore, uint64_t value) {
  return static_cast<size_t>(
      std::partition_point(signals.begin(), signals.end(),
                           [&](uint32_t signal) {
                             const SemaphoreRow& row = rows.semaphore_uses[signal];
                             return std::tie(row.semaphore, row.value) < std::tie(semaphore, value);
                           }) -
      signals.begin());
}

// The signal that satisfies the wait: the smallest value at or above it. kNone: none in the frame.
uint32_t SignalFor(const Declarations& rows, const std::vector<uint32_t>& signals,
                   const SemaphoreRow& wait) {
  for (size_t i = FirstSignal(rows, signals, wait.semaphore, wait.value); i < signals.size(); ++i) {
    const SemaphoreRow& signal = rows.semaphore_uses[signals[i]];
    if (signal.semaphore != wait.semaphore) {
      break;
    }
    // A pass cannot wait for its own signal: the batch waits before it runs and signals when it has
    // ended.
    if (signal.pass != wait.pass) {
      return signals[i];
    }
  }
  return kNone;
}

// The signal of the same timeline with the next larger value.
uint32_t SignalAfter(const Declarations& rows, const std::vector<uint32_t>& signals,
                     const SemaphoreRow& signal) {
  const size_t next = signal.value == ~uint64_t{0}
                          ? signals.size()
                          : FirstSignal(rows, signals, signal.semaphore, signal.value + 1);
  const bool same =
      next < signals.size() && rows.semaphore_uses[signals[next]].semaphore == signal.semaphore;
  return same ? signals[next] : kNone;
}

}  // namespace

// Semaphores order passes like versions do, so they become edges: a wait follows the signal that
// satisfies it, and signals of one timeline follow each other by value, since a timeline must not
// go back. What finds no partner in the frame is for the outside.
void ResolveSemaphores(const Declarations& rows, SemaphoreLinks& out) {
  out.edges.clear();
  out.external.assign(rows.semaphore_uses.size(), 1);
  std::vector<uint32_t>& signals = out.signals;
  SortSignals(rows, signals);
  for (uint32_t i = 0; i < rows.semaphore_uses.size(); ++i) {
    const SemaphoreRow& use = rows.semaphore_uses[i];
    if (use.wait) {
      const uint32_t signal = use.pass == kNone ? kNone : SignalFor(rows, signals, use);
      if (signal != kNone) {
        out.external[i] = 0;
        out.external[signal] = 0;  // what nothing in the frame waits for is for the outside
        out.edges.push_back({.from = rows.semaphore_uses[signal].pass, .to = use.pass});
      }
      continue;
    }
    // A value of zero is a binary semaphore, which has no order among its signals.
    const uint32_t after = use.value == 0 ? kNone : SignalAfter(rows, signals, use);
    if (after != kNone && rows.semaphore_uses[after].pass != use.pass) {
      out.edges.push_back({.from = use.pass, .to = rows.semaphore_uses[after].pass});
    }
  }
}

}  // namespace kiln::graph
