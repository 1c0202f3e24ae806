// SPDX-License-Identifier: MIT
// The steps of planning, each a function over flat arrays that are kept from frame to frame. A step
// reads the declarations and what earlier steps wrote. Private to runtime/graph.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/pack.h"
#include "runtime/graph/plan.h"

namespace kiln::graph {

struct Edge {
  uint32_t from = 0;
  uint32_t to = 0;
  uint8_t def = 0;           // from makes what `to` reads or overwrites
  uint8_t weight = 0;        // 1: a barrier must lie between them
  uint32_t version = kNone;  // kNone: a semaphore
};
// Whether two accesses to one chain have a texel or byte in common.
bool CellsMeet(const AccessRow& a, const AccessRow& b);
// Whether an access touches the cell.
bool Covers(const AccessRow& access, const Box& cell);

// A successor, packed: pass, def and weight.
struct Successor {
  uint32_t pass : 30;
  uint32_t def : 1;
  uint32_t weight : 1;
};

// Readers of a version in one layout, linked.
struct LayoutGroup {
  VkImageLayout layout = VK_IMAGE_LAYOUT_UNDEFINED;
  uint32_t next = kNone;
};

// Positions [begin, end) without a barrier point inside, and the bytes that chains hold in it.
struct Epoch {
  uint64_t sum = 0;
  uint32_t begin = 0;
  uint32_t end = 0;
};

// Frames that may be in flight at once, and so the age at which bytes are forgotten.
inline constexpr uint32_t kLedgerFrames = 3;

// Bytes with one last user; those of a class tile its address space.
struct LedgerTile {
  LedgerSegment segment;
  uint32_t after = kNone;
  bool used = false;  // false: nobody's yet
};
// Where to start looking for an address: the tile that holds the first byte of its bucket.
struct LedgerIndex {
  uint32_t first = 0;   // tile
  uint32_t bucket = 0;  // into ledger_buckets
  uint32_t shift = 0;
  uint32_t chains = 0;
  uint64_t top = 0;
};

// A packing that was found, with everything that it depends on.
struct Placement {
  std::vector<PackItem> items;
  std::vector<uint64_t> blocks;
  std::vector<uint64_t> begins;  // by item
  PackResult result;
  Effort effort = Effort::kNormal;
  uint64_t used = 0;  // 0: empty
};
inline constexpr size_t kPlacements = 8;

struct PlanningScratch {
  std::vector<uint32_t> chain_of;  // by access
  std::vector<uint32_t> stack;
  std::vector<Why> why;               // by pass
  std::vector<uint32_t> needed_by;    // by pass
  std::vector<uint32_t> def_access;   // by version: the access that makes it
  std::vector<uint32_t> kill_access;  // by version
  std::vector<Edge> edges;
  std::vector<Edge> semaphore_edges;  // resolved by value
  std::vector<uint8_t> external;      // by semaphore use: waits for the outside
  std::vector<uint32_t> successor_begin;
  std::vector<Successor> successors;
  std::vector<uint32_t> missing;  // by pass: predecessors that are not scheduled
  std::vector<uint32_t> k;
  std::vector<uint32_t> c;
  std::vector<uint32_t> w;
  std::vector<uint8_t> w_own;
  std::vector<uint8_t> s;
  std::vector<uint32_t> level;
  std::vector<uint64_t> heap;
  std::vector<LayoutGroup> groups;
  std::vector<VkImageLayout> read_layout;  // by version
  std::vector<uint8_t> several_layouts;    // by version
  std::vector<uint32_t> marks;             // by pass or chain
  std::vector<uint32_t> links;
  std::vector<int32_t> max_lo;   // by position: from where its dependencies wait
  std::vector<uint8_t> chosen;   // by position: a point
  std::vector<uint32_t> epochs;  // by position
  std::vector<uint64_t> starts;  // prefix sums of sizes by position
  std::vector<uint64_t> stops;
  std::vector<Epoch> epoch_heap;
  std::vector<uint32_t> create_entry;  // by chain
  std::vector<uint32_t> by_first;      // chains by first position
  std::vector<LedgerTile> tiles;
  std::vector<LedgerIndex> ledgers;  // by memory class
  std::vector<uint32_t> ledger_buckets;
  std::vector<PackItem> items;
  PackScratch pack;
  std::array<Placement, kPlacements> placements;
  uint64_t placement_clock = 0;
  uint64_t placement_hits = 0;
  std::vector<Entry> entries;  // in the order of the walk
  std::vector<uint32_t> entry_count;
  std::vector<uint16_t> borders;
  std::vector<CellState> finals;  // by cell, of temporal chains
  std::vector<uint32_t> signals;  // semaphore uses, by semaphore and value
  std::vector<int32_t> wait_positions;
};

struct Planning {
  const Declarations& rows;
  const Graph& graph;
  const PlanOptions& options;
  const Carried& carried;
  MemoryModel& model;
  PlanningScratch& scratch;
  Plan& plan;
  std::vector<GraphError>& errors;
};

// Adds an error that names passes and versions. The message is code, names and detail.
struct ErrorNames {
  std::span<const uint32_t> passes;
  std::span<const uint32_t> versions;
};
void AddError(Planning& planning, std::string_view code, const ErrorNames& names,
              std::string_view detail);

// validate.cc: everything that concerns more than one declaration.
void GroupAccesses(Planning& planning);
void Validate(Planning& planning);

// semaphores.cc: edges between signals and waits, and which waits are for the outside.
void ResolveSemaphores(const Declarations& rows, PlanningScratch& scratch);

// cull.cc
void Cull(Planning& planning);

// edges.cc
void MakeEdges(Planning& planning);

// schedule.cc: false if there is a cycle, which is reported.
bool Schedule(Planning& planning);
// Reports a cycle among the passes that are live. Requires: MakeEdges.
bool AnyCycle(Planning& planning);
// The passes of one shortest cycle among those with missing predecessors.
void ReportCycle(Planning& planning);

// cells.cc: lifetimes and live accesses by chain; then, with slots bound, cells.
void CollectChains(Planning& planning);
void CollectCells(Planning& planning);

// barriers.cc: dependencies of every cell, without the sources of creates.
void WalkCells(Planning& planning);
// Chooses the points that the dependencies need.
void ChoosePoints(Planning& planning);
// Puts every entry at its point.
void EmitEntries(Planning& planning);

// place.cc, pack.cc, ledger.cc
bool MeasureChains(Planning& planning);  // false: a description that the model refuses
void SplitEpochs(Planning& planning);
void PlaceChains(Planning& planning);
void RunLedger(Planning& planning);

// batches.cc
void CollectWaits(Planning& planning);  // positions of external waits
void MakeBatches(Planning& planning);

// carry.cc: the slots of temporals and histories, and what the next frame starts from.
void BindSlots(Planning& planning);
void LeaveCarried(Planning& planning);
Hash128 DigestOf(const Carried& carried);

// metrics.cc
void Measure(Planning& planning);

}  // namespace kiln::graph
