// SPDX-License-Identifier: MIT
// One look at all accesses: by pass, by the versions that they make and overwrite, in which layout
// each is done, which follow others, and how many each chain has. O(accesses); what later steps
// want to know of every access is counted here, so that they need not look again.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/graph/declarations.h"
#include "runtime/graph/plan.h"

namespace kiln::graph {

// What the steps ask about an access most often.
enum AccessBits : uint8_t {
  kWrites = 1,
  kOnHost = 2,
  kPart = 4,     // not all cells of the chain
  kForgets = 8,  // old contents are not needed
  kBegins = 16,  // creates an image
};

struct AccessFacts {
  std::vector<uint8_t> bits;          // by access: AccessBits
  std::vector<uint8_t> pass_bits;     // by pass: those of its accesses together
  std::vector<uint32_t> followers;    // accesses that follow others: all but creates
  std::vector<uint32_t> def_access;   // by version, and one more: the access that makes it
  std::vector<uint32_t> kill_access;  // by version: the access that overwrites or exports it
  std::vector<uint32_t> chain_begin;  // by chain, and one more: accesses of the chains before it
  bool any_shared = false;            // some pass may have several accesses to one chain
  std::vector<uint32_t> marks;        // scratch
};

// Requires: the rows are those of a Graph without errors.
void GroupAccesses(const Declarations& rows, const PlanOptions& options, AccessFacts& facts,
                   PassAccesses& out);

}  // namespace kiln::graph
