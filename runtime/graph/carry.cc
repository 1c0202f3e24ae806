// SPDX-License-Identifier: MIT
// What one frame leaves to the next: images and buffers that are kept, and who used which bytes
// last. See spec/graph 7.6, 7.7
#include <algorithm>

#include "compiler/base/checksum.h"
#include "runtime/graph/planning.h"

namespace kiln::graph {
namespace {

constexpr uint32_t kIdleFrames = 8;

// Objects of one pool, whatever they are used for.
bool SamePool(const ChainRow& a, const ChainRow& b) {
  return a.kind == b.kind && a.size == b.size && a.type == b.type && a.format == b.format &&
         a.extent.width == b.extent.width && a.extent.height == b.extent.height &&
         a.extent.depth == b.extent.depth && a.mips == b.mips && a.layers == b.layers &&
         a.samples == b.samples && a.flags == b.flags;
}

// The state of the object of a slot, without the chain that it serves in this frame.
ChainRow PooledRow(const ChainRow& row, VkImageUsageFlags usage) {
  ChainRow out{};
  out.kind = row.kind;
  out.object = Object::kTemporal;
  out.size = row.size;
  out.type = row.type;
  out.format = row.format;
  out.extent = row.extent;
  out.mips = row.mips;
  out.layers = row.layers;
  out.samples = row.samples;
  out.flags = row.flags;
  out.aspects = row.aspects;
  out.usage = usage;
  out.previous = kNone;
  out.acquire = kNone;
  return out;
}

// Temporals and histories of one description take turns in the same objects, so each object can do
// what all of them do.
VkImageUsageFlags PooledUsage(const Planning& planning, uint32_t index) {
  const ChainRow& row = planning.rows.chains[index];
  const std::vector<PlanChain>& chains = planning.plan.chains;
  VkImageUsageFlags usage = row.usage;
  for (size_t i = 0; i < chains.size() && chains[index].place != Place::kDedicated; ++i) {
    const bool pooled = chains[i].place == Place::kTemporal || chains[i].place == Place::kHistory;
    if (pooled && SamePool(planning.rows.chains[i], row)) {
      usage |= planning.rows.chains[i].usage;
    }
  }
  return usage;
}

// The free slot of lowest index whose object the chain can use, or a new one.
uint32_t TakeSlot(Planning& planning, uint32_t chain, std::vector<uint8_t>& taken) {
  std::vector<TemporalSlot>& slots = planning.plan.next.slots;
  const ChainRow& row = planning.rows.chains[chain];
  const VkImageUsageFlags usage = PooledUsage(planning, chain);
  for (uint32_t i = 0; i < slots.size(); ++i) {
    if (taken[i] == 0 && SamePool(slots[i].desc, row) && (usage & ~slots[i].desc.usage) == 0) {
      taken[i] = 1;
      return i;
    }
  }
  slots.emplace_back();
  slots.back().desc = PooledRow(row, usage);
  taken.push_back(1);
  return static_cast<uint32_t>(slots.size() - 1);
}

void CopySlots(Planning& planning) {
  std::vector<TemporalSlot>& slots = planning.plan.next.slots;
  slots.clear();
  for (uint32_t i = 0; i < planning.carried.slots.size(); ++i) {
    const TemporalSlot& slot = planning.carried.slots[i];
    if (slot.idle < kIdleFrames) {
      slots.push_back(slot);
      slots.back().from = i;
      ++slots.back().idle;
    }
  }
}

void AppendBytes(Bytes& out, const void* data, size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  out.insert(out.end(), bytes, bytes + size);
}
template <class T>
void AppendValue(Bytes& out, T value) {
  AppendBytes(out, &value, sizeof(value));
}

void AppendState(Bytes& out, const CellState& state) {
  AppendValue(out, state.layout);
  AppendValue(out, state.pending);
  AppendValue(out, state.seen_all);
  AppendValue(out, state.writer_stages);
  AppendValue(out, state.writer_accesses);
  AppendValue(out, state.readers);
  AppendValue(out, state.seen_stages);
  AppendValue(out, state.seen_accesses);
}

// A fixed order, whichever objects alternate: by version, free slots last.
void SortSlots(Plan& plan) {
  std::vector<TemporalSlot>& slots = plan.next.slots;
  std::vector<uint32_t> order(slots.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return slots[a].version < slots[b].version; });
  std::vector<TemporalSlot> sorted(slots.size());
  std::vector<uint32_t> moved(slots.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    sorted[i] = std::move(slots[order[i]]);
    moved[order[i]] = i;
  }
  slots = std::move(sorted);
  for (PlanChain& chain : plan.chains) {
    chain.slot = chain.slot == kNone ? kNone : moved[chain.slot];
  }
}

// The digest of everything here that decides the plan of the next frame.
Hash128 DigestOf(const Carried& carried, Bytes& out) {
  out.clear();
  for (const MemoryClass& memory_class : carried.classes) {
    AppendValue(out, memory_class.types);
    AppendValue(out, memory_class.kind);
    AppendValue(out, memory_class.blocks.size());
    AppendBytes(out, memory_class.blocks.data(), memory_class.blocks.size() * sizeof(uint64_t));
    AppendValue(out, memory_class.ledger.size());
    for (const LedgerSegment& segment : memory_class.ledger) {
      AppendValue(out, segment.begin);
      AppendValue(out, segment.end);
      AppendValue(out, segment.stages);
      AppendValue(out, segment.writes);
      AppendValue(out, segment.age);
    }
  }
  for (const TemporalSlot& slot : carried.slots) {
    AppendValue(out, slot.desc);
    AppendValue(out, slot.version);
    AppendValue(out, slot.idle);
    AppendValue(out, slot.cells.size());
    AppendBytes(out, slot.cells.data(), slot.cells.size() * sizeof(Box));
    for (const CellState& state : slot.states) {
      AppendState(out, state);
    }
  }
  return Checksum(out);
}

}  // namespace

