// SPDX-License-Identifier: MIT
// Operators and assignment: operand types are checked against ir/typing, and what the closed form
// does not have is written out in terms of what it has (spec/rpl 5.2, 5.3, 5.5).
#include <array>
#include <bit>

#include "compiler/base/check.h"
#include "compiler/ir/typing.h"
#include "compiler/resolve/open_text.h"
#include "compiler/resolve/region_specialiser.h"

namespace kiln::resolve {
namespace {

bool IsComparison(ir::BinaryOp op) { return op >= ir::BinaryOp::kLess; }

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

}  // namespace

Operand RegionSpecialiser::SpecialiseUnary(uint32_t id) {
  const auto unary = Open(id).As<ir::NameUnaryInst>();
  Operand& source = OperandOf(unary.operand);
  const Role role{.form = Role::Form::kOperand, .text = OperatorText(unary.op)};
  const bool literal = source.constant && Open(unary.operand.value).kind == ir::InstKind::kConst;
  const ir::InstId value = Read(unary.operand.value, role);
  if (!value.valid()) {
    return {};
  }
  const ir::TypeId type = TypeOf(value);
  if (!ir::TypeOfUnary(pool_, rules(), unary.op, type).has_value()) {
    if (unary.op == ir::UnaryOp::kNot) {
      Report(Make(Code::kRpl6024, AuxOf(id)).With("op", "!").With("type", TypeName(type)));
    } else {
      Report(Make(Code::kRpl6027, AuxOf(id))
                 .With("op", OperatorText(unary.op))
                 .With("type", TypeName(type)));
    }
    return {};
  }
  if (unary.op == ir::UnaryOp::kPlus) {
    Operand same = ValueOf(value);
    same.constant = source.constant;
    return same;
  }
  if (unary.op == ir::UnaryOp::kNegate && literal) {  // unary minus on a literal folds
    const uint32_t bits = pool_[out_.insts[value.value].As<ir::ConstInst>().value].a;
    const bool is_float = pool_[type].scalar == ir::Scalar::kF32;
    const uint32_t negated = is_float ? bits ^ 0x80000000u : 0u - bits;
    Operand folded = ValueOf(EmitConst(pool_.InternScalar(type, negated)));
    folded.constant = true;
    return folded;
  }
  return ValueOf(Emit(ir::UnaryInst{.type = type, .op = unary.op, .operand = value}.To()));
}

Operand RegionSpecialiser::SpecialiseBinary(uint32_t id) {
  const auto binary = Open(id).As<ir::NameBinaryInst>();
  const std::string_view op = OperatorText(binary.op);
  const ir::InstId left = Read(binary.left.value, {.form = Role::Form::kLeft, .text = op});
  const ir::InstId right = Read(binary.right.value, {.form = Role::Form::kRight, .text = op});
  if (!left.valid() || !right.valid()) {
    return {};
  }
  return CombineBinary(binary.op, left, right, id);
}

Operand RegionSpecialiser::CombineBinary(ir::BinaryOp op, ir::InstId left, ir::InstId right,
                                         uint32_t id) {
  const ir::TypeId left_type = TypeOf(left);
  const ir::TypeId right_type = TypeOf(right);
  const std::optional<ir::BinaryTyping> typing =
      ir::TypeOfBinary(pool_, rules(), op, left_type, right_type);
  if (!typing.has_value() && IsMirrored(op, left_type, right_type)) {
    return CombineBinary(op, right, left, id);  // both are evaluated already
  }
  if (!typing.has_value()) {
    ReportBinary(op, left_type, right_type, id);
    return {};
  }
  WarnOfConstantOperand(op, right, id);
  if (typing->form == ir::BinaryForm::kSplatRight) {
    right = Emit(ir::SplatInst{.type = left_type, .value = right}.To());
  }
  return ValueOf(
      Emit(ir::BinaryInst{.type = typing->result, .op = op, .left = left, .right = right}.To()));
}

// Version 2 takes the scalar of a product on the left too (spec/rpl 14.3).
bool RegionSpecialiser::IsMirrored(ir::BinaryOp op, ir::TypeId left, ir::TypeId right) const {
  const ir::Type& scalar = pool_[left];
  return IsVersion2() && op == ir::BinaryOp::kMul && scalar.kind == ir::TypeKind::kVector &&
         scalar.rows == 1 && ir::TypeOfBinary(pool_, rules(), op, right, left).has_value();
}

void RegionSpecialiser::WarnOfConstantOperand(ir::BinaryOp op, ir::InstId right, uint32_t id) {
  const ir::Inst& inst = out_.insts[right.value];
  if (inst.kind != ir::InstKind::kConst || pool_[inst.type].kind != ir::TypeKind::kVector) {
    return;
  }
  const ir::ConstId constant = inst.As<ir::ConstInst>().value;
  const bool scalar = pool_[inst.type].rows == 1;
  for (const ir::ConstId item :
       scalar ? std::span(&constant, 1) : std::span<const ir::ConstId>(pool_.Parts(constant))) {
    if (WarnOfConstantItem(op, item, id)) {
      return;
    }
  }
}

// True if it was worth a warning; one for all items of a vector is enough.
bool RegionSpecialiser::WarnOfConstantItem(ir::BinaryOp op, ir::ConstId item, uint32_t id) {
  const uint32_t bits = pool_[item].a;
  const ir::Scalar scalar = pool_[pool_[item].type].scalar;
  const bool zero = bits == 0 || (scalar == ir::Scalar::kF32 && bits == 0x80000000u);
  if ((op == ir::BinaryOp::kDiv || op == ir::BinaryOp::kMod) && zero) {
    Report(Make(Code::kRpl6029, AuxOf(id)).With("op", OperatorText(op)));
    return true;
  }
  if ((op == ir::BinaryOp::kShiftLeft || op == ir::BinaryOp::kShiftRight) && bits > 31) {
    const bool negative = scalar == ir::Scalar::kS32 && bits >> 31 != 0;
    Report(Make(Code::kRpl6030, AuxOf(id))
               .With("count", negative ? int64_t{static_cast<int32_t>(bits)} : int64_t{bits}));
    return true;
  }
  return false;
}

// A constructor would make one of the other: said with the message before.
void RegionSpecialiser::NoteConversion(ir::TypeId from, ir::TypeId to) {
  const ir::Type& target = pool_[to];
  const bool makes =
      (target.kind == ir::TypeKind::kVector || target.kind == ir::TypeKind::kMatrix) &&
      (pool_[from].scalar != ir::Scalar::kBool || IsVersion2());
  if (makes && ir::TypeOfConstructor(pool_, to, std::span(&from, 1)).has_value()) {
    diagnostics_.back().notes.push_back(
        {.kind = NoteKind::kAccepted,
         .arguments = {Argument("accepted", TypeName(to) + " { ... } around the value")}});
  }
}

void RegionSpecialiser::ReportBinary(ir::BinaryOp op, ir::TypeId left, ir::TypeId right,
                                     uint32_t id) {
  const bool integers = NeedsIntegers(op);
  const Code code = integers ? Code::kRpl6023 : IsComparison(op) ? Code::kRpl6025 : Code::kRpl6022;
  const ir::Type& a = pool_[left];
  const ir::Type& b = pool_[right];
  const bool vectors = a.kind == ir::TypeKind::kVector && b.kind == ir::TypeKind::kVector;
  std::string accepted(AcceptedOperands(op));
  if (op == ir::BinaryOp::kMul && vectors && a.rows == 1 && b.rows > 1 && a.scalar == b.scalar) {
    accepted = "the scalar as the right operand";
  } else if (vectors && a.rows == b.rows && a.scalar != b.scalar && !IsOrdering(op)) {
    accepted = TypeName(left) + " { ... } around the right operand";
  }
  Report(Make(code, AuxOf(id))
             .With("op", OperatorText(op))
             .With("left", TypeName(left))
             .With("right", TypeName(right)));
  diagnostics_.back().notes.push_back(
      {.kind = NoteKind::kAccepted, .arguments = {Argument("accepted", accepted)}});
}

// Closes a value block and yields its value inside it; invalid if the value failed.
ir::InstId RegionSpecialiser::SpecialiseYield(ir::BlockId block, const Role& role,
                                              ir::BlockId* closed) {
  BeginBlock();
  const std::span<const uint32_t> insts = module_.InstsOf(block);
  const uint32_t outer = current_;
  SpecialiseInsts(insts);
  ir::InstId value;
  if (!insts.empty() && Open(insts.back()).kind == ir::InstKind::kYield) {
    value = Read(Open(insts.back()).As<ir::YieldInst>().value.value, role);
    if (value.valid()) {
      Emit(ir::YieldInst{.type = pool_.void_type(), .value = value}.To());
    }
  }
  current_ = outer;
  *closed = EndBlock();
  return value;
}

Operand RegionSpecialiser::SpecialiseLogical(uint32_t id) {
  const auto logical = Open(id).As<ir::LogicalInst>();
  const std::string_view op = OperatorText(logical.op);
  const ir::InstId left = Read(logical.left.value, {.form = Role::Form::kLeft, .text = op});
  ir::BlockId block;
  const ir::InstId right =
      SpecialiseYield(logical.right, {.form = Role::Form::kRight, .text = op}, &block);
  if (!left.valid() || !right.valid()) {
    return {};
  }
  for (const ir::InstId side : {left, right}) {
    if (TypeOf(side) != pool_.bool_type()) {
      Report(Make(Code::kRpl6024, AuxOf(id)).With("op", op).With("type", TypeName(TypeOf(side))));
      return {};
    }
  }
  return ValueOf(Emit(
      ir::LogicalInst{.type = pool_.bool_type(), .op = logical.op, .left = left, .right = block}
          .To()));
}

// Free of calls, assignments and variable subscripts: both operands may be evaluated
// (spec/rpl 14.3, docs/rpl/version2.md).
bool RegionSpecialiser::IsPlain(ir::BlockId block) const {
  for (const uint32_t row : module_.InstsOf(block)) {
    const ir::Inst& inst = Open(row);
    if (inst.kind == ir::InstKind::kNameCall || inst.kind == ir::InstKind::kNameBuiltin ||
        inst.kind == ir::InstKind::kAssign || inst.kind == ir::InstKind::kAssignOp) {
      return false;
    }
    if (inst.kind == ir::InstKind::kIndex &&
        Open(inst.As<ir::IndexInst>().index.value).kind != ir::InstKind::kConst) {
      return false;  // out of bounds where the condition fails: `i < count ? items[i] : none`
    }
    if (inst.kind == ir::InstKind::kLogical && !IsPlain(inst.As<ir::LogicalInst>().right)) {
      return false;
    }
    if (inst.kind == ir::InstKind::kNameSelect) {
      for (const uint32_t nested : module_.List(inst.As<ir::NameSelectInst>().blocks)) {
        if (!IsPlain(ir::BlockId{nested})) {
          return false;
        }
      }
    }
  }
  return true;
}

// The value of a plain block, evaluated where we are.
ir::InstId RegionSpecialiser::SpecialiseInline(ir::BlockId block, const Role& role) {
  const std::span<const uint32_t> insts = module_.InstsOf(block);
  const uint32_t outer = current_;
  SpecialiseInsts(insts);
  const ir::InstId value = Read(Open(insts.back()).As<ir::YieldInst>().value.value, role);
  current_ = outer;
  return value;
}

Operand RegionSpecialiser::SpecialiseSelect(uint32_t id) {
  const auto select = Open(id).As<ir::NameSelectInst>();
  const ir::InstId condition =
      Read(select.condition.value, {.form = Role::Form::kCondition, .text = "?:"});
  const std::span<const uint32_t> open = module_.List(select.blocks);
  KILN_CHECK(open.size() == 2, "?: with {} branches", open.size());
  const bool plain = IsPlain(ir::BlockId{open[0]}) && IsPlain(ir::BlockId{open[1]});
  const Role role{.form = Role::Form::kOperand, .text = "?:"};
  std::array<ir::BlockId, 2> blocks{};
  std::array<ir::InstId, 2> values;
  for (uint32_t i = 0; i < 2; ++i) {
    values[i] = plain ? SpecialiseInline(ir::BlockId{open[i]}, role)
                      : SpecialiseYield(ir::BlockId{open[i]}, role, &blocks[i]);
  }
  if (!condition.valid() || !values[0].valid() || !values[1].valid() ||
      !CheckSelect(id, condition, values)) {
    return {};
  }
  const ir::TypeId type = TypeOf(values[0]);
  if (plain && pool_[type].kind == ir::TypeKind::kVector) {
    const std::array choices{values[0].value, values[1].value};
    return ValueOf(Emit(
        ir::SelectInst{.type = type, .condition = condition, .operands = EmitList(choices)}.To()));
  }
  for (uint32_t i = 0; plain && i < 2; ++i) {  // matrices and structs are chosen by branches
    BeginBlock();
    Emit(ir::YieldInst{.type = pool_.void_type(), .value = values[i]}.To());
    blocks[i] = EndBlock();
  }
  const std::array words{blocks[0].value, blocks[1].value};
  return ValueOf(Emit(
      ir::SelectBlocksInst{.type = type, .condition = condition, .blocks = EmitList(words)}.To()));
}

bool RegionSpecialiser::CheckSelect(uint32_t id, ir::InstId condition,
                                    std::span<const ir::InstId> values) {
  if (TypeOf(condition) != pool_.bool_type()) {
    Report(Make(Code::kRpl6045, MainOf(Open(id).As<ir::NameSelectInst>().condition.value))
               .With("keyword", "?:")
               .With("type", TypeName(TypeOf(condition))));
    return false;
  }
  if (TypeOf(values[0]) != TypeOf(values[1])) {
    Report(Make(Code::kRpl8114, AuxOf(id))
               .With("left", TypeName(TypeOf(values[0])))
               .With("right", TypeName(TypeOf(values[1]))));
    return false;
  }
  return true;
}

Operand RegionSpecialiser::SpecialiseAssign(uint32_t id) {
  const auto assign = Open(id).As<ir::AssignInst>();
  const Operand target = OperandOf(assign.target);
  if (target.kind == OperandKind::kFailed) {
    return {};
  }
  const auto refuse = [&] {
    Report(Make(Code::kRpl6015, MainOf(assign.target.value))
               .With("text", TextOf(assign.target.value)));
    NoteAccess(target);
    return Operand{};
  };
  if (target.kind == OperandKind::kPlace && !target.writable) {
    return refuse();  // whatever is wrong with the value: both sides may be exchanged
  }
  const ir::InstId value = Read(assign.value.value, {.form = Role::Form::kRight, .text = "="});
  if (!value.valid()) {
    return {};
  }
  if (target.kind != OperandKind::kPlace) {
    return refuse();
  }
  if (pool_[target.type].kind == ir::TypeKind::kArray) {
    Report(Make(Code::kRpl6016, MainOf(assign.target.value)).With("role", "left operand of '='"));
    return {};
  }
  if (TypeOf(value) != target.type) {
    Report(Make(Code::kRpl6026, AuxOf(id))
               .With("right", TypeName(TypeOf(value)))
               .With("left", TypeName(target.type)));
    NoteConversion(TypeOf(value), target.type);
    return {};
  }
  StoreTo(target, value);
  return ValueOf(value);
}

Operand RegionSpecialiser::SpecialiseAssignOp(uint32_t id) {
  const auto assign = Open(id).As<ir::AssignOpInst>();
  const std::string_view op = OperatorText(assign.op);
  const ir::InstId before = Read(assign.target.value, {.form = Role::Form::kLeft, .text = op});
  const ir::InstId value = Read(assign.value.value, {.form = Role::Form::kRight, .text = op});
  const Operand target = OperandOf(assign.target);
  if (!before.valid() || !value.valid()) {
    return {};
  }
  if (target.kind != OperandKind::kPlace || !target.writable) {
    Report(Make(Code::kRpl6015, MainOf(assign.target.value))
               .With("text", TextOf(assign.target.value)));
    NoteAccess(target);
    return {};
  }
  const Operand result = CombineBinary(assign.op, before, value, id);
  if (result.kind == OperandKind::kFailed) {
    return {};
  }
  if (result.type != target.type) {
    Report(Make(Code::kRpl6026, AuxOf(id))
               .With("right", TypeName(result.type))
               .With("left", TypeName(target.type)));
    return {};
  }
  StoreTo(target, result.inst);
  return result;
}

}  // namespace kiln::resolve
