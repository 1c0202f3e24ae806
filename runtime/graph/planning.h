// SPDX-License-Identifier: MIT
// The steps of planning, each a function over flat arrays that are kept from frame to frame. A step
// reads the declarations and what earlier steps wrote. Private to runtime/graph.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/graph/bin_packing.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/plan.h"

namespace kiln::graph {

struct Edge {
  uint32_t from = 0;
  uint32_t to = 0;
  uint16_t def = 0;          // from makes what `to` reads or overwrites
  uint16_t weight = 0;       // 1: a barrier must lie between them
  uint32_t version = kNone;  // kNone: a semaphore
};

// What the steps ask about an access most often.
enum AccessBits : uint8_t {
  kWrites = 1,
  kOnHost = 2,
  kPart = 4,     // not all cells of the chain
  kForgets = 8,  // old contents are not needed
  kBegins = 16,  // creates an image
};

// Whether a chain of this place lies in an object that outlives the frame.
inline bool IsKept(Place place) {
  return place == Place::kTemporal || place == Place::kDedicated || place == Place::kHistory;
}

enum class UseKind : uint8_t { kRead, kWrite, kHost };
// A live access among those of its chain, with all that its barriers depend on.
struct Use {
  Stages stages = 0;
  Accesses accesses = 0;
  uint32_t access = 0;
  int32_t position = -1;
  VkImageLayout layout = VK_IMAGE_LAYOUT_UNDEFINED;
  UseKind kind = UseKind::kRead;
  bool forgets = false;  // old contents are not needed
  Origin origin = Origin::kUser;
};
static_assert(sizeof(Use) == 32);
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

// What its predecessors have told a pass so far.
struct PassState {
  uint32_t missing = 0;          // predecessors that are not scheduled
  uint32_t level = 0;            // barriers on the longest way to it
  uint32_t latest = 0;           // 1 + the largest place in the order of a Def
  uint32_t latest_position = 0;  // the same of positions
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

// Sizes of chains that begin (starts) and end (stops) before a position, and the epochs with the
// bytes that the chains hold in them, the largest first. Those of a memory class, or of all.
struct EpochLoad {
  std::vector<uint64_t> starts;
  std::vector<uint64_t> stops;
  std::vector<Epoch> heap;
  uint64_t peak_live = 0;
};

// Frames that may be in flight at once, and so the age at which bytes are forgotten.
inline constexpr uint32_t kLedgerFrames = 3;

// Bytes with one last user; those of a class tile its address space.
struct LedgerTile {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint32_t user = kNone;  // into ledger_users; kNone: nobody yet
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
  uint32_t bucket = 0;  // into ledger_buckets
  uint32_t shift = 0;
  uint32_t chains = 0;
  uint64_t top = 0;  // of the packing, and of what is carried
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

// The arrays that decide a plan, hashed.
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

// A wait for the outside, in the order of positions.
struct ExternalWait {
  int32_t position = 0;
  Stages stages = 0;  // of this wait and all before it
};

struct PlanningScratch {
  std::vector<SemaphoreUseBytes> use_bytes;
  Bytes digest_bytes;
  std::vector<uint8_t> access_bits;  // by access: AccessBits
  std::vector<uint8_t> pass_bits;    // by pass: those of its accesses together
  bool any_shared = false;           // some pass may have several accesses to one chain
  std::vector<uint32_t> followers;   // accesses that follow others: all but creates
  std::vector<uint32_t> stack;
  std::vector<KeepReason> why;        // by pass
  std::vector<uint32_t> needed_by;    // by pass
  std::vector<uint32_t> def_access;   // by version, and one more: the access that makes it
  std::vector<uint32_t> kill_access;  // by version
  std::vector<Edge> edges;
  std::vector<Edge> semaphore_edges;  // resolved by value
  std::vector<uint8_t> external;      // by semaphore use: waits for the outside
  std::vector<uint32_t> successor_begin;
  std::vector<Successor> successors;
  bool declared_order_valid = true;
  bool any_several_layouts = false;
  std::vector<PassState> states;       // by pass
  std::vector<uint64_t> keys;          // by pass: all fields but k
  std::vector<uint32_t> layout_rank;   // by pass, as the next three: field c of its key
  std::vector<uint32_t> wait_rank;     // field w
  std::vector<uint8_t> waits_outside;  // 1: waits for the outside itself
  std::vector<uint8_t> signal_rank;    // field s
  std::vector<uint64_t> heap;
  std::vector<LayoutGroup> groups;
  std::vector<VkImageLayout> read_layout;  // by version
  std::vector<uint8_t> several_layouts;    // by version
  std::vector<uint32_t> marks;             // by pass or chain
  std::vector<uint32_t> links;
  std::vector<uint32_t> chain_begin;  // by chain, and one more: into uses
  std::vector<int32_t> first;         // by chain: position
  std::vector<int32_t> last;
  std::vector<Use> uses;                 // as plan.chain_accesses
  std::vector<PackItem> packed;          // chains that share memory, with positions
  bool any_kept = false;                 // some chain lies in an object that outlives the frame
  std::vector<int32_t> max_lo;           // by position: from where its dependencies wait
  std::vector<uint8_t> chosen;           // by position: a point
  std::vector<uint32_t> epochs;          // by position
  EpochLoad load;                        // of all chains that share memory
  std::vector<EpochLoad> loads;          // by memory class, if there are several
  std::vector<uint32_t> epoch_ends;      // by position: where the epoch that begins there ends
  std::vector<uint32_t> entry_begin;     // by chain, and one more: into entries, as they are found
  std::vector<uint32_t> by_first;        // packed chains by first position
  std::vector<LedgerUser> ledger_users;  // packed chains, then what earlier frames left
  std::vector<LedgerTile> tiles;
  std::vector<LedgerIndex> ledgers;  // by memory class
  std::vector<uint32_t> ledger_buckets;
  std::vector<PackItem> items;
  PackScratch pack;
  std::array<Placement, kPlacements> placements;
  uint64_t placement_clock = 0;
  uint64_t placement_hits = 0;
  std::vector<uint32_t> entry_point;  // by entry: index of its point
  std::vector<CellState> finals;      // by cell, of temporal chains
  std::vector<uint32_t> signals;      // semaphore uses, by semaphore and value
  std::vector<ExternalWait> waits;
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

// structure.cc
Structure StructureOf(const Planning& planning);
// The first array in which two frames differ; empty if there is no other frame.
const char* FirstDifference(const Structure& a, const Structure& b);

// accesses.cc: accesses by pass, how many each chain has, those that make and overwrite every
// version, layouts.
void GroupAccesses(Planning& planning);
// validate.cc: everything that concerns more than one declaration.
void Validate(Planning& planning);

// semaphores.cc: edges between signals and waits, and which waits are for the outside.
void ResolveSemaphores(const Declarations& rows, PlanningScratch& scratch);

// cull.cc
void Cull(Planning& planning);

// edges.cc: edges, the bounds at which passes start, versions that are read in several layouts.
void MakeEdges(Planning& planning);

// schedule.cc: false if there is a cycle, which is reported.
bool Schedule(Planning& planning);
// Reports a cycle among the passes that are live. Requires: MakeEdges.
bool AnyCycle(Planning& planning);
// The passes of one shortest cycle among those with missing predecessors.
void ReportCycle(Planning& planning);

// cells.cc: lifetimes and live accesses by chain; then, with slots bound, the cells of one after
// the other.
void CollectChains(Planning& planning);
void AddCells(Planning& planning, uint32_t index);

// dependencies.cc: cells, and the dependencies of each, without the sources of creates.
void WalkCells(Planning& planning);

// barriers.cc
// Chooses the points that the dependencies need.
void ChoosePoints(Planning& planning);
// Puts every entry at its point.
void EmitEntries(Planning& planning);

// epochs.cc: adds points while they save memory, and numbers the epochs between them.
void SplitEpochs(Planning& planning);

// place.cc, bin_packing.cc, ledger.cc
bool MeasureChains(Planning& planning);  // false: a description that the model refuses
void PlaceChains(Planning& planning);
void RunLedger(Planning& planning);

// batches.cc
void CollectWaits(Planning& planning);  // those for the outside
void MakeBatches(Planning& planning);

// carry.cc: the slots of temporals and histories, and what the next frame starts from.
void BindSlots(Planning& planning);
void LeaveCarried(Planning& planning);

// metrics.cc
void Measure(Planning& planning);

}  // namespace kiln::graph
