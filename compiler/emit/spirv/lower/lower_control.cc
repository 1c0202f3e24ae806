// SPDX-License-Identifier: MIT
// The label of the current block is not known at the beginning of a region and behind an insertion
// point: what stands there may have opened blocks. Who needs it (the parents of a phi) ends the
// block and opens one of its own. What is remembered of places is forgotten wherever a block
// begins.
#include "compiler/emit/spirv/lower/lower_control.h"

#include "compiler/base/check.h"
#include "compiler/emit/spirv/lower/lower_block.h"

namespace kiln::spirv {
namespace {

using spv::Op;

void StartBlock(RegionLowering& region, Ref label) {
  region.Code(Op::OpLabel).Use(label);
  region.block().label = label;
  region.block().terminated = false;
  region.block().line = {};
  region.cache().Clear();
}

void EndBlock(RegionLowering& region) {
  region.block().terminated = true;
  region.block().label = {};
}

void BranchTo(RegionLowering& region, Ref condition, Ref yes, Ref no) {
  region.Code(Op::OpBranchConditional).Use(condition).Use(yes).Use(no);
  EndBlock(region);
}

void Select(RegionLowering& region, Ref merge) {
  region.Code(Op::OpSelectionMerge).Use(merge).Word(0u);
}

Ref CurrentLabel(RegionLowering& region) {
  if (!region.block().label.valid()) {
    const Ref label = region.writer().NewId();
    Branch(region, label);
    StartBlock(region, label);
  }
  return region.block().label;
}

// Returns whether control arrives at `merge`.
bool LowerBranch(RegionLowering& region, Ref label, ir::BlockId block, Ref merge) {
  const bool unreachable = region.block().unreachable;
  StartBlock(region, label);
  LowerBlock(region, block);
  const bool arrives = !region.block().terminated && region.block().unreachable == unreachable;
  if (!region.block().terminated) {
    Branch(region, merge);
  }
  region.block().unreachable = unreachable;
  return arrives;
}

// The parents of a phi are the blocks that really end the operands: a value block may open blocks.
Ref Phi(RegionLowering& region, ir::TypeId type, Ref left, Ref left_end, Ref right, Ref right_end) {
  const Ref result = region.writer().NewId();
  region.Code(Op::OpPhi)
      .Use(region.Type(type))
      .Use(result)
      .Use(left)
      .Use(left_end)
      .Use(right)
      .Use(right_end);
  return result;
}

}  // namespace

void Branch(RegionLowering& region, Ref label) {
  region.Code(Op::OpBranch).Use(label);
  EndBlock(region);
}

void OpenUnreachable(RegionLowering& region) {
  StartBlock(region, region.writer().NewId());
  region.block().unreachable = true;
}

void LowerIf(RegionLowering& region, const ir::IfInst& inst) {
  const std::span<const uint32_t> blocks = region.source().List(inst.blocks);
  const bool has_else = blocks.size() > 1;
  const Ref yes = region.writer().NewId();
  const Ref no = has_else ? region.writer().NewId() : Ref{};
  const Ref merge = region.writer().NewId();
  Select(region, merge);
  BranchTo(region, region.ValueOf(inst.condition), yes, has_else ? no : merge);
  bool reached = LowerBranch(region, yes, ir::BlockId{blocks[0]}, merge) || !has_else;
  if (has_else) {
    reached = LowerBranch(region, no, ir::BlockId{blocks[1]}, merge) || reached;
  }
  StartBlock(region, merge);
  if (!reached) {
    region.Code(Op::OpUnreachable);
    EndBlock(region);
  }
}

void LowerLoop(RegionLowering& region, const ir::LoopInst& inst) {
  const std::span<const uint32_t> blocks = region.source().List(inst.blocks);
  const Ref merge = region.LowerName(inst.exit, LocalRole::kBreak);
  const Ref next = region.LowerName(inst.exit, LocalRole::kContinue);
  const Ref header = region.writer().NewId();
  const Ref condition = region.writer().NewId();
  const Ref body = region.writer().NewId();
  Branch(region, header);
  StartBlock(region, header);
  region.Code(Op::OpLoopMerge).Use(merge).Use(next).Word(0u);
  Branch(region, condition);
  StartBlock(region, condition);
  const Ref go_on = LowerValueBlock(region, ir::BlockId{blocks[0]});
  BranchTo(region, go_on, body, merge);
  LowerBranch(region, body, ir::BlockId{blocks[1]}, next);
  StartBlock(region, next);
  LowerBlock(region, ir::BlockId{blocks[2]});
  Branch(region, header);
  StartBlock(region, merge);
}

void LowerHole(RegionLowering& region, ir::RegionId segment) {
  region.writer().AddHole(segment);
  region.block().label = {};  // whoever goes here may open blocks, and write to any place
  region.block().line = {};
  region.cache().Clear();
}

void LowerReturn(RegionLowering& region, const ir::ReturnInst& inst) {
  if (inst.value.valid()) {
    region.Code(Op::OpReturnValue).Use(region.ValueOf(inst.value));
  } else {
    region.Code(Op::OpReturn);
  }
  EndBlock(region);
}

void LowerDiscard(RegionLowering& region) {
  const bool terminate = region.table().target().spirv_version >= target::SpirvVersion(1, 6);
  region.Code(terminate ? Op::OpTerminateInvocation : Op::OpKill);
  EndBlock(region);
}

Ref LowerLogical(RegionLowering& region, const ir::LogicalInst& inst) {
  const Ref left = region.ValueOf(inst.left);
  const Ref left_end = CurrentLabel(region);
  const Ref right_start = region.writer().NewId();
  const Ref merge = region.writer().NewId();
  const bool both = inst.op == ir::LogicalOp::kAnd;
  Select(region, merge);
  BranchTo(region, left, both ? right_start : merge, both ? merge : right_start);
  StartBlock(region, right_start);
  const Ref right = LowerValueBlock(region, inst.right);
  const Ref right_end = CurrentLabel(region);
  Branch(region, merge);
  StartBlock(region, merge);
  return Phi(region, inst.type, left, left_end, right, right_end);
}

Ref LowerSelectBlocks(RegionLowering& region, const ir::SelectBlocksInst& inst) {
  const std::span<const uint32_t> blocks = region.source().List(inst.blocks);
  const Ref yes = region.writer().NewId();
  const Ref no = region.writer().NewId();
  const Ref merge = region.writer().NewId();
  Select(region, merge);
  BranchTo(region, region.ValueOf(inst.condition), yes, no);
  StartBlock(region, yes);
  const Ref left = LowerValueBlock(region, ir::BlockId{blocks[0]});
  const Ref left_end = CurrentLabel(region);
  Branch(region, merge);
  StartBlock(region, no);
  const Ref right = LowerValueBlock(region, ir::BlockId{blocks[1]});
  const Ref right_end = CurrentLabel(region);
  Branch(region, merge);
  StartBlock(region, merge);
  return Phi(region, inst.type, left, left_end, right, right_end);
}

}  // namespace kiln::spirv
