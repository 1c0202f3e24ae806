// SPDX-License-Identifier: MIT
// The label of the current block is not known at the beginning of a region and behind an insertion
// point: what stands there may have opened blocks. Who needs it (the parents of a phi) ends the
// block and opens one of its own. What is remembered of places is forgotten wherever a block
// begins.
#include "compiler/emit/spirv/lower/lower_control.h"

#include <algorithm>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/emit/spirv/lower/lower_block.h"
#include "compiler/ir/operands.h"

namespace kiln::spirv {
namespace {

using spv::Op;

// Every block of SPIR-V begins here. What was known of places held for the path so far; other paths
// may arrive at the label.
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

void Select(RegionLowering& region, Ref merge, uint32_t hint = 0) {
  region.Code(Op::OpSelectionMerge).Use(merge).Word(hint);
}

uint32_t SelectionControl(ir::BranchHint hint) {
  switch (hint) {
    case ir::BranchHint::kNone:
      return 0;
    case ir::BranchHint::kFlatten:
      return static_cast<uint32_t>(spv::SelectionControlMask::Flatten);
    case ir::BranchHint::kDontFlatten:
      return static_cast<uint32_t>(spv::SelectionControlMask::DontFlatten);
  }
  KILN_UNREACHABLE();
}

// The n of unroll(n) stays in the IR: SPIR-V's counts promise something else.
uint32_t LoopControl(ir::LoopHint hint) {
  switch (hint) {
    case ir::LoopHint::kNone:
      return 0;
    case ir::LoopHint::kUnroll:
      return static_cast<uint32_t>(spv::LoopControlMask::Unroll);
    case ir::LoopHint::kDontUnroll:
      return static_cast<uint32_t>(spv::LoopControlMask::DontUnroll);
  }
  KILN_UNREACHABLE();
}

// The label of the current block, for a phi. Where it is not known a block of its own is begun;
// that costs two instructions, and only where a value block stands right behind an insertion point.
Ref CurrentLabel(RegionLowering& region) {
  if (!region.block().label.valid()) {
    const Ref label = region.writer().NewId();
    Branch(region, label);
    StartBlock(region, label);
  }
  return region.block().label;
}

// Whether one of the jumps behind the first `count` is this one; it is done with, and those go.
bool TakeJumps(RegionLowering& region, const RegionLowering::Jump& jump, size_t count) {
  std::vector<RegionLowering::Jump>& jumps = region.block().jumps;
  const auto first = jumps.begin() + static_cast<std::ptrdiff_t>(count);
  const auto kept = std::remove(first, jumps.end(), jump);
  const bool any = kept != jumps.end();
  jumps.erase(kept, jumps.end());
  return any;
}

// SPIR-V asks for a merge block even if nothing leads there (spec/rpl 11.4).
void StartMerge(RegionLowering& region, Ref merge, bool reached) {
  StartBlock(region, merge);
  if (!reached) {
    region.Code(Op::OpUnreachable);
    EndBlock(region);
  }
}

// Returns whether control arrives at `merge`.
bool LowerBranch(RegionLowering& region, Ref label, ir::BlockId block, Ref merge) {
  StartBlock(region, label);
  LowerBlock(region, block);
  const bool arrives = !region.block().terminated;
  if (arrives) {
    Branch(region, merge);
  }
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

void LowerIf(RegionLowering& region, const ir::Inst& row) {
  const auto inst = row.As<ir::IfInst>();
  const std::span<const uint32_t> blocks = region.source().List(inst.blocks);
  const bool has_else = blocks.size() > 1;
  const Ref yes = region.writer().NewId();
  const Ref no = has_else ? region.writer().NewId() : Ref{};
  const Ref merge = region.writer().NewId();
  Select(region, merge, SelectionControl(static_cast<ir::BranchHint>(row.flags)));
  BranchTo(region, region.ValueOf(inst.condition), yes, has_else ? no : merge);
  // Without an else block the condition itself leads to the merge block.
  bool reached = LowerBranch(region, yes, ir::BlockId{blocks[0]}, merge) || !has_else;
  if (has_else) {
    reached = LowerBranch(region, no, ir::BlockId{blocks[1]}, merge) || reached;
  }
  StartMerge(region, merge, reached);
}

// The form that SPIR-V prescribes: a header with the merge and nothing else, the condition in
// blocks of its own (it may open several), the body, and the one block that jumps back. Break and
// continue name the two labels of the loop's exit, which are reserved ids, so nested regions can
// jump too.
void LowerLoop(RegionLowering& region, const ir::Inst& row) {
  const auto inst = row.As<ir::LoopInst>();
  const auto hint = static_cast<ir::LoopHint>(row.flags & ir::kSchemaFlags);
  const std::span<const uint32_t> blocks = region.source().List(inst.blocks);
  const Ref merge = region.LowerName(inst.exit, LocalRole::kBreak);
  const Ref next = region.LowerName(inst.exit, LocalRole::kContinue);
  // In typed modules an empty condition block means "always", and a continuing block that yields
  // asks for another pass.
  const bool always = region.source().InstsOf(ir::BlockId{blocks[0]}).empty();
  const std::span<const uint32_t> last = region.source().InstsOf(ir::BlockId{blocks[2]});
  const bool asks =
      !last.empty() && region.InstOf(ir::InstId{last.back()}).kind == ir::InstKind::kYield;
  const Ref header = region.writer().NewId();
  const Ref condition = always ? Ref{} : region.writer().NewId();
  const Ref body = region.writer().NewId();
  Branch(region, header);
  StartBlock(region, header);
  region.Code(Op::OpLoopMerge).Use(merge).Use(next).Word(LoopControl(hint));
  Branch(region, always ? body : condition);
  if (!always) {
    StartBlock(region, condition);
    const Ref go_on = LowerValueBlock(region, ir::BlockId{blocks[0]});
    BranchTo(region, go_on, body, merge);
  }
  // Whether control arrives at the continuing block does not matter: SPIR-V wants it in any case.
  const size_t jumps = region.block().jumps.size();
  const uint32_t points = region.block().insertion_points;
  const bool arrives = LowerBranch(region, body, ir::BlockId{blocks[1]}, next);
  const bool goes_on = TakeJumps(region, {inst.exit, LocalRole::kContinue}, jumps) || arrives;
  const bool breaks = TakeJumps(region, {inst.exit, LocalRole::kBreak}, jumps);
  // A region inside may hold jumps of its own.
  const bool left =
      !always || breaks || (asks && goes_on) || region.block().insertion_points != points;
  // From here control goes back to the header and nowhere else.
  StartBlock(region, next);
  ++region.block().must_go_on;
  if (asks) {
    const Ref again = LowerValueBlock(region, ir::BlockId{blocks[2]});
    BranchTo(region, again, header, merge);
  } else {
    LowerBlock(region, ir::BlockId{blocks[2]});
    Branch(region, header);
  }
  --region.block().must_go_on;
  StartMerge(region, merge, left);
}

// Blocks stand in the order of the cases, and so do their labels, because a case may go through to
// the next alone. A case that nothing is said about goes to the default, or behind the switch.
void LowerSwitch(RegionLowering& region, const ir::SwitchInst& inst) {
  const std::span<const uint32_t> words = region.source().List(inst.cases);
  const Ref merge = region.LowerName(inst.exit, LocalRole::kBreak);
  const uint32_t width = ir::BitWidthOf(region.TypeOf(ir::InstId{words[0]}).scalar);
  std::vector<ir::SwitchCase> cases;
  std::vector<Ref> labels;
  Ref otherwise = merge;
  ir::ForEachCase(words, [&](const ir::SwitchCase& one) {
    cases.push_back(one);
    labels.push_back(region.writer().NewId());
    otherwise = one.is_default ? labels.back() : otherwise;
  });
  Select(region, merge, SelectionControl(inst.hint));
  {
    // Labels of cases are literals as wide as the selector.
    Instruction made = region.Code(Op::OpSwitch);
    made.Use(region.ValueOf(ir::InstId{words[0]})).Use(otherwise);
    for (size_t i = 0; i < cases.size(); ++i) {
      for (const uint32_t label : cases[i].labels) {
        const ir::Const& value = region.pool()[ir::ConstId{label}];
        made.Word(value.a);
        if (width == 64) {
          made.Word(value.high);
        }
        made.Use(labels[i]);
      }
    }
  }
  EndBlock(region);
  bool reached = otherwise == merge;
  const uint32_t points = region.block().insertion_points;
  const size_t jumps = region.block().jumps.size();
  for (size_t i = 0; i < cases.size(); ++i) {
    const bool arrives = LowerBranch(region, labels[i], ir::BlockId{cases[i].block},
                                     cases[i].through ? labels[i + 1] : merge);
    reached = reached || (arrives && !cases[i].through);
  }
  // The merge block is reached by `break` as well, and a region inside may hold one.
  const bool breaks = TakeJumps(region, {inst.exit, LocalRole::kBreak}, jumps);
  StartMerge(region, merge, reached || breaks || region.block().insertion_points != points);
}

// Before SPIR-V 1.6 a demotion is an extension that few targets have, and a discard serves: code
// behind it is never reached. A block that must go on (one that yields a value, or leads back to
// the head of a loop) may not end so; there the extension is asked for.
void LowerDemote(RegionLowering& region) {
  if (region.table().target().spirv_version < target::SpirvVersion(1, 6) &&
      region.block().must_go_on == 0) {
    LowerDiscard(region);
    return;
  }
  region.writer().needs |= target::BitOf(target::Need::kDemote);
  region.Code(Op::OpDemoteToHelperInvocation);
}

void LowerUnreachable(RegionLowering& region) {
  region.Code(Op::OpUnreachable);
  EndBlock(region);
}

void LowerInsertionPoint(RegionLowering& region, ir::RegionId nested) {
  ++region.block().insertion_points;
  region.writer().AddInsertionPoint(nested, true);
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
  // OpKill is deprecated from SPIR-V 1.6 on (spec/rpl 11.1).
  const bool terminate = region.table().target().spirv_version >= target::SpirvVersion(1, 6);
  region.Code(terminate ? Op::OpTerminateInvocation : Op::OpKill);
  EndBlock(region);
}

// The right operand runs only if the left one does not decide, so this is control flow with a phi.
// The left operand ends its block and is the other value of the phi: false for "and", true for
// "or".
Ref LowerLogical(RegionLowering& region, const ir::LogicalInst& inst) {
  const Ref left = region.ValueOf(inst.left);
  // The parent of the phi is the block that ends in the branch below, so it must be known before.
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
  // Each side may open blocks. The parent of the phi is the one in which it ends.
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
