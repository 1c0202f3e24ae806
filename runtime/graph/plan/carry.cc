// SPDX-License-Identifier: MIT
#include "runtime/graph/plan/carry.h"

#include <algorithm>
#include <utility>

#include "compiler/base/hash/checksum.h"

namespace kiln::graph {
namespace {

// As long as objects that no plan used are kept (spec/graph 7.3).
constexpr uint32_t kIdleFrames = 8;

// The state of the object of a slot, without the chain that it serves in this frame.
// Copied field by field: what belongs to the declaration of this frame (its name, its contents)
// must not become part of the digest, or a renamed resource would be planned anew.
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
VkImageUsageFlags PooledUsage(const Declarations& rows, const std::vector<PlanChain>& chains,
                              uint32_t index) {
  const ChainRow& row = rows.chains[index];
  VkImageUsageFlags usage = row.usage;
  for (size_t i = 0; i < chains.size() && chains[index].place != Place::kDedicated; ++i) {
    const bool pooled = chains[i].place == Place::kTemporal || chains[i].place == Place::kHistory;
    if (pooled && SameDescription(rows.chains[i], row)) {
      usage |= rows.chains[i].usage;
    }
  }
  return usage;
}

// The free slot of lowest index whose object the chain can use, or a new one.
// The lowest index decides which of several free objects is taken, so that equal frames take equal
// ones.
uint32_t TakeSlot(const ChainRow& row, VkImageUsageFlags usage, std::vector<TemporalSlot>& slots,
                  std::vector<uint8_t>& taken) {
  for (uint32_t i = 0; i < slots.size(); ++i) {
    if (taken[i] == 0 && SameDescription(slots[i].desc, row) &&
        (usage & ~slots[i].desc.usage) == 0) {
      taken[i] = 1;
      return i;
    }
  }
  slots.emplace_back();
  slots.back().desc = PooledRow(row, usage);
  taken.push_back(1);
  return static_cast<uint32_t>(slots.size() - 1);
}

// The carried slots, a frame older; what was idle for long is dropped.
void CopySlots(const Carried& carried, std::vector<TemporalSlot>& slots) {
  slots.clear();
  for (uint32_t i = 0; i < carried.slots.size(); ++i) {
    const TemporalSlot& slot = carried.slots[i];
    if (slot.idle < kIdleFrames) {
      slots.push_back(slot);
      slots.back().from = i;
      ++slots.back().idle;
    }
  }
}

// What follows writes states and segments field by field: their padding is not part of what they
// mean, and a digest over it would make every frame look new.
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

// A fixed order, whichever objects alternate: by version, free slots last. Without it the digest of
// what is carried would depend on which of two equal objects a frame happened to use, and a frame
// whose structure is unchanged would be planned again every time.
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

// A history must find the very object that holds its contents, so histories choose first.
// Everything else takes any free object of its description, which is how two temporals that depend
// on each other come to alternate between two objects. Slots that no frame used for a while were
// dropped before.
void BindSlots(const SlotInputs& in, std::vector<PlanChain>& chains,
               std::vector<TemporalSlot>& slots) {
  CopySlots(in.carried, slots);
  if (slots.empty() && !in.any_kept) {
    return;
  }
  // Histories first: each continues the slot that holds its version, or starts anew in another.
  std::vector<uint8_t> taken(slots.size(), 0);
  for (uint32_t i = 0; i < chains.size(); ++i) {
    PlanChain& chain = chains[i];
    const uint32_t previous = in.rows.chains[i].previous;
    if (chain.place != Place::kHistory) {
      continue;
    }
    // If the frame before did not run, or left no such version, the history has nothing to
    // continue: it takes a fresh object and is filled with its initial contents.
    for (uint32_t slot = 0; in.follows && previous != kNone && slot < slots.size(); ++slot) {
      if (taken[slot] == 0 && slots[slot].version == previous) {
        chain.slot = slot;
        taken[slot] = 1;
      }
    }
    chain.reset = chain.slot == kNone;
  }
  // What the slots held is used up now; below they get the versions that this frame leaves.
  for (TemporalSlot& slot : slots) {
    slot.version = kNone;
  }
  for (uint32_t i = 0; i < chains.size(); ++i) {
    PlanChain& chain = chains[i];
    const bool wants = chain.place == Place::kTemporal || chain.place == Place::kDedicated ||
                       (chain.place == Place::kHistory && chain.reset);
    if (wants) {
      chain.slot = TakeSlot(in.rows.chains[i], PooledUsage(in.rows, chains, i), slots, taken);
    }
    if (chain.slot != kNone) {
      slots[chain.slot].idle = 0;
    }
  }
  for (uint32_t i = 0; i < in.rows.versions.size(); ++i) {
    const VersionRow& version = in.rows.versions[i];
    const PlanChain& chain = chains[version.chain];
    if (version.temporal != 0 && chain.place == Place::kTemporal) {
      slots[chain.slot].version = i;
    }
  }
}

void LeaveCarried(const std::vector<CellState>& finals, Plan& plan, Bytes& digest_bytes) {
  std::vector<TemporalSlot>& slots = plan.next.slots;
  for (size_t i = 0; i < plan.chains.size() && !slots.empty(); ++i) {
    const PlanChain& chain = plan.chains[i];
    if (chain.slot == kNone) {
      continue;
    }
    TemporalSlot& slot = slots[chain.slot];
    slot.cells.assign(plan.cells.begin() + chain.first_cell,
                      plan.cells.begin() + chain.first_cell + chain.cells);
    slot.states.assign(finals.begin() + chain.first_cell,
                       finals.begin() + chain.first_cell + chain.cells);
  }
  if (!slots.empty()) {
    SortSlots(plan);
  }
  plan.next.digest = DigestOf(plan.next, digest_bytes);
}

}  // namespace kiln::graph
