// SPDX-License-Identifier: MIT
// Who used which bytes last: gives the first use of a packed chain its sources, in this frame and
// across frames. Chains are taken in the order of their first positions; each looks at the tiles
// that it covers, about O(log n) of them. See spec/graph 6.8.3
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/graph/memory/pack_attempt.h"
#include "runtime/graph/memory/place.h"
#include "runtime/graph/plan.h"
#include "runtime/graph/plan/dependencies.h"

namespace kiln::graph {

// Frames that may be in flight at once, and so the age at which bytes are forgotten.
inline constexpr uint32_t kLedgerFrames = 3;

struct LedgerInputs {
  const std::vector<PackItem>& packed;
  const std::vector<PackedClass>& tops;  // by class
  const std::vector<PlanChain>& chains;
  uint32_t positions;
};

// Bytes with one last user; those of a class tile its address space.
struct LedgerTile {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint32_t user = kNone;  // into users; kNone: nobody yet
  uint32_t after = kNone;
};
// A chain, or who had bytes in an earlier frame.
struct LedgerUser {
  Stages stages = 0;
  Accesses writes = 0;
  int32_t last = -1;
  uint32_t chain = kNone;
  uint32_t age = 0;
};
// Where to start looking for an address: the tile that holds the first byte of its bucket.
struct LedgerIndex {
  uint32_t first = 0;   // tile
  uint32_t bucket = 0;  // into buckets
  uint32_t shift = 0;
  uint64_t top = 0;  // of the packing, and of what is carried
};

// Kept from frame to frame for its memory.
struct LedgerScratch {
  std::vector<uint32_t> begins;    // by position: into by_first
  std::vector<uint32_t> by_first;  // packed chains by first position
  std::vector<LedgerUser> users;   // packed chains, then what earlier frames left
  std::vector<LedgerTile> tiles;
  std::vector<LedgerIndex> classes;
  std::vector<uint32_t> buckets;
};

struct LedgerOutputs {
  std::vector<MemoryClass>& classes;     // their ledgers: of the frame before, then of this one
  std::vector<uint32_t>& alias_sources;  // chains whose bytes an entry takes over
  Dependencies& dependencies;            // sources, and from where they make uses wait
};

void RunLedger(const LedgerInputs& in, LedgerScratch& scratch, const LedgerOutputs& out);

}  // namespace kiln::graph