void BindSlots(Planning& planning) {
  Plan& plan = planning.plan;
  CopySlots(planning);
  std::vector<TemporalSlot>& slots = plan.next.slots;
  if (slots.empty() && !planning.scratch.any_kept) {
    return;
  }
  std::vector<uint8_t> taken(slots.size(), 0);
  const bool follows = planning.carried.frame == planning.graph.previous().frame;
  for (uint32_t i = 0; i < plan.chains.size(); ++i) {
    PlanChain& chain = plan.chains[i];
    const uint32_t previous = planning.rows.chains[i].previous;
    if (chain.place != Place::kHistory) {
      continue;
    }
    for (uint32_t slot = 0; follows && previous != kNone && slot < slots.size(); ++slot) {
      if (taken[slot] == 0 && slots[slot].version == previous) {
        chain.slot = slot;
        taken[slot] = 1;
      }
    }
    chain.reset = chain.slot == kNone;
  }
  for (TemporalSlot& slot : slots) {
    slot.version = kNone;
  }
  for (uint32_t i = 0; i < plan.chains.size(); ++i) {
    PlanChain& chain = plan.chains[i];
    const bool wants = chain.place == Place::kTemporal || chain.place == Place::kDedicated ||
                       (chain.place == Place::kHistory && chain.reset);
    if (wants) {
      chain.slot = TakeSlot(planning, i, taken);
    }
    if (chain.slot != kNone) {
      slots[chain.slot].idle = 0;
    }
  }
  for (uint32_t i = 0; i < planning.rows.versions.size(); ++i) {
    const VersionRow& version = planning.rows.versions[i];
    const PlanChain& chain = plan.chains[version.chain];
    if (version.temporal != 0 && chain.place == Place::kTemporal) {
      slots[chain.slot].version = i;
    }
  }
}

void LeaveCarried(Planning& planning) {
  Plan& plan = planning.plan;
  std::vector<TemporalSlot>& slots = plan.next.slots;
  for (size_t i = 0; i < plan.chains.size() && !slots.empty(); ++i) {
    const PlanChain& chain = plan.chains[i];
    if (chain.slot == kNone) {
      continue;
    }
    TemporalSlot& slot = slots[chain.slot];
    slot.cells.assign(plan.cells.begin() + chain.first_cell,
                      plan.cells.begin() + chain.first_cell + chain.cells);
    slot.states.assign(planning.scratch.finals.begin() + chain.first_cell,
                       planning.scratch.finals.begin() + chain.first_cell + chain.cells);
  }
  if (!slots.empty()) {
    SortSlots(plan);
  }
  plan.next.digest = DigestOf(plan.next, planning.scratch.digest_bytes);
}

void ReserveLike(const Plan& other, Plan& plan) {
  const auto reserve = [](auto& array, const auto& like) { array.reserve(like.size()); };
  reserve(plan.order, other.order);
  reserve(plan.culled, other.culled);
  reserve(plan.positions, other.positions);
  reserve(plan.live, other.live);
  reserve(plan.pass_begin, other.pass_begin);
  reserve(plan.pass_accesses, other.pass_accesses);
  reserve(plan.layouts, other.layouts);
  reserve(plan.chains, other.chains);
  reserve(plan.chain_accesses, other.chain_accesses);
  reserve(plan.cells, other.cells);
  reserve(plan.initial, other.initial);
  reserve(plan.points, other.points);
  reserve(plan.entries, other.entries);
  reserve(plan.point_entries, other.point_entries);
  reserve(plan.alias_sources, other.alias_sources);
  reserve(plan.batches, other.batches);
  reserve(plan.waits, other.waits);
  reserve(plan.signals, other.signals);
  plan.next.classes.resize(std::max(plan.next.classes.size(), other.next.classes.size()));
  for (size_t i = 0; i < other.next.classes.size(); ++i) {
    reserve(plan.next.classes[i].blocks, other.next.classes[i].blocks);
    reserve(plan.next.classes[i].ledger, other.next.classes[i].ledger);
  }
  reserve(plan.next.slots, other.next.slots);
}

void BindObjects(const Plan& plan, const Carried& carried, std::vector<uint32_t>& objects) {
  objects.clear();
  uint32_t made = carried.objects;
  for (const TemporalSlot& slot : plan.next.slots) {
    objects.push_back(slot.from == kNone ? made++ : carried.slots[slot.from].object);
  }
}

void Commit(const Plan& plan, uint32_t frame, std::span<const uint32_t> objects, Carried& carried) {
  uint32_t made = carried.objects;
  for (const TemporalSlot& slot : plan.next.slots) {
    made += slot.from == kNone ? 1 : 0;
  }
  const bool steady =
      carried.digest == plan.next.digest && carried.slots.size() == plan.next.slots.size();
  if (!steady) {
    carried = plan.next;
  }
  for (size_t i = 0; i < carried.slots.size(); ++i) {
    carried.slots[i].object = objects[i];
  }
  carried.objects = made;
  carried.frame = frame;
}

}  // namespace kiln::graph
