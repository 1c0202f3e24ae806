// SPDX-License-Identifier: MIT
// A divisor that would make a division undefined is replaced by one, by a select. That gives the
// results that are wanted: x / 1 = x, x % 1 = 0, and the smallest number through -1 becomes itself
// with rest 0. Counts of shifts lose their upper bits. A float that no integer of the type is near
// is converted as zero, and what it becomes is chosen behind the conversion: the largest integer is
// often no float, so clamping the float would be off by some.
#include "compiler/emit/spirv/lower/lower_guards.h"

#include <bit>

#include <spirv/unified1/GLSL.std.450.h>

#include "compiler/base/check.h"
#include "compiler/emit/spirv/lower/lower_expr.h"
#include "compiler/emit/spirv/lower/opcodes.h"

namespace kiln::spirv {
namespace {

using spv::Op;

Ref Constant(RegionLowering& region, ir::TypeId type, uint64_t bits) {
  const ir::Type& t = region.pool()[type];
  return Splat(region, type,
               Ref::Of(region.globals().Scalar(region.pool().Vector(t.scalar, 1), bits)));
}

Ref SelectOf(RegionLowering& region, SymbolId type, Ref condition, Ref yes, Ref no) {
  const Ref result = region.writer().NewId();
  region.Code(Op::OpSelect).Use(type).Use(result).Use(condition).Use(yes).Use(no);
  return result;
}

uint64_t MaskOf(ir::Scalar scalar) {
  const uint32_t width = ir::BitWidthOf(scalar);
  return width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
}

// The divisor, or one where it would be undefined.
Ref SafeDivisor(RegionLowering& region, ir::TypeId type, Ref left, Ref right) {
  const ir::Type t = region.pool()[type];
  const SymbolId flags = region.Type(region.pool().Vector(ir::Scalar::kBool, t.rows));
  Ref bad = region.Compute(Op::OpIEqual, flags, right, Constant(region, type, 0));
  // The smallest number divided by -1 is one more than the largest, which overflows. As unsigned
  // bits the smallest is half the mask plus one, and -1 is the mask.
  if (ir::IsSignedScalar(t.scalar)) {
    const uint64_t mask = MaskOf(t.scalar);
    const Ref smallest =
        region.Compute(Op::OpIEqual, flags, left, Constant(region, type, mask / 2 + 1));
    const Ref minus_one = region.Compute(Op::OpIEqual, flags, right, Constant(region, type, mask));
    const Ref both = region.Compute(Op::OpLogicalAnd, flags, smallest, minus_one);
    bad = region.Compute(Op::OpLogicalOr, flags, bad, both);
  }
  return SelectOf(region, region.Type(type), bad, Constant(region, type, 1), right);
}

// Float bits of a power of two.
// Floats are powers of two exactly when all bits of the fraction are zero, so only the biased
// exponent is set.
uint64_t PowerOfTwo(ir::Scalar scalar, uint32_t exponent) {
  if (scalar == ir::Scalar::kF64) {
    return uint64_t{exponent + 1023} << 52;
  }
  return scalar == ir::Scalar::kF32 ? uint64_t{exponent + 127} << 23
                                    : uint64_t{exponent + 15} << 10;
}

}  // namespace

Ref LowerTotal(RegionLowering& region, const ir::BinaryInst& inst) {
  const ir::Type& type = region.pool()[inst.type];
  const Op op = BinaryOpcode(inst.op, type.scalar);
  KILN_CHECK(op != Op::OpNop, "no operator {} of this type", inst.op);
  const SymbolId symbol = region.Type(inst.type);
  const Ref left = region.ValueOf(inst.left);
  Ref right = region.ValueOf(inst.right);
  if (inst.op == ir::BinaryOp::kDiv || inst.op == ir::BinaryOp::kMod ||
      inst.op == ir::BinaryOp::kRem) {
    right = SafeDivisor(region, inst.type, left, right);
  } else {
    // Widths are powers of two, so the count modulo the width is a mask.
    const uint64_t counts = ir::BitWidthOf(type.scalar) - 1;
    right = region.Compute(Op::OpBitwiseAnd, symbol, right, Constant(region, inst.type, counts));
  }
  return region.Compute(op, symbol, left, right);
}

// With n value bits the integers end at 2^n - 1 and all floats from 2^n on are out of range; signed
// ones begin at -2^n, which is a float. Of halves only the infinities are out of the wider ranges.
Ref LowerSaturating(RegionLowering& region, const ir::ConvertInst& inst) {
  const ir::TypeId from_id = region.InstOf(inst.value).type;
  const ir::Type from = region.pool()[from_id];
  const ir::Type to = region.pool()[inst.type];
  const bool is_signed = ir::IsSignedScalar(to.scalar);
  const uint32_t value_bits = ir::BitWidthOf(to.scalar) - (is_signed ? 1 : 0);
  // The largest finite half, 65504, is below 2^16: for wider ranges the bound is not a number of
  // this type, and only an infinity is out of range.
  const bool all_finite = from.scalar == ir::Scalar::kF16 && value_bits >= 16;
  constexpr uint64_t kHalfInfinity = 0x7c00;
  constexpr uint64_t kLowestHalf = 0xfbff;
  const uint64_t sign = uint64_t{1} << (ir::BitWidthOf(from.scalar) - 1);
  const uint64_t end = all_finite ? kHalfInfinity : PowerOfTwo(from.scalar, value_bits);
  const uint64_t low = !is_signed ? 0 : all_finite ? kLowestHalf : end | sign;
  const SymbolId type = region.Type(inst.type);
  const SymbolId floats = region.Type(from_id);
  const SymbolId flags = region.Type(region.pool().Vector(ir::Scalar::kBool, from.rows));
  const Ref value = region.ValueOf(inst.value);
  const auto compare = [&](Op op, Ref with) { return region.Compute(op, flags, value, with); };
  const Ref above = compare(Op::OpFOrdGreaterThanEqual, Constant(region, from_id, end));
  const Ref below = compare(Op::OpFOrdLessThan, Constant(region, from_id, low));
  // A float that is no number is not equal to itself.
  const Ref number = compare(Op::OpFOrdEqual, value);
  // Comparisons with what is no number are false, so `outside` is false for it; that it does not
  // fit comes from `number`, and its zero stays because neither choice below takes place.
  const Ref outside = region.Compute(Op::OpLogicalOr, flags, above, below);
  const Ref inside = region.Compute(Op::OpLogicalNot, flags, outside);
  const Ref fits = region.Compute(Op::OpLogicalAnd, flags, inside, number);
  const Ref safe = SelectOf(region, floats, fits, value, Constant(region, from_id, 0));
  const Ref converted = region.Compute(ConvertOpcode(from.scalar, to.scalar), type, safe);
  const uint64_t mask = MaskOf(to.scalar);
  const Ref largest = Constant(region, inst.type, is_signed ? mask / 2 : mask);
  const Ref smallest = Constant(region, inst.type, is_signed ? mask / 2 + 1 : 0);
  const Ref from_above = SelectOf(region, type, above, largest, converted);
  return SelectOf(region, type, below, smallest, from_above);
}

// Constants carry no decorations: a symbol may be shared by instructions that promise other things.
void DecorateResult(RegionLowering& region, const ir::Inst& inst, Ref result) {
  if (!result.own()) {
    return;
  }
  const auto decorate = [&](spv::Decoration decoration) {
    region.writer().Op(Part::kAnnotations, Op::OpDecorate).Use(result).Word(decoration);
  };
  if ((inst.flags & ir::BitOf(ir::InstFlag::kPrecise)) != 0) {
    decorate(spv::Decoration::NoContraction);
  }
  if ((inst.flags & ir::BitOf(ir::InstFlag::kRelaxed)) != 0) {
    decorate(spv::Decoration::RelaxedPrecision);
  }
}

}  // namespace kiln::spirv
