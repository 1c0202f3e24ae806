// SPDX-License-Identifier: MIT
// Before memory is placed it is asked for: what each chain needs on this device, and which kind of
// place it has (spec/graph 7). Chains that nobody uses need nothing. Packed ones become items of
// bin packing, with their span of positions; all others have memory of their own.
#include "runtime/graph/memory/measure_chains.h"

#include "runtime/graph/plan/errors.h"

namespace kiln::graph {
namespace {

// Chains share memory within a class: the same memory types, and images apart from buffers, which
// spares every placement the granularity between the two kinds. There are a handful of classes, so
// they are searched one by one.
uint32_t ClassOf(std::vector<MemoryClass>& classes, uint32_t types, ResourceKind kind) {
  for (uint32_t i = 0; i < classes.size(); ++i) {
    if (classes[i].types == types && classes[i].kind == kind) {
      return i;
    }
  }
  classes.push_back({.types = types, .kind = kind, .blocks = {}, .ledger = {}});
  return static_cast<uint32_t>(classes.size() - 1);
}

// A size that the declaration says replaces that of the device, rounded up to its alignment.
// Textures are asked of the device, which may refuse them; a buffer always has its size.
bool NeedsOf(MemoryModel& model, const ChainRow& row, MemoryNeeds& needs) {
  if (!row.texture()) {
    needs = model.Buffer({.size = row.size, .memory = row.memory});
    return true;
  }
  const bool known = model.Texture(row.Texture(), needs);
  if (row.size != 0) {
    needs.size = AlignUp(row.size, needs.alignment);
  }
  return known;
}

// What outlives the frame or comes from outside has its place by what it is. Memory that the host
// writes is a ring, because the frames before may still read it.
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
bool MeasureChain(const ChainRow& row, uint32_t index, MemoryModel& model, MeasuredChains& out) {
  PlanChain& chain = out.chains[index];
  MemoryNeeds needs;
  if (row.object != Object::kImported && !NeedsOf(model, row, needs)) {
    return false;
  }
  chain.place = PlaceOf(row, needs);
  chain.size = needs.size;
  chain.alignment = needs.alignment;
  if (chain.place == Place::kPacked) {
    chain.memory_class = ClassOf(out.classes, needs.types, row.kind);
    PackItem& item = out.packed.emplace_back();
    item.size = needs.size;
    item.alignment = needs.alignment;
    item.first = static_cast<uint32_t>(chain.first);
    item.last = static_cast<uint32_t>(chain.last);
    item.chain = index;
    item.memory_class = chain.memory_class;
  } else {
    out.any_kept = out.any_kept || IsKept(chain.place);
  }
  return true;
}

}  // namespace

// Every chain is set anew, so a plan of an earlier frame leaves nothing behind. The first chain
// that the device cannot have ends it.
bool MeasureChains(const Declarations& rows, const ChainUses& uses, MemoryModel& model,
                   MeasuredChains& out, std::vector<GraphError>& errors) {
  const auto chains = static_cast<uint32_t>(rows.chains.size());
  out.chains.resize(chains);
  out.packed.clear();
  for (uint32_t i = 0; i < chains; ++i) {
    PlanChain& chain = out.chains[i];
    chain = {};
    chain.first = uses.first[i];
    chain.last = uses.last[i];
    chain.first_access = uses.begin[i];
    chain.accesses = uses.begin[i + 1] - uses.begin[i];
    if (chain.accesses != 0 && !MeasureChain(rows.chains[i], i, model, out)) {
      const uint32_t versions[] = {rows.chains[i].first_version};
      AddError(rows, "UNSUPPORTED_FORMAT", {{}, versions}, "is a texture that the device has not",
               errors);
      return false;
    }
  }
  return true;
}

}  // namespace kiln::graph
