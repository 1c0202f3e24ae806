// SPDX-License-Identifier: MIT
// Which memory every chain lies in, and its bytes.
// See spec/graph 6.6, 6.8.2
#include <algorithm>
#include <iterator>

#include "runtime/graph/formats.h"
#include "runtime/graph/planning.h"

namespace kiln::graph {
namespace {

constexpr uint64_t kMinBlock = uint64_t{64} << 20;
constexpr uint64_t kBlockUnit = uint64_t{1} << 20;

uint64_t AlignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

uint32_t ClassOf(Carried& next, uint32_t types, ResourceKind kind) {
  for (uint32_t i = 0; i < next.classes.size(); ++i) {
    if (next.classes[i].types == types && next.classes[i].kind == kind) {
      return i;
    }
  }
  next.classes.push_back({.types = types, .kind = kind, .blocks = {}, .ledger = {}});
  return static_cast<uint32_t>(next.classes.size() - 1);
}

bool NeedsOf(Planning& planning, const ChainRow& row, MemoryNeeds& needs) {
  if (!row.texture()) {
    needs = planning.model.Buffer({.size = row.size, .memory = row.memory});
    return true;
  }
  const bool known = planning.model.Texture(row.Texture(), needs);
  if (row.size != 0) {
    needs.size = AlignUp(row.size, needs.alignment);
  }
  return known;
}

Place PlaceOf(const ChainRow& row, const MemoryNeeds& needs) {
  switch (row.object) {
    case Object::kImported:
      return Place::kImported;
    case Object::kHistory:
      return Place::kHistory;
    case Object::kTemporal:
      return Place::kTemporal;
    case Object::kTransient:
      break;
  }
  if (row.memory != MemoryKind::kDevice) {
    return Place::kRing;
  }
  return needs.dedicated ? Place::kDedicated : Place::kPacked;
}

// The kind of memory of a chain, and its needs there. False: the device has no such texture.
bool MeasureChain(Planning& planning, uint32_t index, PlanChain& chain) {
  const ChainRow& row = planning.rows.chains[index];
  PlanningScratch& scratch = planning.scratch;
  MemoryNeeds needs;
  if (row.object != Object::kImported && !NeedsOf(planning, row, needs)) {
    const uint32_t versions[] = {row.first_version};
    AddError(planning, "UNSUPPORTED_FORMAT", {{}, versions},
             "is a texture that the device has not");
    return false;
  }
  chain.place = PlaceOf(row, needs);
  chain.size = needs.size;
  chain.alignment = needs.alignment;
  if (chain.place == Place::kPacked) {
    chain.memory_class = ClassOf(planning.plan.next, needs.types, row.kind);
    PackItem& item = scratch.packed.emplace_back();
    item.size = needs.size;
    item.alignment = needs.alignment;
    item.first = static_cast<uint32_t>(chain.first);
    item.last = static_cast<uint32_t>(chain.last);
    item.chain = index;
    item.memory_class = chain.memory_class;
  } else {
    scratch.any_kept = scratch.any_kept || IsKept(chain.place);
  }
  return true;
}

void PlaceApart(Planning& planning, uint64_t& upload, uint64_t& readback) {
  for (uint32_t i = 0; i < planning.plan.chains.size(); ++i) {
    PlanChain& chain = planning.plan.chains[i];
    if (chain.place == Place::kRing) {
      uint64_t& top = planning.rows.chains[i].memory == MemoryKind::kUpload ? upload : readback;
      chain.address = AlignUp(top, chain.alignment);
      chain.offset = chain.address;
      top = chain.address + chain.size;
    }
  }
}

// Turns positions into epochs.
void FindEpochs(Planning& planning) {
  PlanningScratch& scratch = planning.scratch;
  for (PackItem& item : scratch.packed) {
    item.first = scratch.epochs[item.first];
    item.last = scratch.epochs[item.last];
  }
}

// The chains of a class; as if all were alive together where nothing may share memory.
std::span<const PackItem> ItemsOf(Planning& planning, uint32_t memory_class) {
  PlanningScratch& scratch = planning.scratch;
  if (planning.options.alias && planning.plan.next.classes.size() == 1) {
    return scratch.packed;
  }
  scratch.items.clear();
  std::copy_if(scratch.packed.begin(), scratch.packed.end(), std::back_inserter(scratch.items),
               [&](const PackItem& item) { return item.memory_class == memory_class; });
  for (size_t i = 0; i < scratch.items.size() && !planning.options.alias; ++i) {
    scratch.items[i].first = 0;
    scratch.items[i].last = 0;
  }
  return scratch.items;
}

// Blocks for an address space of `top` bytes.
void GrowBlocks(std::vector<uint64_t>& blocks, uint64_t top) {
  uint64_t sum = 0;
  for (const uint64_t block : blocks) {
    sum += block;
  }
  if (top > sum) {
    blocks.push_back(AlignUp(std::max(kMinBlock, top - sum), kBlockUnit));
  }
}

bool SameItem(const PackItem& a, const PackItem& b) {
  return a.size == b.size && a.alignment == b.alignment && a.first == b.first && a.last == b.last;
}

// The placement of the items: one of the last few that were found for equal sizes, epochs and
// blocks, else a new one. Another order or other barriers often leave memory as it was.
const Placement& FindPlacement(PlanningScratch& scratch, std::span<const PackItem> items,
                               const std::vector<uint64_t>& blocks, Effort effort) {
  Placement* oldest = scratch.placements.data();
  for (Placement& known : scratch.placements) {
    if (known.used != 0 && known.effort == effort && known.blocks == blocks &&
        std::equal(known.items.begin(), known.items.end(), items.begin(), items.end(), SameItem)) {
      known.used = ++scratch.placement_clock;
      ++scratch.placement_hits;
      return known;
    }
    oldest = known.used < oldest->used ? &known : oldest;
  }
  oldest->result = Pack(items, blocks, effort, scratch.pack);
  oldest->items.assign(items.begin(), items.end());
  oldest->blocks = blocks;
  std::swap(oldest->begins, scratch.pack.best);
  oldest->effort = effort;
  oldest->used = ++scratch.placement_clock;
  return *oldest;
}

void AssignAddresses(Planning& planning, uint32_t index, const Placement& placement) {
  const PlanningScratch& scratch = planning.scratch;
  std::vector<uint64_t>& blocks = planning.plan.next.classes[index].blocks;
  GrowBlocks(blocks, placement.result.top);
  const uint64_t* begin = placement.begins.data();
  for (const PackItem& item : scratch.packed) {
    if (item.memory_class != index) {
      continue;
    }
    PlanChain& chain = planning.plan.chains[item.chain];
    chain.epoch_first = item.first;
    chain.epoch_last = item.last;
    chain.address = *begin;
    uint64_t offset = *begin++;
    uint32_t block = 0;
    while (offset >= blocks[block]) {
      offset -= blocks[block++];
    }
    chain.offset = offset;
    chain.block = block;
  }
}

}  // namespace

bool TexelModel::Texture(const TextureDesc& desc, MemoryNeeds& needs) {
  needs = {
      .size = AlignUp(TexelBytes(desc), 256), .alignment = 256, .types = 1, .dedicated = false};
  return true;
}

MemoryNeeds TexelModel::Buffer(const BufferDesc& desc) {
  return {.size = AlignUp(desc.size, 256), .alignment = 256, .types = 1, .dedicated = false};
}

bool MeasureChains(Planning& planning) {
  Plan& plan = planning.plan;
  PlanningScratch& scratch = planning.scratch;
  const auto chains = static_cast<uint32_t>(planning.rows.chains.size());
  plan.next.classes = planning.carried.classes;
  plan.chains.resize(chains);
  scratch.packed.clear();
  scratch.any_kept = false;
  for (uint32_t i = 0; i < chains; ++i) {
    PlanChain& chain = plan.chains[i];
    chain = {};
    chain.first = scratch.first[i];
    chain.last = scratch.last[i];
    chain.first_access = scratch.chain_begin[i];
    chain.accesses = scratch.chain_begin[i + 1] - scratch.chain_begin[i];
    if (chain.accesses != 0 && !MeasureChain(planning, i, chain)) {
      return false;
    }
  }
  return true;
}

void PlaceChains(Planning& planning) {
  Plan& plan = planning.plan;
  PlanningScratch& scratch = planning.scratch;
  PlanMetrics& metrics = plan.metrics;
  FindEpochs(planning);
  metrics.upload_bytes = 0;
  metrics.readback_bytes = 0;
  if (scratch.packed.size() < plan.chains.size()) {
    PlaceApart(planning, metrics.upload_bytes, metrics.readback_bytes);
  }
  metrics.all.allocated = 0;
  metrics.images.allocated = 0;
  metrics.buffers.allocated = 0;
  metrics.packer = "none";
  scratch.ledgers.assign(plan.next.classes.size(), {});
  for (uint32_t i = 0; i < plan.next.classes.size(); ++i) {
    MemoryClass& memory_class = plan.next.classes[i];
    const std::span<const PackItem> items = ItemsOf(planning, i);
    if (items.empty()) {
      continue;
    }
    const Placement& placement =
        FindPlacement(scratch, items, memory_class.blocks,
                      planning.options.alias ? planning.options.effort : Effort::kFast);
    scratch.ledgers[i].chains = static_cast<uint32_t>(items.size());
    scratch.ledgers[i].top = placement.result.top;
    AssignAddresses(planning, i, placement);
    MemoryFigures& figures =
        memory_class.kind == ResourceKind::kTexture ? metrics.images : metrics.buffers;
    figures.allocated += placement.result.top;
    metrics.all.allocated += placement.result.top;
    metrics.packer = memory_class.kind == ResourceKind::kTexture || metrics.images.allocated == 0
                         ? placement.result.packer
                         : metrics.packer;
  }
}

}  // namespace kiln::graph
