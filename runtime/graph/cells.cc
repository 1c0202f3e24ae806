// SPDX-License-Identifier: MIT
// Live accesses by chain in plan order, lifetimes, and the cells of every chain: the boxes cut out
// by the borders of the ranges that are used. Spec: graph §2, §6.6
#include <algorithm>

#include "runtime/graph/planning.h"

namespace kiln::graph {
namespace {

bool IntervalsMeet(uint32_t first, uint32_t count, uint32_t other, uint32_t others) {
  return first < other + others && other < first + count;
}

Box WholeOf(const ChainRow& chain) {
  return {.mip = 0,
          .mips = static_cast<uint16_t>(chain.mips),
          .layer = 0,
          .layers = static_cast<uint16_t>(chain.layers),
          .aspects = chain.aspects};
}

// Ascending borders of one dimension: 0, size, and where ranges begin and end.
void SortBorders(std::vector<uint16_t>& borders, uint32_t size) {
  borders.push_back(0);
  borders.push_back(static_cast<uint16_t>(size));
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
}

struct Borders {
  std::vector<uint16_t> mips;
  std::vector<uint16_t> layers;
  bool split_aspects = false;
};

void AddBorders(Borders& borders, const Box& box, VkImageAspectFlags all) {
  borders.mips.push_back(box.mip);
  borders.mips.push_back(static_cast<uint16_t>(box.mip + box.mips));
  borders.layers.push_back(box.layer);
  borders.layers.push_back(static_cast<uint16_t>(box.layer + box.layers));
  borders.split_aspects = borders.split_aspects || box.aspects != all;
}

void CutCells(std::vector<Box>& cells, Borders& borders, const ChainRow& chain) {
  SortBorders(borders.mips, chain.mips);
  SortBorders(borders.layers, chain.layers);
  const VkImageAspectFlags all = chain.aspects;
  VkImageAspectFlags rest = all;
  while (rest != 0) {
    const VkImageAspectFlags aspects = borders.split_aspects ? rest & (~rest + 1) : rest;
    rest &= ~aspects;
    for (size_t m = 0; m + 1 < borders.mips.size(); ++m) {
      for (size_t l = 0; l + 1 < borders.layers.size(); ++l) {
        cells.push_back({.mip = borders.mips[m],
                         .mips = static_cast<uint16_t>(borders.mips[m + 1] - borders.mips[m]),
                         .layer = borders.layers[l],
                         .layers = static_cast<uint16_t>(borders.layers[l + 1] - borders.layers[l]),
                         .aspects = aspects});
      }
    }
  }
}

void MakeCells(Planning& planning, uint32_t index) {
  const ChainRow& chain = planning.rows.chains[index];
  Plan& plan = planning.plan;
  PlanChain& out = plan.chains[index];
  out.first_cell = static_cast<uint32_t>(plan.cells.size());
  const TemporalSlot* slot = out.place == Place::kHistory && !out.reset
                                 ? &planning.carried.slots[plan.next.slots[out.slot].from]
                                 : nullptr;
  if (chain.ranged == 0 && (slot == nullptr || slot->cells.size() == 1)) {
    plan.cells.push_back(WholeOf(chain));
  } else {
    const VkImageAspectFlags all = chain.aspects;
    Borders borders;
    for (uint32_t i = out.first_access; i < out.first_access + out.accesses; ++i) {
      const AccessRow& access = planning.rows.accesses[plan.chain_accesses[i]];
      AddBorders(borders, {access.mip, access.mips, access.layer, access.layers, access.aspects},
                 all);
    }
    for (size_t i = 0; slot != nullptr && i < slot->cells.size(); ++i) {
      AddBorders(borders, slot->cells[i], all);
    }
    CutCells(plan.cells, borders, chain);
  }
  out.cells = static_cast<uint32_t>(plan.cells.size()) - out.first_cell;
}

struct PlacedPass {
  int32_t position;
  Origin origin;
};

UseKind KindOf(uint8_t bits) {
  return (bits & kOnHost) != 0   ? UseKind::kHost
         : (bits & kWrites) != 0 ? UseKind::kWrite
                                 : UseKind::kRead;
}

// Where the uses of every chain begin.
void CountUses(Planning& planning) {
  const Plan& plan = planning.plan;
  PlanningScratch& scratch = planning.scratch;
  scratch.chain_begin.assign(planning.rows.chains.size() + 1, 0);
  for (size_t access = 0; access < scratch.chain_of.size(); ++access) {
    const bool live = plan.culled.empty() || plan.live[planning.rows.accesses[access].pass] != 0;
    scratch.chain_begin[scratch.chain_of[access] + 1] += live ? 1 : 0;
  }
  for (size_t chain = 1; chain < scratch.chain_begin.size(); ++chain) {
    scratch.chain_begin[chain] += scratch.chain_begin[chain - 1];
  }
}

// Filled where it lies: a copy of fields just written waits for each of them.
void FillUse(const Planning& planning, uint32_t index, const PlacedPass& pass, Use& use) {
  const AccessRow& access = planning.rows.accesses[index];
  use.stages = access.stages;
  use.accesses = access.accesses;
  use.access = index;
  use.position = pass.position;
  use.layout = planning.plan.layouts[index];
  use.kind = KindOf(planning.scratch.access_bits[index]);
  use.forgets = access.op == Op::kCreate || access.discard != 0;
  use.origin = pass.origin;
}

// Uses by chain, and from where to where each chain lives.
void SortUses(Planning& planning) {
  Plan& plan = planning.plan;
  PlanningScratch& scratch = planning.scratch;
  CountUses(planning);
  scratch.marks.assign(scratch.chain_begin.begin(), scratch.chain_begin.end());
  scratch.uses.resize(scratch.chain_begin.back());
  plan.chain_accesses.resize(scratch.chain_begin.back());
  scratch.first.assign(planning.rows.chains.size(), -1);
  scratch.last.assign(planning.rows.chains.size(), -1);
  for (const PlanPass& pass : plan.order) {
    const int32_t position = plan.positions[pass.pass];
    const PlacedPass placed{.position = position, .origin = planning.rows.passes[pass.pass].origin};
    for (uint32_t i = plan.pass_begin[pass.pass]; i < plan.pass_begin[pass.pass + 1]; ++i) {
      const uint32_t access = plan.pass_accesses[i];
      const uint32_t chain = scratch.chain_of[access];
      const uint32_t at = scratch.marks[chain]++;
      FillUse(planning, access, placed, scratch.uses[at]);
      plan.chain_accesses[at] = access;
      if (position >= 0) {
        scratch.first[chain] = scratch.first[chain] < 0 ? position : scratch.first[chain];
        scratch.last[chain] = position;
      }
    }
  }
}

// Outputs keep their bytes until the frame has ended.
void ExtendOutputs(Planning& planning) {
  const int32_t end = static_cast<int32_t>(planning.plan.device_passes()) - 1;
  for (const VersionRow& version : planning.rows.versions) {
    if (version.output != 0 && planning.scratch.first[version.chain] >= 0) {
      planning.scratch.last[version.chain] = end;
    }
  }
}

}  // namespace

bool CellsMeet(const AccessRow& a, const AccessRow& b) {
  return a.whole != 0 || b.whole != 0 ||
         ((a.aspects & b.aspects) != 0 && IntervalsMeet(a.mip, a.mips, b.mip, b.mips) &&
          IntervalsMeet(a.layer, a.layers, b.layer, b.layers));
}

bool Covers(const AccessRow& access, const Box& cell) {
  return access.whole != 0 || ((access.aspects & cell.aspects) != 0 &&
                               IntervalsMeet(access.mip, access.mips, cell.mip, cell.mips) &&
                               IntervalsMeet(access.layer, access.layers, cell.layer, cell.layers));
}

void CollectChains(Planning& planning) {
  SortUses(planning);
  ExtendOutputs(planning);
}

void CollectCells(Planning& planning) {
  planning.plan.cells.clear();
  for (uint32_t chain = 0; chain < planning.plan.chains.size(); ++chain) {
    MakeCells(planning, chain);
  }
}

}  // namespace kiln::graph
