// SPDX-License-Identifier: MIT
// Live accesses by chain in plan order, lifetimes, and the cells of every chain: the boxes cut out
// by the borders of the ranges that are used. See spec/graph 2, 6.6
#include <algorithm>
#include <numeric>

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

void AppendBoxes(std::vector<Box>& cells, Borders& borders, const ChainRow& chain) {
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

// The cells of a chain that is used in parts, or that the frame before used in parts. A function of
// its own, so that the usual case stays short.
[[gnu::noinline]] void CutCells(Planning& planning, const PlanChain& chain, const ChainRow& row,
                                const TemporalSlot* before) {
  Plan& plan = planning.plan;
  if (row.ranged == 0 && (before == nullptr || before->cells.size() == 1)) {
    plan.cells.push_back(WholeOf(row));
    return;
  }
  Borders borders;
  for (uint32_t i = chain.first_access; i < chain.first_access + chain.accesses; ++i) {
    const AccessRow& access = planning.rows.accesses[plan.chain_accesses[i]];
    AddBorders(borders, {access.mip, access.mips, access.layer, access.layers, access.aspects},
               row.aspects);
  }
  for (size_t i = 0; before != nullptr && i < before->cells.size(); ++i) {
    AddBorders(borders, before->cells[i], row.aspects);
  }
  AppendBoxes(plan.cells, borders, row);
}

UseKind KindOf(uint8_t bits) {
  static_assert(kWrites == 1 && kOnHost == 2);
  constexpr UseKind kKinds[] = {UseKind::kRead, UseKind::kWrite, UseKind::kHost, UseKind::kHost};
  return kKinds[bits & (kWrites | kOnHost)];
}

// Where the uses of every chain begin, without those of passes that were culled.
void CountUses(Planning& planning) {
  PlanningScratch& scratch = planning.scratch;
  scratch.chain_begin.assign(planning.rows.chains.size() + 1, 0);
  for (const AccessRow& access : planning.rows.accesses) {
    const uint32_t chain = planning.rows.versions[access.version].chain;
    scratch.chain_begin[chain + 1] += planning.plan.live[access.pass] != 0 ? 1 : 0;
  }
  std::partial_sum(scratch.chain_begin.begin(), scratch.chain_begin.end(),
                   scratch.chain_begin.begin());
}

// Puts the accesses of passes, which come in plan order, to those of their chains.
class UseSorter {
 public:
  explicit UseSorter(Planning& planning)
      : accesses_(planning.rows.accesses.data()),
        layouts_(planning.plan.layouts.data()),
        bits_(planning.scratch.access_bits.data()),
        versions_(planning.rows.versions.data()),
        next_(planning.scratch.marks.data()),
        uses_(planning.scratch.uses.data()),
        chain_accesses_(planning.plan.chain_accesses.data()) {}

  void Add(uint32_t index, int32_t position, Origin origin) {
    const AccessRow& access = accesses_[index];
    const uint32_t at = next_[versions_[access.version].chain]++;
    chain_accesses_[at] = index;
    // Rows are filled in place: a copy would wait for each field that was just written.
    Use& use = uses_[at];
    use.stages = access.stages;
    use.accesses = access.accesses;
    use.access = index;
    use.position = position;
    use.layout = layouts_[index];
    use.kind = KindOf(bits_[index]);
    use.forgets = (bits_[index] & kForgets) != 0;
    use.origin = origin;
  }

 private:
  const AccessRow* accesses_;
  const VkImageLayout* layouts_;
  const uint8_t* bits_;
  const VersionRow* versions_;
  uint32_t* next_;  // by chain
  Use* uses_;
  uint32_t* chain_accesses_;
};

void SortUses(Planning& planning) {
  Plan& plan = planning.plan;
  PlanningScratch& scratch = planning.scratch;
  if (!plan.culled.empty()) {
    CountUses(planning);
  }
  scratch.marks.assign(scratch.chain_begin.begin(), scratch.chain_begin.end());
  scratch.uses.resize(scratch.chain_begin.back());
  plan.chain_accesses.resize(scratch.chain_begin.back());
  UseSorter sorter(planning);
  for (const PlanPass& pass : plan.order) {
    const int32_t position = plan.positions[pass.pass];
    const Origin origin = planning.rows.passes[pass.pass].origin;
    const uint32_t end = plan.pass_begin[pass.pass + 1];
    for (uint32_t i = plan.pass_begin[pass.pass]; i < end; ++i) {
      sorter.Add(plan.pass_accesses[i], position, origin);
    }
  }
}

// The lifetime of each chain: from its first to its last use on the device. Uses by the host come
// before that.
void FindLifetimes(Planning& planning) {
  PlanningScratch& scratch = planning.scratch;
  const size_t chains = planning.rows.chains.size();
  scratch.first.resize(chains);
  scratch.last.resize(chains);
  for (size_t chain = 0; chain < chains; ++chain) {
    const Use* use = scratch.uses.data() + scratch.chain_begin[chain];
    const Use* const end = scratch.uses.data() + scratch.chain_begin[chain + 1];
    while (use != end && use->position < 0) {
      ++use;
    }
    scratch.first[chain] = use == end ? -1 : use->position;
    scratch.last[chain] = use == end ? -1 : (end - 1)->position;
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
  FindLifetimes(planning);
  ExtendOutputs(planning);
}

void AddCells(Planning& planning, uint32_t index) {
  const ChainRow& chain = planning.rows.chains[index];
  Plan& plan = planning.plan;
  PlanChain& out = plan.chains[index];
  out.first_cell = static_cast<uint32_t>(plan.cells.size());
  out.cells = 1;
  const bool continues = out.place == Place::kHistory && !out.reset;
  if (chain.ranged == 0 && !continues) {
    plan.cells.push_back(WholeOf(chain));
    return;
  }
  CutCells(planning, out, chain,
           continues ? &planning.carried.slots[plan.next.slots[out.slot].from] : nullptr);
  out.cells = static_cast<uint32_t>(plan.cells.size()) - out.first_cell;
}

}  // namespace kiln::graph
