// SPDX-License-Identifier: MIT
// `&&` and `||` evaluate their right side where it is needed, so it is a block. `?:` is a select if
// both branches are plain, because evaluating both costs less than a branch; else it has blocks,
// too.
#include "compiler/resolve/specialise/specialise_operator.h"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compiler/base/check.h"
#include "compiler/ir/typing/operator_typing.h"
#include "compiler/ir/typing/typing.h"
#include "compiler/resolve/place_access.h"
#include "compiler/resolve/specialise/specialise_block.h"
#include "compiler/resolve/values/open_text.h"

namespace kiln::resolve {
namespace {

bool IsComparison(ir::BinaryOp op) { return op >= ir::BinaryOp::kLess; }

// Both tests rely on the order of the enumeration, which stands in groups.
bool NeedsIntegers(ir::BinaryOp op) {
  return op >= ir::BinaryOp::kMod && op <= ir::BinaryOp::kShiftRightArithmetic;
}

// What an operator takes, for operands that it does not (spec/rpl 5.2).
std::string_view AcceptedOperands(ir::BinaryOp op) {
  if (op == ir::BinaryOp::kMul) {
    return "equal vectors, a vector or matrix times a scalar of its items, or matrix products";
  }
  if (op == ir::BinaryOp::kDiv) {
    return "equal vectors or matrices, or a vector and a scalar of its items";
  }
  if (op == ir::BinaryOp::kAdd || op == ir::BinaryOp::kSub) {
    return "two vectors or two matrices of one type";
  }
  return NeedsIntegers(op) ? "two integer vectors of one type" : "two scalars of one type";
}

bool IsOrdering(ir::BinaryOp op) {
  return op >= ir::BinaryOp::kLess && op <= ir::BinaryOp::kGreaterEqual;
}

// Version 2 takes the scalar of a product on the left too (spec/rpl 14.3).
bool IsMirrored(const RegionBuilder& region, ir::BinaryOp op, ir::TypeId left, ir::TypeId right) {
  const ir::Type& scalar = region.pool()[left];
  return region.IsVersion2() && op == ir::BinaryOp::kMul && scalar.kind == ir::TypeKind::kVector &&
         scalar.rows == 1 &&
         ir::TypeOfBinary(region.pool(), region.rules(), op, right, left).has_value();
}

// True if it was worth a warning; one for all items of a vector is enough.
bool WarnOfConstantItem(RegionBuilder& region, ir::BinaryOp op, ir::ConstId item, uint32_t id) {
  const uint32_t bits = region.pool()[item].a;
  const ir::Scalar scalar = region.pool()[region.pool()[item].type].scalar;
  // Minus zero divides like zero.
  const bool zero = bits == 0 || (scalar == ir::Scalar::kF32 && bits == 0x80000000u);
  if ((op == ir::BinaryOp::kDiv || op == ir::BinaryOp::kMod) && zero) {
    region.Report(Make(Code::kRpl6029, region.AuxOf(id)).With("op", OperatorText(op)));
    return true;
  }
  // A count that is negative has its upper bit set and is above 31 as well; the message shows it as
  // it was written.
  if ((op == ir::BinaryOp::kShiftLeft || op == ir::BinaryOp::kShiftRight) && bits > 31) {
    const bool negative = scalar == ir::Scalar::kS32 && bits >> 31 != 0;
    region.Report(
        Make(Code::kRpl6030, region.AuxOf(id))
            .With("count", negative ? int64_t{static_cast<int32_t>(bits)} : int64_t{bits}));
    return true;
  }
  return false;
}

// Only what is known when the shader is compiled is warned of, and only operators whose right side
// can be wrong by itself.
void WarnOfConstantOperand(RegionBuilder& region, ir::BinaryOp op, ir::InstId right, uint32_t id) {
  const ir::Inst& inst = region.out().insts[right.value];
  if (inst.kind != ir::InstKind::kConst || region.pool()[inst.type].kind != ir::TypeKind::kVector) {
    return;
  }
  const ir::ConstId constant = inst.As<ir::ConstInst>().value;
  const bool scalar = region.pool()[inst.type].rows == 1;
  // A scalar is its own only item.
  for (const ir::ConstId item : scalar
                                    ? std::span(&constant, 1)
                                    : std::span<const ir::ConstId>(region.pool().Parts(constant))) {
    if (WarnOfConstantItem(region, op, item, id)) {
      return;
    }
  }
}

// The message says what the operator takes, and for two frequent mistakes what would mend this very
// line: the scalar on the wrong side, and operands of different scalars.
void ReportBinary(RegionBuilder& region, ir::BinaryOp op, ir::TypeId left, ir::TypeId right,
                  uint32_t id) {
  const bool integers = NeedsIntegers(op);
  // The three codes differ in what an author has to look at: integers, comparisons, or types in
  // general.
  const Code code = integers ? Code::kRpl6023 : IsComparison(op) ? Code::kRpl6025 : Code::kRpl6022;
  const ir::Type& a = region.pool()[left];
  const ir::Type& b = region.pool()[right];
  const bool vectors = a.kind == ir::TypeKind::kVector && b.kind == ir::TypeKind::kVector;
  std::string accepted(AcceptedOperands(op));
  if (op == ir::BinaryOp::kMul && vectors && a.rows == 1 && b.rows > 1 && a.scalar == b.scalar) {
    accepted = "the scalar as the right operand";
  } else if (vectors && a.rows == b.rows && a.scalar != b.scalar && !IsOrdering(op)) {
    accepted = region.TypeName(left) + " { ... } around the right operand";
  }
  region.Report(Make(code, region.AuxOf(id))
                    .With("op", OperatorText(op))
                    .With("left", region.TypeName(left))
                    .With("right", region.TypeName(right)));
  region.diagnostics().back().notes.push_back(
      {.kind = NoteKind::kAccepted, .arguments = {Argument("accepted", accepted)}});
}

// Free of calls, assignments and variable subscripts: both operands may be evaluated
// (spec/rpl 14.3, docs/rpl/version2.md).
bool IsPlain(const RegionBuilder& region, ir::BlockId block) {
  for (const uint32_t row : region.module().InstsOf(block)) {
    const ir::Inst& inst = region.Generic(row);
    if (inst.kind == ir::InstKind::kNameCall || inst.kind == ir::InstKind::kNameBuiltin ||
        inst.kind == ir::InstKind::kAssign || inst.kind == ir::InstKind::kAssignOp) {
      return false;
    }
    if (inst.kind == ir::InstKind::kIndex &&
        region.Generic(inst.As<ir::IndexInst>().index.value).kind != ir::InstKind::kConst) {
      return false;  // out of bounds where the condition fails: `i < count ? items[i] : none`
    }
    if (inst.kind == ir::InstKind::kLogical && !IsPlain(region, inst.As<ir::LogicalInst>().right)) {
      return false;
    }
    if (inst.kind == ir::InstKind::kNameSelect) {
      for (const uint32_t nested : region.module().List(inst.As<ir::NameSelectInst>().blocks)) {
        if (!IsPlain(region, ir::BlockId{nested})) {
          return false;
        }
      }
    }
  }
  return true;
}

bool CheckSelect(RegionBuilder& region, uint32_t id, ir::InstId condition,
                 std::span<const ir::InstId> values) {
  if (region.TypeOf(condition) != region.pool().bool_type()) {
    region.Report(Make(Code::kRpl6045,
                       region.MainOf(region.Generic(id).As<ir::NameSelectInst>().condition.value))
                      .With("keyword", "?:")
                      .With("type", region.TypeName(region.TypeOf(condition))));
    return false;
  }
  if (region.TypeOf(values[0]) != region.TypeOf(values[1])) {
    region.Report(Make(Code::kRpl8114, region.AuxOf(id))
                      .With("left", region.TypeName(region.TypeOf(values[0])))
                      .With("right", region.TypeName(region.TypeOf(values[1]))));
    return false;
  }
  return true;
}

}  // namespace

Operand SpecialiseUnary(RegionBuilder& region, uint32_t id) {
  const auto unary = region.Generic(id).As<ir::NameUnaryInst>();
  Operand& source = region.OperandOf(unary.operand);
  const Role role{.form = Role::Form::kOperand, .text = OperatorText(unary.op)};
  // Literals keep their sign apart until here: the smallest number is written as the negative of
  // one that does not exist (spec/rpl 1.3), so the minus folds.
  const bool literal =
      source.constant && region.Generic(unary.operand.value).kind == ir::InstKind::kConst;
  const ir::InstId value = Read(region, unary.operand.value, role);
  if (!value.valid()) {
    return {};
  }
  const ir::TypeId type = region.TypeOf(value);
  if (!ir::TypeOfUnary(region.pool(), region.rules(), unary.op, type).has_value()) {
    if (unary.op == ir::UnaryOp::kNot) {
      region.Report(Make(Code::kRpl6024, region.AuxOf(id))
                        .With("op", "!")
                        .With("type", region.TypeName(type)));
    } else {
      region.Report(Make(Code::kRpl6027, region.AuxOf(id))
                        .With("op", OperatorText(unary.op))
                        .With("type", region.TypeName(type)));
    }
    return {};
  }
  if (unary.op == ir::UnaryOp::kPlus) {
    Operand same = region.ValueOf(value);
    same.constant = source.constant;
    return same;
  }
  if (unary.op == ir::UnaryOp::kNegate && literal) {  // unary minus on a literal folds
    const uint32_t bits =
        region.pool()[region.out().insts[value.value].As<ir::ConstInst>().value].a;
    const bool is_float = region.pool()[type].scalar == ir::Scalar::kF32;
    const uint32_t negated = is_float ? bits ^ 0x80000000u : 0u - bits;
    Operand folded = region.ValueOf(region.EmitConst(region.pool().InternScalar(type, negated)));
    folded.constant = true;
    return folded;
  }
  return region.ValueOf(
      region.Emit(ir::UnaryInst{.type = type, .op = unary.op, .operand = value}.To()));
}

// Both sides are read before the operator is typed, also if the left one is wrong.
Operand SpecialiseBinary(RegionBuilder& region, uint32_t id) {
  const auto binary = region.Generic(id).As<ir::NameBinaryInst>();
  const std::string_view op = OperatorText(binary.op);
  const ir::InstId left = Read(region, binary.left.value, {.form = Role::Form::kLeft, .text = op});
  const ir::InstId right =
      Read(region, binary.right.value, {.form = Role::Form::kRight, .text = op});
  if (!left.valid() || !right.valid()) {
    return {};
  }
  return CombineBinary(region, binary.op, left, right, id);
}

// Typing is a table of the IR; here only the forms of RPL are rewritten into it: a scalar on the
// left is exchanged, one on the right becomes a vector.
Operand CombineBinary(RegionBuilder& region, ir::BinaryOp op, ir::InstId left, ir::InstId right,
                      uint32_t id) {
  const ir::TypeId left_type = region.TypeOf(left);
  const ir::TypeId right_type = region.TypeOf(right);
  const std::optional<ir::BinaryTyping> typing =
      ir::TypeOfBinary(region.pool(), region.rules(), op, left_type, right_type);
  if (!typing.has_value() && IsMirrored(region, op, left_type, right_type)) {
    // The order of evaluation is not changed, only that of the operands.
    return CombineBinary(region, op, right, left, id);  // both are evaluated already
  }
  if (!typing.has_value()) {
    ReportBinary(region, op, left_type, right_type, id);
    return {};
  }
  WarnOfConstantOperand(region, op, right, id);
  if (typing->form == ir::BinaryForm::kSplatRight) {
    right = region.Emit(ir::SplatInst{.type = left_type, .value = right}.To());
  }
  return region.ValueOf(region.Emit(
      ir::BinaryInst{.type = typing->result, .op = op, .left = left, .right = right}.To()));
}

// A constructor around the value is proposed only if it would be accepted.
void NoteConversion(RegionBuilder& region, ir::TypeId from, ir::TypeId to) {
  const ir::Type& target = region.pool()[to];
  // Version 1 has no constructor from booleans.
  const bool makes =
      (target.kind == ir::TypeKind::kVector || target.kind == ir::TypeKind::kMatrix) &&
      (region.pool()[from].scalar != ir::Scalar::kBool || region.IsVersion2());
  if (makes && ir::TypeOfConstructor(region.pool(), to, std::span(&from, 1)).has_value()) {
    region.diagnostics().back().notes.push_back(
        {.kind = NoteKind::kAccepted,
         .arguments = {Argument("accepted", region.TypeName(to) + " { ... } around the value")}});
  }
}

Operand SpecialiseLogical(RegionBuilder& region, uint32_t id) {
  const auto logical = region.Generic(id).As<ir::LogicalInst>();
  const std::string_view op = OperatorText(logical.op);
  const ir::InstId left = Read(region, logical.left.value, {.form = Role::Form::kLeft, .text = op});
  ir::BlockId block;
  const ir::InstId right =
      SpecialiseYield(region, logical.right, {.form = Role::Form::kRight, .text = op}, &block);
  if (!left.valid() || !right.valid()) {
    return {};
  }
  // Both sides have been specialised by now, so that their own mistakes are told first.
  for (const ir::InstId side : {left, right}) {
    if (region.TypeOf(side) != region.pool().bool_type()) {
      region.Report(Make(Code::kRpl6024, region.AuxOf(id))
                        .With("op", op)
                        .With("type", region.TypeName(region.TypeOf(side))));
      return {};
    }
  }
  return region.ValueOf(region.Emit(ir::LogicalInst{
      .type = region.pool().bool_type(), .op = logical.op, .left = left, .right = block}
                                        .To()));
}

// The two sides are evaluated both where that is safe and free; otherwise each is a block that runs
// alone. The difference is not visible, but a branch costs more than a few plain instructions.
Operand SpecialiseSelect(RegionBuilder& region, uint32_t id) {
  const auto select = region.Generic(id).As<ir::NameSelectInst>();
  const ir::InstId condition =
      Read(region, select.condition.value, {.form = Role::Form::kCondition, .text = "?:"});
  const std::span<const uint32_t> open = region.module().List(select.blocks);
  KILN_CHECK(open.size() == 2, "?: with {} branches", open.size());
  const bool plain = IsPlain(region, ir::BlockId{open[0]}) && IsPlain(region, ir::BlockId{open[1]});
  const Role role{.form = Role::Form::kOperand, .text = "?:"};
  std::array<ir::BlockId, 2> blocks{};
  std::array<ir::InstId, 2> values;
  for (uint32_t i = 0; i < 2; ++i) {
    values[i] = plain ? SpecialiseInline(region, ir::BlockId{open[i]}, role)
                      : SpecialiseYield(region, ir::BlockId{open[i]}, role, &blocks[i]);
  }
  if (!condition.valid() || !values[0].valid() || !values[1].valid() ||
      !CheckSelect(region, id, condition, values)) {
    return {};
  }
  const ir::TypeId type = region.TypeOf(values[0]);
  if (plain && region.pool()[type].kind == ir::TypeKind::kVector) {
    const std::array choices{values[0].value, values[1].value};
    return region.ValueOf(region.Emit(
        ir::SelectInst{.type = type, .condition = condition, .operands = region.EmitList(choices)}
            .To()));
  }
  // A select has only vectors. Other values were computed in this block, so the blocks just yield
  // them.
  for (uint32_t i = 0; plain && i < 2; ++i) {  // matrices and structs are chosen by branches
    region.BeginBlock();
    region.Emit(ir::YieldInst{.type = region.pool().void_type(), .value = values[i]}.To());
    blocks[i] = region.EndBlock();
  }
  const std::array words{blocks[0].value, blocks[1].value};
  return region.ValueOf(region.Emit(
      ir::SelectBlocksInst{.type = type, .condition = condition, .blocks = region.EmitList(words)}
          .To()));
}

}  // namespace kiln::resolve
