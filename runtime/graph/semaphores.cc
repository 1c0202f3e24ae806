// SPDX-License-Identifier: MIT
// Which signal a wait follows: inside the frame an edge, else a wait for the outside.
#include "runtime/graph/planning.h"

namespace kiln::graph {
namespace {

// The signal that satisfies the wait: the smallest value at or above it. kNone: none in the frame.
uint32_t SignalFor(const Declarations& rows, const SemaphoreRow& wait) {
  uint32_t best = kNone;
  for (uint32_t i = 0; i < rows.semaphore_uses.size(); ++i) {
    const SemaphoreRow& signal = rows.semaphore_uses[i];
    if (signal.wait || signal.semaphore != wait.semaphore || signal.pass == wait.pass) {
      continue;
    }
    const bool enough = wait.value == 0 || signal.value >= wait.value;
    if (enough && (best == kNone || signal.value < rows.semaphore_uses[best].value)) {
      best = i;
    }
  }
  return best;
}

// The signal of the same timeline with the next larger value.
uint32_t SignalAfter(const Declarations& rows, const SemaphoreRow& signal) {
  uint32_t best = kNone;
  for (uint32_t i = 0; i < rows.semaphore_uses.size(); ++i) {
    const SemaphoreRow& other = rows.semaphore_uses[i];
    if (!other.wait && other.semaphore == signal.semaphore && other.value > signal.value &&
        (best == kNone || other.value < rows.semaphore_uses[best].value)) {
      best = i;
    }
  }
  return best;
}

}  // namespace

void ResolveSemaphores(const Declarations& rows, PlanningScratch& scratch) {
  scratch.semaphore_edges.clear();
  scratch.external.assign(rows.semaphore_uses.size(), 0);
  for (uint32_t i = 0; i < rows.semaphore_uses.size(); ++i) {
    const SemaphoreRow& use = rows.semaphore_uses[i];
    if (use.wait) {
      const uint32_t signal = use.pass == kNone ? kNone : SignalFor(rows, use);
      scratch.external[i] = signal == kNone ? 1 : 0;
      if (signal != kNone) {
        scratch.semaphore_edges.push_back(
            {.from = rows.semaphore_uses[signal].pass, .to = use.pass});
      }
      continue;
    }
    const uint32_t after = use.value == 0 ? kNone : SignalAfter(rows, use);
    if (after != kNone && rows.semaphore_uses[after].pass != use.pass) {
      scratch.semaphore_edges.push_back({.from = use.pass, .to = rows.semaphore_uses[after].pass});
    }
  }
  // A signal that nothing in the frame waits for is for the outside.
  for (uint32_t i = 0; i < rows.semaphore_uses.size(); ++i) {
    const SemaphoreRow& signal = rows.semaphore_uses[i];
    if (signal.wait) {
      continue;
    }
    bool inside = false;
    for (const SemaphoreRow& wait : rows.semaphore_uses) {
      inside = inside || (wait.wait && wait.pass != kNone && wait.semaphore == signal.semaphore &&
                          wait.pass != signal.pass && SignalFor(rows, wait) == i);
    }
    scratch.external[i] = inside ? 0 : 1;
  }
}

}  // namespace kiln::graph
