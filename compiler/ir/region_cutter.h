// SPDX-License-Identifier: MIT
// Cuts the body of a function into regions: a `when` that control always flows past becomes a row
// of its own, in pre-order. Part of Builder. Spec: docs/IR.md "Regions", spec/architecture 10.1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/decls.h"
#include "compiler/ir/insts.h"

namespace kiln::ir {

// kWhole: no `when` is cut out of its function; for passes that need whole functions, and as an
// oracle.
enum class CutPolicy : uint8_t { kCut, kWhole };

// The tables of a builder that cutting reads and writes. Borrowed for one use: views end when a
// table grows.
struct CutTables {
  std::vector<Inst>& insts;  // a `when` that is cut becomes a `when_region` in its place
  std::span<const InstSpans> inst_spans;
  std::span<const Block> blocks;
  std::span<const uint32_t> block_insts;
  std::span<const uint32_t> extra;
  const std::vector<bool>& block_ends_path;   // by block, of those that have ended
  const std::vector<bool>& block_uses_outer;  // the same: it uses a value of a block around it
  std::vector<Region>& regions;
  std::vector<RegionSpans>& region_spans;

  std::span<const uint32_t> List(ListId id) const {
    return id.valid() ? extra.subspan(id.value + 1, extra[id.value]) : std::span<const uint32_t>{};
  }
};

// Can control fail to flow past this statement, under some answers and on every way through it?
// Requires: blocks it owns have ended, so their answer is known.
bool EndsPath(const Inst& inst, const CutTables& tables);

class RegionCutter {
 public:
  RegionCutter(const CutTables& tables, CutPolicy policy)
      : tables_(tables), policy_(policy), first_(static_cast<uint32_t>(tables.regions.size())) {}

  // Adds the rows of the function, its body first, without their lists of names. Returns the names
  // that the instructions of each added region declare, in no order. Once.
  std::vector<std::vector<uint32_t>> Cut(DeclId function, BlockId body);

 private:
  RegionId AddRegion(const Region& region, const RegionSpans& spans);
  void CutBlock(RegionId region, BlockId block);
  void CutInst(RegionId region, uint32_t number);

  const CutTables tables_;
  const CutPolicy policy_;
  const uint32_t first_;  // region of the function
  uint32_t in_continuing_ = 0;
  DeclId function_;
  std::vector<std::vector<uint32_t>> locals_;  // by region, from first_
};

}  // namespace kiln::ir
