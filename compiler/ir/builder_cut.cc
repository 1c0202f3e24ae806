// SPDX-License-Identifier: MIT
// Cuts the body of a function into segments: a `when` that control always flows past becomes a row
// of its own, in pre-order. Spec: docs/IR.md "Segments", spec/architecture 10.1.
#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/operands.h"

namespace kiln::ir {
namespace {

LocalId DeclaredBy(const Inst& inst) {
  if (inst.kind == InstKind::kVariable) {
    return inst.As<VariableInst>().local;
  }
  if (inst.kind == InstKind::kAlias) {
    return inst.As<AliasInst>().local;
  }
  return inst.kind == InstKind::kLoop ? inst.As<LoopInst>().exit : LocalId{};
}

}  // namespace

// Can control fail to flow past this statement, under some answers and on every way through it?
// Blocks it owns have ended, so their answer is known.
bool Builder::EndsPath(const Inst& inst) const {
  const auto block_ends = [this](uint32_t block) { return bool{block_ends_path_[block]}; };
  const InstKind kind = inst.kind;
  if (kind == InstKind::kReturn || kind == InstKind::kBreak || kind == InstKind::kContinue ||
      kind == InstKind::kDiscard) {
    return true;
  }
  if (kind == InstKind::kScope) {
    return block_ends(inst.As<ScopeInst>().block.value);
  }
  if (kind == InstKind::kWhen) {
    return block_ends(inst.As<WhenInst>().block.value);
  }
  if (kind == InstKind::kIf) {
    const std::span<const uint32_t> blocks = ListAt(inst.As<IfInst>().blocks);
    return blocks.size() == 2 && std::ranges::all_of(blocks, block_ends);
  }
  if (kind == InstKind::kStatement) {
    const Inst& expression = insts_[inst.As<StatementInst>().expression.value];
    return expression.kind == InstKind::kNameBuiltin &&
           expression.As<NameBuiltinInst>().builtin == Builtin::kStageDiscard;
  }
  return false;  // everything else flows on, loops too: a loop is left through its exit
}

void Builder::EndFunction() {
  KILN_CHECK(function_.valid() && open_blocks_.size() == 1, "{} open blocks", open_blocks_.size());
  const BlockId body = open_blocks_.back().block;
  EndBlock();
  decls_[function_.value].body = static_cast<uint32_t>(segments_.size());
  const size_t first_segment = segments_.size();
  std::vector<std::vector<uint32_t>> locals;  // by segment of this function
  const RegionId whole = AddSegment({.function = function_, .block = body}, {}, locals);
  for (uint32_t i = 0; i < decls_[function_.value].member_count; ++i) {
    locals[0].push_back(first_local_ + i);
  }
  CutBlock(whole, body, locals);
  for (size_t i = 0; i < locals.size(); ++i) {
    std::ranges::sort(locals[i]);  // rows of one module are numbered in source order
    segments_[first_segment + i].locals = List(locals[i]);
  }
  function_ = {};
}

RegionId Builder::AddSegment(const Region& segment, const RegionSpans& spans,
                             std::vector<std::vector<uint32_t>>& locals) {
  segments_.push_back(segment);
  segment_spans_.push_back(spans);
  locals.emplace_back();
  return RegionId{static_cast<uint32_t>(segments_.size() - 1)};
}

void Builder::CutBlock(RegionId segment, BlockId block,
                       std::vector<std::vector<uint32_t>>& locals) {
  for (uint32_t i = 0; i < blocks_[block.value].count; ++i) {
    CutInst(segment, block_insts_[blocks_[block.value].first + i], locals);
  }
}

// Collects the names that `inst` declares, cuts it out if it is a `when` that can be, and goes on
// into its blocks.
void Builder::CutInst(RegionId segment, uint32_t number,
                      std::vector<std::vector<uint32_t>>& locals) {
  const Inst inst = insts_[number];
  if (const LocalId declared = DeclaredBy(inst); declared.valid()) {
    locals[segment.value - decls_[function_.value].body].push_back(declared.value);
  }
  if (inst.kind == InstKind::kWhen && policy_ == CutPolicy::kCut) {
    const WhenInst when = inst.As<WhenInst>();
    if (!block_ends_path_[when.block.value]) {
      const RegionId cut = AddSegment({.function = function_,
                                       .parent = segment,
                                       .block = when.block,
                                       .condition = when.condition},
                                      {.condition = inst_spans_[number].aux}, locals);
      insts_[number] = WhenSegmentInst{when.type, cut}.To();
      CutBlock(cut, when.block, locals);
      return;
    }
  }
  ForEachOwnedBlock(
      inst, [this](ListId id) { return ListAt(id); },
      [&](uint32_t block) { CutBlock(segment, BlockId{block}, locals); });
}

}  // namespace kiln::ir
