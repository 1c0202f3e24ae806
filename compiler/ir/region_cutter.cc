// SPDX-License-Identifier: MIT
// A `when` becomes a region only if control always flows past it: a region is specialised once and
// used by every variant that has it, so whether what follows is reached must not depend on what it
// holds; and only if it uses no value of the blocks around it, which regions do not share (of
// untyped modules no statement does). A `return` deep inside makes every block around it one that
// can end its path; blocks are asked in the order in which they end, inner ones first, so one
// answer for each block is enough.
#include "compiler/ir/region_cutter.h"

#include <algorithm>
#include <utility>

#include "compiler/ir/builtins.h"
#include "compiler/ir/operands.h"

namespace kiln::ir {
namespace {

// A loop or switch declares its exit, which is a name of its own for `break`.
LocalId DeclaredBy(const Inst& inst) {
  if (inst.kind == InstKind::kVariable) {
    return inst.As<VariableInst>().local;
  }
  if (inst.kind == InstKind::kAlias) {
    return inst.As<AliasInst>().local;
  }
  // Switches and loops have their exit in the same word.
  const bool breaks = inst.kind == InstKind::kLoop || inst.kind == InstKind::kSwitch;
  return breaks ? inst.As<LoopInst>().exit : LocalId{};
}

}  // namespace

// Answers may be too careful: a block that is said to end its path is only not cut.
bool EndsPath(const Inst& inst, const CutTables& tables) {
  const auto block_ends = [&](uint32_t block) { return bool{tables.block_ends_path[block]}; };
  const InstKind kind = inst.kind;
  if (kind == InstKind::kReturn || kind == InstKind::kBreak || kind == InstKind::kContinue ||
      kind == InstKind::kDiscard || kind == InstKind::kDemote || kind == InstKind::kUnreachable) {
    return true;  // a demotion is a discard for targets that have nothing else
  }
  if (kind == InstKind::kScope) {
    return block_ends(inst.As<ScopeInst>().block.value);
  }
  if (kind == InstKind::kWhen) {
    return block_ends(inst.As<WhenInst>().block.value);
  }
  // Without an `else` control may always pass.
  if (kind == InstKind::kIf) {
    const std::span<const uint32_t> blocks = tables.List(inst.As<IfInst>().blocks);
    return blocks.size() == 2 && std::ranges::all_of(blocks, block_ends);
  }
  if (kind == InstKind::kSwitch) {  // a `break` of its own counts too: then it is only not cut
    bool has_default = false;
    bool all = true;
    ForEachCase(tables.List(inst.As<SwitchInst>().cases), [&](const SwitchCase& one) {
      has_default = has_default || one.is_default;
      all = all && (one.through || block_ends(one.block));
    });
    return has_default && all;
  }
  if (kind == InstKind::kStatement) {
    const Inst& expression = tables.insts[inst.As<StatementInst>().expression.value];
    return expression.kind == InstKind::kNameBuiltin &&
           expression.As<NameBuiltinInst>().builtin == Builtin::kStageDiscard;
  }
  // A loop without a condition may be one that nothing leaves; all others are left through it.
  if (kind == InstKind::kLoop) {
    return tables.blocks[tables.List(inst.As<LoopInst>().blocks)[0]].count == 0;
  }
  return false;  // everything else flows on
}

std::vector<std::vector<uint32_t>> RegionCutter::Cut(DeclId function, BlockId body) {
  function_ = function;
  // The body of the function is region 0 of it and is never conditional.
  CutBlock(AddRegion({.function = function, .block = body}, {}), body);
  return std::move(locals_);
}

RegionId RegionCutter::AddRegion(const Region& region, const RegionSpans& spans) {
  tables_.regions.push_back(region);
  tables_.region_spans.push_back(spans);
  locals_.emplace_back();
  return RegionId{static_cast<uint32_t>(tables_.regions.size() - 1)};
}

// Indices and not spans: cutting inside of the block may make the tables grow.
void RegionCutter::CutBlock(RegionId region, BlockId block) {
  for (uint32_t i = 0; i < tables_.blocks[block.value].count; ++i) {
    CutInst(region, tables_.block_insts[tables_.blocks[block.value].first + i]);
  }
}

// Collects the names that `inst` declares, cuts it out if it is a `when` that can be, and goes on
// into its blocks.
void RegionCutter::CutInst(RegionId region, uint32_t number) {
  const Inst inst = tables_.insts[number];
  if (const LocalId declared = DeclaredBy(inst); declared.valid()) {
    locals_[region.value - first_].push_back(declared.value);
  }
  if (inst.kind == InstKind::kWhen && policy_ == CutPolicy::kCut && in_continuing_ == 0) {
    const WhenInst when = inst.As<WhenInst>();
    // Both answers were computed when the block ended.
    if (!tables_.block_ends_path[when.block.value] && !tables_.block_uses_outer[when.block.value]) {
      const RegionId cut = AddRegion({.function = function_,
                                      .parent = region,
                                      .block = when.block,
                                      .condition = when.condition},
                                     {.condition = tables_.inst_spans[number].aux});
      // The block stays where it is and belongs to the new region. Only the instruction that led to
      // it changes.
      tables_.insts[number] = WhenRegionInst{when.type, cut}.To();
      CutBlock(cut, when.block);
      return;
    }
  }
  // What ends a path elsewhere may not end one in the block that leads back to the head of a loop
  // (the third of it); how it is lowered depends on where it stands, so it stays there.
  uint32_t part = 0;
  ForEachOwnedBlock(
      inst, [this](ListId id) { return tables_.List(id); },
      [&](uint32_t block) {
        const uint32_t continuing = inst.kind == InstKind::kLoop && part++ == 2 ? 1 : 0;
        in_continuing_ += continuing;
        CutBlock(region, BlockId{block});
        in_continuing_ -= continuing;
      });
}

}  // namespace kiln::ir
