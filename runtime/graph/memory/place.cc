// SPDX-License-Identifier: MIT
// Gives every chain an address in its class (spec/graph 7). Chains that are never alive in one
// epoch may have the same bytes; how they are packed is decided by the packers and remembered
// (memo), because most frames equal the one before.
#include "runtime/graph/memory/place.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "runtime/graph/memory_model.h"

namespace kiln::graph {
namespace {

constexpr uint64_t kMinBlock = uint64_t{64} << 20;
constexpr uint64_t kBlockUnit = uint64_t{1} << 20;

// Chains of the host lie one after the other: nothing knows when the host is done with one. Offsets
// count from the beginning of the ring of a frame.
void PlaceApart(const Declarations& rows, const PlacedChains& out) {
  for (uint32_t i = 0; i < out.chains.size(); ++i) {
    PlanChain& chain = out.chains[i];
    if (chain.place == Place::kRing) {
      uint64_t& top = rows.chains[i].memory == MemoryKind::kUpload ? out.metrics.upload_bytes
                                                                   : out.metrics.readback_bytes;
      chain.address = AlignUp(top, chain.alignment);
      chain.offset = chain.address;
      top = chain.address + chain.size;
    }
  }
}

// The chains of a class; as if all were alive together where nothing may share memory.
std::span<const PackItem> ItemsOf(const PlacedChains& out, uint32_t memory_class, bool alias,
                                  std::vector<PackItem>& items) {
  // With one class the items need not be copied.
  if (alias && out.classes.size() == 1) {
    return out.packed;
  }
  items.clear();
  std::copy_if(out.packed.begin(), out.packed.end(), std::back_inserter(items),
               [&](const PackItem& item) { return item.memory_class == memory_class; });
  for (size_t i = 0; i < items.size() && !alias; ++i) {
    items[i].first = 0;
    items[i].last = 0;
  }
  return items;
}

// Blocks for an address space of `top` bytes.
void GrowBlocks(std::vector<uint64_t>& blocks, uint64_t top) {
  uint64_t sum = 0;
  for (const uint64_t block : blocks) {
    sum += block;
  }
  if (top > sum) {
    // New blocks are large, so that a frame which grows a little does not allocate each time.
    blocks.push_back(AlignUp(std::max(kMinBlock, top - sum), kBlockUnit));
  }
}

// Packers see one address space per class. Its blocks are allocations of the device, laid end to
// end; an item never crosses a border, so the block and the offset in it follow from the address.
void AssignAddresses(const PlacedChains& out, uint32_t index, const Placement& placement) {
  std::vector<uint64_t>& blocks = out.classes[index].blocks;
  GrowBlocks(blocks, placement.result.top);
  const uint64_t* begin = placement.begins.data();
  for (const PackItem& item : out.packed) {
    if (item.memory_class != index) {
      continue;
    }
    PlanChain& chain = out.chains[item.chain];
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

// Positions become epochs first: memory is shared between epochs only (spec/graph 6.8). Classes are
// packed one by one, since they never share memory.
void PlaceChains(const PlaceInputs& in, PlaceMemory& memory, const PlacedChains& out) {
  PlanMetrics& metrics = out.metrics;
  for (PackItem& item : out.packed) {
    item.first = in.epochs[item.first];
    item.last = in.epochs[item.last];
  }
  metrics.upload_bytes = 0;
  metrics.readback_bytes = 0;
  if (out.packed.size() < out.chains.size()) {
    PlaceApart(in.rows, out);
  }
  metrics.all.allocated = 0;
  metrics.images.allocated = 0;
  metrics.buffers.allocated = 0;
  metrics.packer = "none";
  out.tops.assign(out.classes.size(), {});
  for (uint32_t i = 0; i < out.classes.size(); ++i) {
    MemoryClass& memory_class = out.classes[i];
    const std::span<const PackItem> items = ItemsOf(out, i, in.options.alias, memory.items);
    if (items.empty()) {
      continue;
    }
    const Placement& placement = memory.memo.Find(
        items, memory_class.blocks, in.options.alias ? in.options.effort : Effort::kFast);
    out.tops[i] = {.chains = static_cast<uint32_t>(items.size()), .top = placement.result.top};
    AssignAddresses(out, i, placement);
    MemoryFigures& figures =
        memory_class.kind == ResourceKind::kTexture ? metrics.images : metrics.buffers;
    figures.allocated += placement.result.top;
    metrics.all.allocated += placement.result.top;
    // Images are what most of the memory goes to, so their packer is the one that is told.
    metrics.packer = memory_class.kind == ResourceKind::kTexture || metrics.images.allocated == 0
                         ? placement.result.packer
                         : metrics.packer;
  }
}

}  // namespace kiln::graph
