// SPDX-License-Identifier: MIT
// What WGSL can compute when a module is made, it computes, and refuses the module if that fails: a
// division by zero, a result that is not finite, bounds out of order. So one operand of an
// operation on constants alone goes through a variable, and so does a constant that is wrong
// whatever the other operand is. See spec/wgsl 3.4, 3.5.
#include "compiler/emit/wgsl/lower/lower_expr.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/emit/wgsl/literals.h"
#include "compiler/emit/wgsl/lower/lower_image.h"
#include "compiler/emit/wgsl/lower/lower_memory.h"
#include "compiler/emit/wgsl/lower/lower_typed.h"
#include "compiler/emit/wgsl/lower/rows.h"
#include "compiler/emit/wgsl/names.h"
#include "compiler/ir/enum_names.h"
#include "compiler/ir/typing/typing.h"

namespace kiln::wgsl {
namespace {

constexpr char kLetters[] = "xyzw";

// What is put together of two expressions: WGSL evaluates it early only if it does so with both, it
// reads memory if either does, and it is one level deeper than the deeper one.
Expr Joined(std::string text, const Expr& a, const Expr& b, Binding binding) {
  return {.text = std::move(text),
          .binding = binding,
          .constant = a.constant && b.constant,
          .reads = a.reads || b.reads,
          .depth = std::max(a.depth, b.depth) + 1};
}

Expr Binary(const Expr& a, std::string_view op, const Expr& b) {
  return Joined(fmt::format("{} {} {}", OperandText(a), op, OperandText(b)), a, b,
                Binding::kBinary);
}

// A function or constructor of one value.
Expr Applied(std::string_view function, const Expr& value) {
  Expr applied = value;
  applied.text = fmt::format("{}({})", function, ArgumentText(value));
  applied.binding = Binding::kPrimary;
  applied.depth = value.depth + 1;
  return applied;
}

Expr Bitcast(RegionLowering& region, ir::Scalar scalar, uint32_t rows, const Expr& value) {
  return Applied(fmt::format("bitcast<{}>", region.VectorType(scalar, rows)), value);
}

Expr Called(std::string_view function, std::span<const Expr> arguments) {
  Expr call{.text = std::string(function) + "(", .constant = true};
  for (size_t i = 0; i < arguments.size(); ++i) {
    call.text += i == 0 ? "" : ", ";
    call.text += ArgumentText(arguments[i]);
    call.constant = call.constant && arguments[i].constant;
    call.reads = call.reads || arguments[i].reads;
    call.depth = std::max(call.depth, arguments[i].depth + 1);
  }
  call.text += ")";
  return call;
}

// The scalars of a constant, however it is put together; false if some operand is none.
bool AddScalars(const RegionLowering& region, ir::ConstId constant, std::vector<uint32_t>& bits) {
  const ir::Const& c = region.pool()[constant];
  if (c.composite == 0) {
    bits.push_back(c.a);
    return true;
  }
  bool good = true;
  for (const ir::ConstId part : region.pool().Parts(constant)) {
    good = AddScalars(region, part, bits) && good;
  }
  return good;
}
bool AddScalars(const RegionLowering& region, ir::InstId id, std::vector<uint32_t>& bits) {
  const ir::Inst& inst = region.InstOf(id);
  if (inst.kind == ir::InstKind::kConst) {
    return AddScalars(region, inst.As<ir::ConstInst>().value, bits);
  }
  if (inst.kind == ir::InstKind::kSplat) {
    return AddScalars(region, inst.As<ir::SplatInst>().value, bits);
  }
  if (inst.kind != ir::InstKind::kConstruct) {
    return false;
  }
  for (const uint32_t part : region.source().List(inst.As<ir::ConstructInst>().operands)) {
    if (!AddScalars(region, ir::InstId{part}, bits)) {
      return false;
    }
  }
  return true;
}

// Whether a constant right operand fails for some left one.
// WGSL refuses a module in which a constant divisor is zero or a constant shift is too large, also
// where the other operand is only known at run time.
bool FailsAsRight(const RegionLowering& region, ir::InstId id, BinaryForm form) {
  std::vector<uint32_t> bits;
  if (!AddScalars(region, id, bits)) {
    return true;  // a constant of the pipeline, or one that is not seen through
  }
  const bool shift = form == BinaryForm::kShift || form == BinaryForm::kLogicalShift ||
                     form == BinaryForm::kArithmeticShift;
  return std::ranges::any_of(bits,
                             [&](uint32_t value) { return shift ? value >= 32 : value == 0; });
}

// A constant count as the unsigned one that it is in WGSL. Requires: AddScalars sees through it, as
// FailsAsRight found.
Expr UnsignedConstant(RegionLowering& region, ir::InstId id, uint32_t rows) {
  std::vector<uint32_t> bits;
  AddScalars(region, id, bits);
  const bool same = std::ranges::all_of(bits, [&](uint32_t one) { return one == bits[0]; });
  std::vector<Expr> parts;
  for (const uint32_t one : same ? std::span(bits).first(1) : std::span(bits)) {
    parts.push_back({.text = fmt::format("{}u", one), .constant = true});
  }
  return rows == 1 ? parts[0] : Called(region.VectorType(ir::Scalar::kU32, rows), parts);
}

// Shift counts are u32 in WGSL, whatever is shifted. A shift that ignores the sign of its type, or
// asks for it, goes through the type that has it.
Expr Shifted(RegionLowering& region, const ir::Type& type, BinaryForm form, const Expr& left,
             const Expr& right, ir::InstId right_id, std::string_view op) {
  const Expr count = type.scalar == ir::Scalar::kU32 ? right
                     : right.constant && region.typed()
                         ? UnsignedConstant(region, right_id, type.rows)
                         : Bitcast(region, ir::Scalar::kU32, type.rows, right);
  if (form == BinaryForm::kShift) {
    return Binary(left, op, count);
  }
  const ir::Scalar way = form == BinaryForm::kLogicalShift ? ir::Scalar::kU32 : ir::Scalar::kS32;
  return Bitcast(region, type.scalar, type.rows,
                 Binary(Bitcast(region, way, type.rows, left), op, count));
}

// Helpers of one function for several sizes stand in a row.
Helper Plus(Helper first, uint32_t number) {
  return static_cast<Helper>(static_cast<uint32_t>(first) + number);
}

// The helper is written once into every module that needs it. A call of it is never evaluated
// early.
Expr HelperCall(RegionLowering& region, Helper helper, std::span<const Expr> arguments) {
  region.needs().helpers |= BitOf(helper);
  Expr call = Called(HelperName(helper), arguments);
  call.constant = false;
  return call;
}

// Matrices have no quotient in WGSL.
void DivideByColumns(RegionLowering& region, ir::InstId id, const ir::Type& matrix,
                     const Expr& left, const Expr& right) {
  const std::string type = region.Type(region.InstOf(id).type);
  // Both operands are used once for each column, so they get names.
  const Expr a = region.Named(type, left);
  const Expr b = region.Named(type, right);
  std::vector<Expr> columns;
  for (uint32_t i = 0; i < matrix.columns; ++i) {
    columns.push_back({.text = fmt::format("({0}[{2}u] / {1}[{2}u])", a.text, b.text, i)});
  }
  region.Define(id, Called(type, columns));
}

// Infinities and values that are no numbers have no literal, and a bitcast of a literal would be
// evaluated and refused. So the bits come from a private variable, which WGSL does not look into
// (spec/wgsl 3.4).
Expr SpecialFloat(RegionLowering& region, ir::Scalar scalar, uint32_t bits) {
  const SpecialBits special{.scalar = scalar, .bits = bits};
  if (std::ranges::find(region.needs().specials, special) == region.needs().specials.end()) {
    region.needs().specials.push_back(special);
  }
  region.needs().half = region.needs().half || scalar == ir::Scalar::kF16;
  return {.text = SpecialText(special)};
}

// Bounds that are constants must be in order, component by component; a scalar bound goes with all
// components of the other. What is not seen through counts as out of order.
bool InOrder(const RegionLowering& region, ir::InstId low, ir::InstId high) {
  std::vector<uint32_t> lows, highs;
  if (!AddScalars(region, low, lows) || !AddScalars(region, high, highs)) {
    return false;
  }
  const ir::Scalar scalar = region.TypeOf(low).scalar;
  for (size_t i = 0; i < std::max(lows.size(), highs.size()); ++i) {
    const uint32_t a = lows[std::min(i, lows.size() - 1)];
    const uint32_t b = highs[std::min(i, highs.size() - 1)];
    const bool less = scalar == ir::Scalar::kF32 ? std::bit_cast<float>(a) < std::bit_cast<float>(b)
                      : scalar == ir::Scalar::kF16 ? HalfToFloat(a) < HalfToFloat(b)
                      : scalar == ir::Scalar::kS32
                          ? static_cast<int32_t>(a) < static_cast<int32_t>(b)
                          : a < b;
    if (!less) {
      return false;
    }
  }
  return true;
}

}  // namespace

// A half is read from the lower half of the word.
std::string SpecialText(const SpecialBits& special) {
  return special.scalar == ir::Scalar::kF16
             ? fmt::format("bitcast<vec2<f16>>(kiln__bits_{:08x}).x", special.bits)
             : fmt::format("bitcast<f32>(kiln__bits_{:08x})", special.bits);
}

Expr ConstantExpr(RegionLowering& region, ir::ConstId constant) {
  const ir::Const c = region.pool()[constant];
  const ir::Type type = region.pool()[c.type];
  if (c.composite == 0) {
    region.needs().half = region.needs().half || type.scalar == ir::Scalar::kF16;
    if (!HasLiteral(type.scalar, c.a)) {
      return SpecialFloat(region, type.scalar, c.a);
    }
    std::string text = Literal(type.scalar, c.a);
    // A negative literal binds like a unary operator: `x - -1.0f` must not become a decrement.
    const bool negative = text.starts_with('-');
    return {.text = std::move(text),
            .binding = negative ? Binding::kUnary : Binding::kPrimary,
            .constant = true};
  }
  if (region.typed() && IsZeroConstant(region.pool(), constant)) {
    return {.text = region.Type(c.type) + "()", .constant = true};
  }
  std::vector<Expr> parts;
  const std::span<const ir::ConstId> ids = region.pool().Parts(constant);
  // Equal components are written once, as WGSL's constructors spread a single value.
  const bool splat = type.kind == ir::TypeKind::kVector &&
                     std::ranges::all_of(ids, [&](ir::ConstId id) { return id == ids[0]; });
  for (const ir::ConstId part : splat ? ids.first(1) : ids) {
    parts.push_back(ConstantExpr(region, part));
  }
  return Called(region.Type(c.type), parts);
}

void LowerUnary(RegionLowering& region, ir::InstId id, const ir::UnaryInst& inst) {
  const ir::Type& type = region.pool()[inst.type];
  Expr value = region.Take(inst.operand);
  if (inst.op == ir::UnaryOp::kPlus) {
    region.Define(id, std::move(value));
    return;
  }
  // WGSL has no minus for matrices.
  if (type.kind == ir::TypeKind::kMatrix) {
    region.Define(id, Binary(value, "*", {.text = "-1.0f", .binding = Binding::kUnary}));
    return;
  }
  const std::string_view op = TextOf(inst.op, type.scalar);
  KILN_CHECK(!op.empty(), "no unary operator {} of this type", inst.op);
  // The negative of a constant may fail, as that of the smallest integer.
  if (value.constant) {
    value = region.Hidden(region.InstOf(inst.operand).type, value);
  }
  value.text = std::string(op) + OperandText(value);
  value.binding = Binding::kUnary;
  value.depth += 1;
  region.Define(id, std::move(value));
}

// The table says for each operator and scalar how it is written. Constants are hidden first: of two
// constants one, so that WGSL does not evaluate the operation; of a single one that fails whatever
// the other is, that one.
void LowerBinary(RegionLowering& region, ir::InstId id, const ir::BinaryInst& inst) {
  const ir::Type left_type = region.TypeOf(inst.left);
  const ir::Type right_type = region.TypeOf(inst.right);
  if (region.IsWeak(id)) {  // whether an exchange has happened
    return region.Define(id, ExchangedText(region, inst.left));
  }
  const BinaryRow& row = RowOf(inst.op);
  const BinaryForm form = FormOf(row, left_type.scalar);
  KILN_CHECK(form != BinaryForm::kNone, "no operator {} of this type", inst.op);
  // A count that is unsigned and was made signed for the IR.
  const bool unsigned_count = region.IsTakenApart(inst.right);
  const ir::InstId right_id =
      unsigned_count ? region.InstOf(inst.right).As<ir::BitcastInst>().value : inst.right;
  Expr left = region.Take(inst.left);
  Expr right = region.Take(right_id);
  if (left.constant && right.constant) {
    left = region.Hidden(region.InstOf(inst.left).type, left);
  }
  if (right.constant && form != BinaryForm::kPlain && form != BinaryForm::kNotEqual &&
      FailsAsRight(region, right_id, form)) {
    right = region.Hidden(region.InstOf(right_id).type, right);
  }
  if (unsigned_count) {
    return region.Define(id, Binary(left, row.text, right));
  }
  const bool matrices =
      left_type.kind == ir::TypeKind::kMatrix && right_type.kind == ir::TypeKind::kMatrix;
  switch (form) {
    // `%` in WGSL has the sign of the left operand, in the IR that of the right one.
    case BinaryForm::kModulus: {
      const Expr arguments[] = {left, right};
      region.Define(id,
                    HelperCall(region, Plus(Helper::kModulus1, left_type.rows - 1u), arguments));
      return;
    }
    case BinaryForm::kShift:
    case BinaryForm::kLogicalShift:
    case BinaryForm::kArithmeticShift:
      region.Define(id, Shifted(region, left_type, form, left, right, right_id, row.text));
      return;
    case BinaryForm::kNotEqual:
      region.Define(id, Binary(left, "!=", right));
      return;
    case BinaryForm::kPlain:
    case BinaryForm::kDivide:
    case BinaryForm::kNone:
      break;
  }
  if (matrices && inst.op == ir::BinaryOp::kDiv) {
    DivideByColumns(region, id, left_type, left, right);
    return;
  }
  region.Define(id, Binary(left, row.text, right));
}

void LowerConstruct(RegionLowering& region, ir::InstId id, const ir::ConstructInst& inst) {
  if (region.typed() && IsZero(region.source(), region.pool(), id)) {
    return region.Define(id, {.text = region.Type(inst.type) + "()", .constant = true});
  }
  std::vector<Expr> parts;
  for (const uint32_t operand : region.source().List(inst.operands)) {
    parts.push_back(region.Take(ir::InstId{operand}));
  }
  region.Define(id, Called(region.Type(inst.type), parts));
}

void LowerSplat(RegionLowering& region, ir::InstId id, const ir::SplatInst& inst) {
  const Expr value = region.Take(inst.value);
  region.Define(
      id, region.pool()[inst.type].rows == 1 ? value : Applied(region.Type(inst.type), value));
}

void LowerConvert(RegionLowering& region, ir::InstId id, const ir::ConvertInst& inst) {
  const ir::Type& from = region.TypeOf(inst.value);
  const ir::Type& to = region.pool()[inst.type];
  Expr value = region.Take(inst.value);
  if (from.scalar == to.scalar) {
    region.Define(id, std::move(value));
    return;
  }
  // A conversion of a constant that is out of range would be refused. Booleans are always in range.
  if (value.constant && from.scalar != ir::Scalar::kBool) {
    value = region.Hidden(region.InstOf(inst.value).type, value);
  }
  region.Define(id, Applied(region.Type(inst.type), value));
}

void LowerExtract(RegionLowering& region, ir::InstId id, const ir::ExtractInst& inst) {
  const ir::Type type = region.TypeOf(inst.value);
  // A part of what was put together is what it was made of; a part that WGSL gives stands alone.
  if (region.IsTakenApart(inst.value)) {
    const ir::InstId part{region.source().List(
        region.InstOf(inst.value).As<ir::ConstructInst>().operands)[inst.index]};
    return region.Define(id, region.Take(part));
  }
  if (region.IsShownAsPart(inst.value)) {
    return region.Define(id, region.Take(inst.value));
  }
  Expr value = region.Take(inst.value);
  value.text = OperandText(value);
  if (region.types().IsInbuilt(region.InstOf(inst.value).type)) {
    value.text += InbuiltMember(region, inst);
  } else if (type.kind == ir::TypeKind::kStruct) {
    const ir::ShapeMember& member =
        region.pool().Members(region.InstOf(inst.value).type)[inst.index];
    value.text += "." + region.types().Member(region.pool().Text(member.name));
  } else if (type.kind == ir::TypeKind::kVector) {
    value.text += std::string(".") + kLetters[inst.index];
  } else {
    value.text += fmt::format("[{}u]", inst.index);
  }
  value.binding = Binding::kPrimary;
  region.Define(id, std::move(value));
}

void LowerSwizzle(RegionLowering& region, ir::InstId id, const ir::SwizzleInst& inst) {
  Expr value = region.Take(inst.value);
  if (region.IsShownAsPart(inst.value)) {
    return region.Define(id, std::move(value));
  }
  const uint32_t count = ir::SwizzleCount(inst.letters);
  // A swizzle of a scalar repeats it.
  if (region.TypeOf(inst.value).rows == 1) {
    region.Define(id, count == 1 ? value : Applied(region.Type(inst.type), value));
    return;
  }
  value.text = OperandText(value) + ".";
  for (uint32_t i = 0; i < count; ++i) {
    value.text += kLetters[ir::SwizzleLetter(inst.letters, i)];
  }
  value.binding = Binding::kPrimary;
  region.Define(id, std::move(value));
}

// WGSL has the value for "false" first.
void LowerSelect(RegionLowering& region, ir::InstId id, const ir::SelectInst& inst) {
  const std::span<const uint32_t> operands = region.source().List(inst.operands);
  const Expr condition = region.Take(inst.condition);
  const Expr yes = region.Take(ir::InstId{operands[0]});
  const Expr no = region.Take(ir::InstId{operands[1]});
  const Expr arguments[] = {no, yes, condition};
  region.Define(id, Called("select", arguments));
}

namespace {

// As WGSL's clamp is read: the form of the IR needs bounds in order, which is not known then.
void LowerClamp(RegionLowering& region, ir::InstId id, std::span<const uint32_t> operands) {
  Expr value = region.Take(ir::InstId{operands[0]});
  const Expr low = region.Take(ir::InstId{operands[1]});
  const Expr high = region.Take(ir::InstId{operands[2]});
  if (value.constant && low.constant) {
    value = region.Hidden(region.InstOf(ir::InstId{operands[0]}).type, value);
  }
  const Expr raised = Called("max", std::array{value, low});
  region.Define(id, Called("min", std::array{raised, high}));
}

}  // namespace

void LowerBuiltin(RegionLowering& region, ir::InstId id, const ir::BuiltinCallInst& inst) {
  const BuiltinRow& row = RowOf(inst.builtin);
  switch (row.form) {
    case BuiltinForm::kSampling:
      return LowerSample(region, id, inst);
    case BuiltinForm::kImage:
      return LowerImage(region, id, inst);
    case BuiltinForm::kMemory:
      return LowerMemory(region, id, inst);
    case BuiltinForm::kSpecialising:
    case BuiltinForm::kMissing:
      KILN_CHECK(false, "{} in specialised code", ir::FactsOf(inst.builtin).name);
      return;
    case BuiltinForm::kCall:
    case BuiltinForm::kRangeCall:
    case BuiltinForm::kVectorCall:
    case BuiltinForm::kHelper:
      break;
  }
  const std::span<const uint32_t> operands = region.source().List(inst.arguments);
  std::vector<Expr> arguments;
  if (region.typed() &&
      (inst.builtin == ir::Builtin::kClamp || inst.builtin == ir::Builtin::kNClamp)) {
    return LowerClamp(region, id, operands);
  }
  for (const uint32_t operand : operands) {
    // A part of a field of bits that is kept in the word: WGSL keeps it.
    const bool kept = region.IsTakenApart(ir::InstId{operand});
    arguments.push_back(region.Take(kept ? FirstArgument(region, operand) : ir::InstId{operand}));
  }
  // One hidden operand is enough to keep WGSL from evaluating the call. Where bounds are out of
  // order it must be one of them, because WGSL looks at these apart from the rest.
  const bool constant = std::ranges::all_of(arguments, &Expr::constant);
  // Of clamp the bounds stand behind the value, of smoothstep in front of it.
  const size_t low = inst.builtin == ir::Builtin::kClamp ? 1 : 0;
  const bool hide_low = row.form == BuiltinForm::kRangeCall && arguments[low].constant &&
                        arguments[low + 1].constant &&
                        !InOrder(region, ir::InstId{operands[low]}, ir::InstId{operands[low + 1]});
  if (constant || hide_low) {
    const size_t hidden = hide_low ? low : 0;
    arguments[hidden] =
        region.Hidden(region.InstOf(ir::InstId{operands[hidden]}).type, arguments[hidden]);
  }
  const ir::Type& type = region.TypeOf(ir::InstId{operands[0]});
  if (const std::optional<Helper> helper = HelperOf(inst.builtin, type)) {
    region.Define(id, HelperCall(region, *helper, arguments));
    return;
  }
  Expr call = Called(row.text, arguments);
  call.constant = false;
  // Derivatives stay where their neighbours are.
  call.reads =
      call.reads || (inst.builtin >= ir::Builtin::kDdx && inst.builtin <= ir::Builtin::kDdyCoarse);
  region.Define(id, std::move(call));
}

}  // namespace kiln::wgsl
