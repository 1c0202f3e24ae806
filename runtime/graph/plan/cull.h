// SPDX-License-Identifier: MIT
// Which passes run: roots (side effects, outputs, temporals, imports, semaphores, presentation),
// and whatever makes what a live pass uses. O(passes + accesses). See spec/graph 6.3
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/graph/declarations.h"
#include "runtime/graph/plan.h"

namespace kiln::graph {

struct KeepReasons {
  std::vector<KeepReason> why;      // by pass
  std::vector<uint32_t> needed_by;  // by pass: pass, with kNeeded
  std::vector<uint32_t> stack;      // scratch
};

void Cull(const Declarations& rows, const PassAccesses& accesses, const PlanOptions& options,
          KeepReasons& reasons, LivePasses& out);

}  // namespace kiln::graph
