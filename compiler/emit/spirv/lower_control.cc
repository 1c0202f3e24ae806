// SPDX-License-Identifier: MIT
// Structured control flow. Blocks are opened and closed only here.
#include "compiler/base/check.h"
#include "compiler/emit/spirv/lower_segment.h"

namespace kiln::spirv {

using spv::Op;

void SegmentLowering::StartBlock(Ref label) {
  Code(Op::OpLabel).Use(label);
  label_ = label;
  terminated_ = false;
  line_ = {};
  cache_.Clear();
}

void SegmentLowering::EndBlock() {
  terminated_ = true;
  label_ = {};
}

void SegmentLowering::Branch(Ref label) {
  Code(Op::OpBranch).Use(label);
  EndBlock();
}

void SegmentLowering::BranchTo(Ref condition, Ref yes, Ref no) {
  Code(Op::OpBranchConditional).Use(condition).Use(yes).Use(no);
  EndBlock();
}

void SegmentLowering::Select(Ref merge) { Code(Op::OpSelectionMerge).Use(merge).Word(0u); }

// Code behind a terminator: it never runs, but it may name what the walk will put there. It lasts
// to the end of the block of the IR.
void SegmentLowering::OpenUnreachable() {
  StartBlock(writer_.NewId());
  unreachable_ = true;
}

Ref SegmentLowering::CurrentLabel() {
  if (!label_.valid()) {
    const Ref label = writer_.NewId();
    Branch(label);
    StartBlock(label);
  }
  return label_;
}

// Returns whether control arrives at `merge`.
bool SegmentLowering::LowerBranch(Ref label, ir::BlockId block, Ref merge) {
  const bool unreachable = unreachable_;
  StartBlock(label);
  LowerBlock(block);
  const bool arrives = !terminated_ && unreachable_ == unreachable;
  if (!terminated_) {
    Branch(merge);
  }
  unreachable_ = unreachable;
  return arrives;
}

void SegmentLowering::LowerIf(const ir::IfInst& inst) {
  const std::span<const uint32_t> blocks = segment_.List(inst.blocks);
  const bool has_else = blocks.size() > 1;
  const Ref yes = writer_.NewId();
  const Ref no = has_else ? writer_.NewId() : Ref{};
  const Ref merge = writer_.NewId();
  Select(merge);
  BranchTo(ValueOf(inst.condition), yes, has_else ? no : merge);
  bool reached = LowerBranch(yes, ir::BlockId{blocks[0]}, merge) || !has_else;
  if (has_else) {
    reached = LowerBranch(no, ir::BlockId{blocks[1]}, merge) || reached;
  }
  StartBlock(merge);
  if (!reached) {
    Code(Op::OpUnreachable);
    EndBlock();
  }
}

void SegmentLowering::LowerLoop(const ir::LoopInst& inst) {
  const std::span<const uint32_t> blocks = segment_.List(inst.blocks);
  const Ref merge = LowerName(inst.exit, LocalRole::kBreak);
  const Ref next = LowerName(inst.exit, LocalRole::kContinue);
  const Ref header = writer_.NewId();
  const Ref condition = writer_.NewId();
  const Ref body = writer_.NewId();
  Branch(header);
  StartBlock(header);
  Code(Op::OpLoopMerge).Use(merge).Use(next).Word(0u);
  Branch(condition);
  StartBlock(condition);
  const Ref go_on = LowerValueBlock(ir::BlockId{blocks[0]});
  BranchTo(go_on, body, merge);
  LowerBranch(body, ir::BlockId{blocks[1]}, next);
  StartBlock(next);
  LowerBlock(ir::BlockId{blocks[2]});
  Branch(header);
  StartBlock(merge);
}

void SegmentLowering::LowerHole(ir::RegionId segment) {
  writer_.AddHole(segment);
  label_ = {};  // whoever goes here may open blocks, and write to any place
  line_ = {};
  cache_.Clear();
}

void SegmentLowering::LowerReturn(const ir::ReturnInst& inst) {
  if (inst.value.valid()) {
    Code(Op::OpReturnValue).Use(ValueOf(inst.value));
  } else {
    Code(Op::OpReturn);
  }
  EndBlock();
}

void SegmentLowering::LowerDiscard() {
  const bool terminate = table_.target().spirv_version >= target::SpirvVersion(1, 6);
  Code(terminate ? Op::OpTerminateInvocation : Op::OpKill);
  EndBlock();
}

// The parents of a phi are the blocks that really end the operands: a value block may open blocks.
Ref SegmentLowering::Phi(ir::TypeId type, Ref left, Ref left_end, Ref right, Ref right_end) {
  const Ref result = writer_.NewId();
  Code(Op::OpPhi).Use(Type(type)).Use(result).Use(left).Use(left_end).Use(right).Use(right_end);
  return result;
}

Ref SegmentLowering::LowerLogical(const ir::LogicalInst& inst) {
  const Ref left = ValueOf(inst.left);
  const Ref left_end = CurrentLabel();
  const Ref right_start = writer_.NewId();
  const Ref merge = writer_.NewId();
  const bool both = inst.op == ir::LogicalOp::kAnd;
  Select(merge);
  BranchTo(left, both ? right_start : merge, both ? merge : right_start);
  StartBlock(right_start);
  const Ref right = LowerValueBlock(inst.right);
  const Ref right_end = CurrentLabel();
  Branch(merge);
  StartBlock(merge);
  return Phi(inst.type, left, left_end, right, right_end);
}

Ref SegmentLowering::LowerSelectBlocks(const ir::SelectBlocksInst& inst) {
  const std::span<const uint32_t> blocks = segment_.List(inst.blocks);
  const Ref yes = writer_.NewId();
  const Ref no = writer_.NewId();
  const Ref merge = writer_.NewId();
  Select(merge);
  BranchTo(ValueOf(inst.condition), yes, no);
  StartBlock(yes);
  const Ref left = LowerValueBlock(ir::BlockId{blocks[0]});
  const Ref left_end = CurrentLabel();
  Branch(merge);
  StartBlock(no);
  const Ref right = LowerValueBlock(ir::BlockId{blocks[1]});
  const Ref right_end = CurrentLabel();
  Branch(merge);
  StartBlock(merge);
  return Phi(inst.type, left, left_end, right, right_end);
}

}  // namespace kiln::spirv
