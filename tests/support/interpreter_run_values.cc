// SPDX-License-Identifier: MIT
// Instructions that make values. What operators and functions do is in interpreter_values.cc and
// interpreter_builtins.cc.
#include <algorithm>
#include <bit>
#include <cmath>

#include "compiler/base/check.h"
#include "compiler/ir/typing/typing.h"
#include "tests/support/interpreter_cells.h"
#include "tests/support/interpreter_run.h"

namespace kiln::oracle::running {
namespace {

using ir::Builtin;
using ir::InstKind;

bool Has(const ir::Inst& inst, ir::InstFlag flag) { return (inst.flags & ir::BitOf(flag)) != 0; }

bool IsDerivative(Builtin builtin) {
  return builtin >= Builtin::kDdx && builtin <= Builtin::kDdyCoarse;
}

// b - a; exact if both are.
Cell Difference(const Cell& a, const Cell& b) {
  const double terms[] = {FloatOf(b), -double{FloatOf(a)}};
  return a.exact() && b.exact() ? SumOf(terms, 0) : Cell{};
}

// One of two: the first, as far from certain as the second is away.
Cell EitherOf(const Cell& cell, const Cell& other) {
  const double distance = std::fabs(double{FloatOf(cell)} - double{FloatOf(other)});
  return {.bits = cell.bits, .error = std::max(cell.error, other.error) + distance};
}

}  // namespace

Flow Invocation::RunValue(Call& call, uint32_t region, uint32_t number) {
  const ir::SpecialisedRegion& specialised = *call.function->regions[region].specialised;
  const ir::Inst& inst = specialised.insts[number];
  std::vector<Slot>& slots = call.slots[region];
  Value& result = slots[number].value;
  const auto value = [&](ir::InstId id) -> const Value& { return slots[id.value].value; };
  const auto type = [&](ir::InstId id) { return specialised.insts[id.value].type; };
  if (inst.kind == InstKind::kParam) {
    result = call.values.at(inst.As<ir::ParamInst>().local.value);
  } else if (inst.kind == InstKind::kLoad) {
    result = Load(slots[inst.As<ir::LoadInst>().place.value].place, inst.type);
  } else if (inst.kind == InstKind::kUnary) {
    const auto unary = inst.As<ir::UnaryInst>();
    result = ApplyUnary(pool_, unary.op, inst.type, value(unary.operand));
  } else if (inst.kind == InstKind::kBinary) {
    const auto binary = inst.As<ir::BinaryInst>();
    result = Has(inst, ir::InstFlag::kTotal)
                 ? ApplyTotal(pool_, binary.op, inst.type, value(binary.left), value(binary.right))
                 : ApplyBinary(pool_, binary.op, type(binary.left), value(binary.left),
                               type(binary.right), value(binary.right));
  } else if (inst.kind == InstKind::kConvert) {
    const auto convert = inst.As<ir::ConvertInst>();
    result = Has(inst, ir::InstFlag::kSaturating)
                 ? ApplySaturating(pool_, type(convert.value), inst.type, value(convert.value))
                 : ApplyConvert(pool_, type(convert.value), inst.type, value(convert.value));
  } else if (inst.kind == InstKind::kBitcast) {
    const auto cast = inst.As<ir::BitcastInst>();
    result = ApplyBitcast(pool_, type(cast.value), inst.type, value(cast.value));
  } else if (inst.kind == InstKind::kAtomic) {
    return RunAtomic(specialised, inst, slots, result);
  } else if (inst.kind == InstKind::kImage) {
    return RunImage(specialised, inst, slots, result);
  } else if (inst.kind == InstKind::kSelect) {
    const auto select = inst.As<ir::SelectInst>();
    const std::span<const uint32_t> operands = specialised.List(select.operands);
    result =
        ApplySelect(value(select.condition), slots[operands[0]].value, slots[operands[1]].value);
  } else if (inst.kind == InstKind::kBuiltinCall) {
    return RunBuiltin(specialised, inst, slots, result);
  } else if (inst.kind == InstKind::kCall) {
    return RunCall(call, region, number);
  } else if (inst.kind == InstKind::kLogical) {
    return RunLogical(call, region, number);
  } else if (inst.kind == InstKind::kSelectBlocks) {
    return RunSelectBlocks(call, region, number);
  } else {
    result = ComposedValue(specialised, inst, slots);
  }
  return Flow::kNext;
}

// Constants, and values that are made of parts of others.
Value Invocation::ComposedValue(const ir::SpecialisedRegion& specialised, const ir::Inst& inst,
                                const std::vector<Slot>& slots) {
  if (inst.kind == InstKind::kConst) {
    return Constant(inst.As<ir::ConstInst>().value);
  }
  if (inst.kind == InstKind::kFlag) {
    return {{.bits = inst.As<ir::FlagInst>().value, .error = 0}};
  }
  if (inst.kind == InstKind::kSpecConst) {
    return Specialised(inst.As<ir::SpecConstInst>());
  }
  Value made;
  if (inst.kind == InstKind::kConstruct) {
    for (const uint32_t operand : specialised.List(inst.As<ir::ConstructInst>().operands)) {
      made.insert(made.end(), slots[operand].value.begin(), slots[operand].value.end());
    }
  } else if (inst.kind == InstKind::kSplat) {
    made.resize(pool_[inst.type].rows, slots[inst.As<ir::SplatInst>().value.value].value[0]);
  } else if (inst.kind == InstKind::kExtract) {
    const auto extract = inst.As<ir::ExtractInst>();
    uint32_t first = 0;
    for (uint32_t i = 0; i < extract.index; ++i) {
      first +=
          CellCount(pool_, *ir::PartType(pool_, specialised.insts[extract.value.value].type, i));
    }
    const auto begin = slots[extract.value.value].value.begin() + first;
    made.assign(begin, begin + CellCount(pool_, inst.type));
  } else if (inst.kind == InstKind::kInsert) {
    const auto insert = inst.As<ir::InsertInst>();
    const std::span<const uint32_t> part = specialised.List(insert.part);
    made = slots[insert.whole.value].value;
    size_t first = 0;
    ir::TypeId at = inst.type;
    for (const uint32_t step : part.subspan(1)) {
      for (uint32_t i = 0; i < step; ++i) {
        first += CellCount(pool_, *ir::PartType(pool_, at, i));
      }
      at = *ir::PartType(pool_, at, step);
    }
    std::ranges::copy(slots[part[0]].value, made.begin() + static_cast<std::ptrdiff_t>(first));
  } else {
    const auto swizzle = inst.As<ir::SwizzleInst>();
    for (uint32_t i = 0; i < ir::SwizzleCount(swizzle.letters); ++i) {
      made.push_back(slots[swizzle.value.value].value[ir::SwizzleLetter(swizzle.letters, i)]);
    }
  }
  return made;
}

Value Invocation::Constant(ir::ConstId id) {
  const ir::Const& row = pool_[id];
  if (row.composite == 0) {
    const ir::Scalar scalar = pool_[row.type].scalar;
    const uint32_t bits = scalar == ir::Scalar::kF16 ? std::bit_cast<uint32_t>(FloatOfHalf(row.a))
                          : scalar == ir::Scalar::kS16
                              ? static_cast<uint32_t>(int32_t{static_cast<int16_t>(row.a)})
                              : row.a;
    return {{.bits = bits, .error = 0}};
  }
  Value made;
  for (const ir::ConstId part : pool_.Parts(id)) {
    const Value cells = Constant(part);
    made.insert(made.end(), cells.begin(), cells.end());
  }
  return made;
}

// The variant's value, which is not part of the code (spec/rpl 14.9).
Value Invocation::Specialised(const ir::SpecConstInst& inst) {
  const auto row = std::ranges::find(variant_.specialization, inst.id, &ir::SpecConstant::id);
  KILN_CHECK(row != variant_.specialization.end() && row->default_bits == inst.bits);
  return {{.bits = row->bits, .error = 0}};
}

Flow Invocation::RunBuiltin(const ir::SpecialisedRegion& specialised, const ir::Inst& inst,
                            std::vector<Slot>& slots, Value& result) {
  const auto call = inst.As<ir::BuiltinCallInst>();
  const std::span<const uint32_t> arguments = specialised.List(call.arguments);
  if (ir::IsBarrier(call.builtin) || ir::IsAtomic(call.builtin) ||
      call.builtin == Builtin::kArrayLength) {
    return RunMemory(specialised, inst, slots, result);
  }
  if (ir::TakesImage(call.builtin) &&
      ir::UnpackImage(pool_[specialised.insts[arguments[0]].type].extent).storage) {
    return UseStorageImage(specialised, inst, slots, result);
  }
  if (ir::TakesImage(call.builtin) || ir::IsSampling(call.builtin)) {
    result = AskImage(specialised, inst, slots);
    return Flow::kNext;
  }
  std::vector<Value> values;
  for (const uint32_t argument : arguments) {
    values.push_back(slots[argument].value);
  }
  if (IsDerivative(call.builtin)) {
    result = Derivative(call.builtin, QuadOf(&inst, values[0]));
    result.resize(values[0].size());
    return Flow::kNext;
  }
  const ir::TypeId operand = specialised.insts[arguments[0]].type;
  result = ir::IsOfTypedModules(call.builtin)
               ? ApplyTypedBuiltin(pool_, call.builtin, operand, inst.type, values)
               : ApplyBuiltin(pool_, call.builtin, operand, values);
  return Flow::kNext;
}

std::vector<Value> Invocation::QuadOf(const void* point, const Value& value) {
  if (membership_.team == nullptr) {
    return {};
  }
  const std::span<const Value> quad = membership_.team->Meet(membership_.member, point, value);
  return {quad.begin(), quad.end()};
}

// Fine: of the two neighbours in this row or column. Coarse: of either row or column. The plain
// forms are one or the other, as the device likes.
Value Invocation::Derivative(Builtin builtin, const std::vector<Value>& quad) {
  Value result;
  if (quad.empty()) {
    return result;
  }
  if (builtin == Builtin::kFwidth) {
    const Value x = Derivative(Builtin::kDdx, quad);
    const Value y = Derivative(Builtin::kDdy, quad);
    for (size_t i = 0; i < x.size(); ++i) {
      const double sum = std::fabs(FloatOf(x[i])) + std::fabs(FloatOf(y[i]));
      result.push_back(Near(sum, 1, x[i].error + y[i].error));
    }
    return result;
  }
  const bool along_x =
      builtin == Builtin::kDdx || builtin == Builtin::kDdxFine || builtin == Builtin::kDdxCoarse;
  const bool fine = builtin == Builtin::kDdxFine || builtin == Builtin::kDdyFine;
  const size_t step = along_x ? 1 : 2;    // to the neighbour
  const size_t across = along_x ? 2 : 1;  // to the other pair
  const size_t mine = membership_.member & across;
  for (size_t i = 0; i < quad[0].size(); ++i) {
    const Cell near = Difference(quad[mine][i], quad[mine + step][i]);
    const size_t others = across - mine;
    const Cell far = Difference(quad[others][i], quad[others + step][i]);
    result.push_back(fine ? near : EitherOf(near, far));
  }
  return result;
}

}  // namespace kiln::oracle::running
