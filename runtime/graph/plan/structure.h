// SPDX-License-Identifier: MIT
// What decides a plan, as hashes: one for each array, and one of all of them. Arrays are hashed in
// place, so an unchanged frame costs one pass over its declarations, and for a changed one the
// hashes tell which array changed. See spec/graph 9.5
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "compiler/base/digest.h"
#include "runtime/graph/declarations.h"
#include "runtime/graph/plan.h"
#include "runtime/graph/plan/semaphores.h"

namespace kiln::graph {

inline constexpr size_t kStructureArrays = 8;
struct Structure {
  std::array<Hash128, kStructureArrays> arrays;
  Hash128 all;
};

// A semaphore use without its value.
struct SemaphoreUseBytes {
  uint64_t stages;
  uint32_t pass;
  uint32_t semaphore;
  uint32_t wait;
  uint32_t external;
};

struct StructureInputs {
  const Declarations& rows;
  const SemaphoreLinks& semaphores;
  const PlanOptions& options;
  uint64_t model;  // identity of the memory model
  const Hash128& carried;
  bool follows;  // what is carried was left by the frame before
};

Structure StructureOf(const StructureInputs& in, std::vector<SemaphoreUseBytes>& scratch);
// The first array in which two frames differ; empty if there is no other frame.
const char* FirstDifference(const Structure& a, const Structure& b);

}  // namespace kiln::graph
