// SPDX-License-Identifier: MIT
// A planned frame as plain data: order, memory, barriers, batches, metrics, and the state that the
// next frame starts from. Rows name passes, accesses, versions and chains of the Declarations by
// index; there is no Vulkan handle in it, so a plan outlives the frame it was made for and serves
// every later frame of the same structure. See spec/graph 2, 6, 9
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/base/digest.h"
#include "runtime/graph/declarations.h"

namespace kiln::graph {

enum class Order : uint8_t { kPriority, kDeclared, kRandom, kLevels };
enum class Effort : uint8_t { kFast, kNormal, kSearch };
enum class BarrierPlaces : uint8_t { kFewest, kAtUse };

struct PlanOptions {
  Order order = Order::kPriority;
  uint64_t seed = 0;  // of kRandom
  Effort effort = Effort::kNormal;
  BarrierPlaces barriers = BarrierPlaces::kFewest;
  bool cull = true;
  bool alias = true;
  bool unify_reads = false;
  double alias_commands = 0.2;  // commands that aliasing may add, per needed one
};

// Levels × layers × aspects.
struct Box {
  uint16_t mip = 0;
  uint16_t mips = 1;
  uint16_t layer = 0;
  uint16_t layers = 1;
  uint32_t aspects = 0;

  friend bool operator==(const Box&, const Box&) = default;
};

// What has happened to a cell so far. See spec/graph 6.9
struct CellState {
  VkImageLayout layout = VK_IMAGE_LAYOUT_UNDEFINED;
  bool pending = false;   // the last write is not available to others
  bool seen_all = false;  // visible to everything
  Stages writer_stages = 0;
  Accesses writer_accesses = 0;
  Stages readers = 0;  // since the last write
  Stages seen_stages = 0;
  Accesses seen_accesses = 0;

  friend bool operator==(const CellState&, const CellState&) = default;
};

// Bytes [begin, end) of a class's address space and who used them last.
struct LedgerSegment {
  uint64_t begin = 0;
  uint64_t end = 0;
  Stages stages = 0;
  Accesses writes = 0;
  int32_t last = -1;       // position, −1 for earlier frames
  uint32_t chain = kNone;  // of this frame
  uint32_t age = 0;        // frames since the use
};

struct MemoryClass {
  uint32_t types = 0;
  ResourceKind kind = ResourceKind::kTexture;
  std::vector<uint64_t> blocks;  // sizes
  std::vector<LedgerSegment> ledger;
};

// An image or buffer that is kept from frame to frame.
struct TemporalSlot {
  ChainRow desc = {};
  uint32_t version = kNone;  // of the last frame that it holds; kNone: free
  uint32_t object = kNone;   // index into the executor's objects
  uint32_t from = kNone;     // in a plan: the slot of the frame before, kNone: a new object
  uint32_t idle = 0;         // frames since it was used
  std::vector<Box> cells;
  std::vector<CellState> states;
};

// What a frame leaves to the next. Replaced only by Commit, after a successful execution.
struct Carried {
  uint32_t frame = kNone;  // serial of the frame that left it; kNone: nothing yet
  uint32_t objects = 0;    // temporal objects made so far
  Hash128 digest;          // of what decides a plan
  std::vector<MemoryClass> classes;
  std::vector<TemporalSlot> slots;  // those that hold a version first, by version
};

enum class KeepReason : uint8_t {
  kNotCulled,  // culling is off
  kOutput,
  kTemporal,
  kImport,
  kSignal,
  kWait,
  kPresent,
  kSideEffect,
  kNeeded,
};

struct PlanPass {
  uint32_t pass = 0;
  uint32_t batch = kNone;
  KeepReason why = KeepReason::kNotCulled;
  uint32_t needed_by = kNone;  // pass, with kNeeded
};

enum class BarrierReason : uint8_t {
  kFirstUse,
  kRaw,
  kWar,
  kWaw,
  kLayout,
  kVisibility,
  kAlias,
  kImport,
  kHistory,
  kPresent,
  kExport,
};

// One dependency: source scope, destination scope, cells, layouts. Sources are the accesses
// [source_begin, source_end) of chain_accesses that touch the cell, and the last users of
// `aliased`.
struct BarrierEntry {
  Stages src_stages = 0;
  Accesses src_accesses = 0;
  Stages dst_stages = 0;
  Accesses dst_accesses = 0;
  VkImageLayout old_layout = VK_IMAGE_LAYOUT_UNDEFINED;
  VkImageLayout new_layout = VK_IMAGE_LAYOUT_UNDEFINED;
  uint32_t chain = 0;
  uint32_t cell = 0;    // global index
  int32_t lo = -1;      // must come after this position …
  int32_t hi = 0;       // … and at or before this one
  uint32_t access = 0;  // the first that it protects
  uint32_t source_begin = 0;
  uint32_t source_end = 0;
  uint32_t alias_begin = 0;  // into alias_sources
  uint32_t alias_end = 0;
  BarrierReason reason = BarrierReason::kFirstUse;
  bool create = false;
  bool outside = false;  // some source lies before the frame
};

// Position before which one barrier command is recorded, with its entries.
struct BarrierPoint {
  uint32_t before = 0;
  uint32_t first_entry = 0;  // into point_entries
  uint32_t entries = 0;
};

struct Batch {
  uint32_t first = 0;  // positions, both included
  uint32_t last = 0;
  uint32_t first_wait = 0;  // into waits
  uint32_t waits = 0;
  uint32_t first_signal = 0;
  uint32_t signals = 0;
};

enum class Place : uint8_t { kNowhere, kPacked, kDedicated, kRing, kTemporal, kHistory, kImported };

// Whether a chain of this place lies in an object that outlives the frame.
inline bool IsKept(Place place) {
  return place == Place::kTemporal || place == Place::kDedicated || place == Place::kHistory;
}

struct PlanChain {
  Place place = Place::kNowhere;  // kNowhere: no live pass uses it
  bool reset = false;             // a history that starts from `initial`
  uint32_t memory_class = kNone;
  uint32_t block = 0;
  uint64_t address = 0;  // in the class's address space; in the ring; blocks lie one after another
  uint64_t offset = 0;   // in the block
  uint64_t size = 0;
  uint64_t alignment = 1;
  int32_t first = -1;  // positions, both included
  int32_t last = -1;
  uint32_t epoch_first = 0;
  uint32_t epoch_last = 0;
  uint32_t slot = kNone;  // of next.slots, for what is not packed
  uint32_t first_cell = 0;
  uint32_t cells = 0;
  uint32_t first_access = 0;  // into chain_accesses
  uint32_t accesses = 0;
  uint32_t final_begin = 0;  // source range of the final state
  uint32_t final_end = 0;
  Stages final_stages = 0;
  Accesses final_writes = 0;
};

struct InitialState {
  uint32_t chain = 0;
  uint32_t cell = 0;
  CellState state;
};

struct MemoryFigures {
  uint64_t no_reuse = 0;
  uint64_t peak_live = 0;
  uint64_t peak_epoch = 0;
  uint64_t allocated = 0;
  uint64_t committed = 0;
};

struct PlanMetrics {
  MemoryFigures all;  // transient images and buffers together
  MemoryFigures images;
  MemoryFigures buffers;
  uint64_t temporal_bytes = 0;
  uint64_t upload_bytes = 0;
  uint64_t readback_bytes = 0;
  uint64_t dedicated_bytes = 0;
  uint32_t commands = 0;
  uint32_t needed = 0;  // lower bound for this order: no plan of it has fewer
  uint32_t chain = 0;   // lower bound over all orders: the best one may need more
  uint32_t entries = 0;
  uint32_t layout_changes = 0;
  uint32_t merged_reads = 0;
  uint32_t culled = 0;
  uint32_t before_wait = 0;   // positions before the first external wait
  uint64_t def_distance = 0;  // sum over passes of the distance to the latest Def
  bool declared_order_valid = false;
  const char* packer = "none";

