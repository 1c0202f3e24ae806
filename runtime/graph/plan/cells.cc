// SPDX-License-Identifier: MIT
#include "runtime/graph/plan/cells.h"

#include <algorithm>
#include <vector>

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

// The borders of all ranges in each dimension cut the resource into a grid; every range is a union
// of its boxes, so an access touches a box wholly or not at all. The grid may be finer than needed
// (two ranges that never meet still cut each other's rows), but partial uses are few and their
// borders mostly the same: mips one by one, or the layers of a shadow map.
void AppendBoxes(std::vector<Box>& cells, Borders& borders, const ChainRow& chain) {
  SortBorders(borders.mips, chain.mips);
  SortBorders(borders.layers, chain.layers);
  const VkImageAspectFlags all = chain.aspects;
  VkImageAspectFlags rest = all;
  // Aspects are cut apart only if some range names some of them: depth and stencil together are the
  // usual case. The lowest bit is taken first, so cells come in one order.
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
[[gnu::noinline]] void CutCells(const Declarations& rows, const PlanChain& chain,
                                const ChainRow& row, const TemporalSlot* before, PlanChains& out) {
  if (row.ranged == 0 && (before == nullptr || before->cells.size() == 1)) {
    out.cells.push_back(WholeOf(row));
    return;
  }
  Borders borders;
  for (uint32_t i = chain.first_access; i < chain.first_access + chain.accesses; ++i) {
    const AccessRow& access = rows.accesses[out.chain_accesses[i]];
    AddBorders(borders, {access.mip, access.mips, access.layer, access.layers, access.aspects},
               row.aspects);
  }
  // The cells in which the frame before left its states must not be joined: each has a state of its
  // own.
  for (size_t i = 0; before != nullptr && i < before->cells.size(); ++i) {
    AddBorders(borders, before->cells[i], row.aspects);
  }
  AppendBoxes(out.cells, borders, row);
}

}  // namespace

bool CellsMeet(const AccessRow& a, const AccessRow& b) {
  return a.whole != 0 || b.whole != 0 ||
         ((a.aspects & b.aspects) != 0 && IntervalsMeet(a.mip, a.mips, b.mip, b.mips) &&
          IntervalsMeet(a.layer, a.layers, b.layer, b.layers));
}

// A cell lies within the borders of every range, so touching it is covering it.
bool Covers(const AccessRow& access, const Box& cell) {
  return access.whole != 0 || ((access.aspects & cell.aspects) != 0 &&
                               IntervalsMeet(access.mip, access.mips, cell.mip, cell.mips) &&
                               IntervalsMeet(access.layer, access.layers, cell.layer, cell.layers));
}

void AddCells(const Declarations& rows, uint32_t index, const TemporalSlot* before,
              PlanChains& out) {
  const ChainRow& row = rows.chains[index];
  PlanChain& chain = out.chains[index];
  chain.first_cell = static_cast<uint32_t>(out.cells.size());
  chain.cells = 1;
  if (row.ranged == 0 && before == nullptr) {
    out.cells.push_back(WholeOf(row));
    return;
  }
  CutCells(rows, chain, row, before, out);
  chain.cells = static_cast<uint32_t>(out.cells.size()) - chain.first_cell;
}

}  // namespace kiln::graph
