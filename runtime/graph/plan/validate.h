// SPDX-License-Identifier: MIT
// Rules that concern several declarations at once: cells that a pass uses twice, attachments of
// different sizes, host passes after device passes, outputs that are overwritten, missing
// callbacks. O(passes + accesses), but for passes with several accesses to one chain, whose pairs
// are compared.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/graph/declarations.h"
#include "runtime/graph/plan.h"
#include "runtime/graph/plan/accesses.h"

namespace kiln::graph {

// Kept from frame to frame for its memory.
struct ValidateScratch {
  std::vector<uint32_t> last_use;  // by chain: place in pass_accesses
  std::vector<uint32_t> before;    // by place: the one before it of the same chain and pass
};

// Adds an error for every rule that is broken.
void Validate(const Declarations& rows, const PassAccesses& accesses, const AccessFacts& facts,
              ValidateScratch& scratch, std::vector<GraphError>& errors);

}  // namespace kiln::graph