  uint32_t alias_added() const { return commands - needed; }
  double efficiency() const {
    return all.allocated == 0
               ? 1.0
               : static_cast<double>(all.peak_live) / static_cast<double>(all.allocated);
  }
};

// The accesses of every pass, and the layouts in which they are done.
struct PassAccesses {
  std::vector<uint32_t> pass_begin;  // by pass, and one more: into pass_accesses
  std::vector<uint32_t> pass_accesses;
  std::vector<VkImageLayout> layouts;  // by access, after unify_reads
};

struct LivePasses {
  std::vector<uint8_t> live;     // by pass
  std::vector<uint32_t> culled;  // passes
};

struct PassOrder {
  std::vector<PlanPass> order;  // host passes first, then device passes by position
  uint32_t host_passes = 0;
  std::vector<int32_t> positions;  // by pass: −1 for host and culled passes

  uint32_t device_passes() const { return static_cast<uint32_t>(order.size()) - host_passes; }
  uint32_t PassAt(uint32_t position) const { return order[host_passes + position].pass; }
};

struct PlanChains {
  std::vector<PlanChain> chains;
  std::vector<uint32_t> chain_accesses;  // live accesses by chain, in plan order
  std::vector<Box> cells;
  std::vector<InitialState> initial;  // of imports and histories
};

struct PlanBarriers {
  std::vector<BarrierPoint> points;
  std::vector<BarrierEntry> entries;    // by chain and cell
  std::vector<uint32_t> point_entries;  // by point
  std::vector<uint32_t> alias_sources;  // chains whose bytes an entry takes over

  const BarrierEntry& EntryAt(const BarrierPoint& point, uint32_t i) const {
    return entries[point_entries[point.first_entry + i]];
  }
};

struct PlanBatches {
  std::vector<Batch> batches;
  std::vector<uint32_t> waits;  // semaphore uses
  std::vector<uint32_t> signals;
};

// All parts together; each step of planning writes the parts that its signature names.
struct Plan : PassAccesses, LivePasses, PassOrder, PlanChains, PlanBarriers, PlanBatches {
  PlanOptions options;
  Hash128 structure;
  PlanMetrics metrics;
  Carried next;
};

// Room in `plan` for another of the same size: none of its arrays grows for it.
void ReserveLike(const Plan& other, Plan& plan);

// The object of each of the plan's next.slots; new ones are numbered on from carried.objects.
void BindObjects(const Plan& plan, const Carried& carried, std::vector<uint32_t>& objects);

// Makes `carried` what the plan leaves behind. The frame is the serial of the declarations.
void Commit(const Plan& plan, uint32_t frame, std::span<const uint32_t> objects, Carried& carried);

}  // namespace kiln::graph
