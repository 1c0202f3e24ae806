// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/lower/opcodes.h"

#include <cstddef>
#include <iterator>

#include <spirv/unified1/GLSL.std.450.h>

namespace kiln::spirv {
namespace {

using spv::Op;

// Columns of the tables below: float (32 and 16 bits), unsigned, signed, boolean.
struct Row {
  Op f = Op::OpNop, u = Op::OpNop, s = Op::OpNop, b = Op::OpNop;
};

// By BinaryOp.
constexpr Row kBinary[] = {
    {Op::OpFAdd, Op::OpIAdd, Op::OpIAdd},
    {Op::OpFSub, Op::OpISub, Op::OpISub},
    {Op::OpFMul, Op::OpIMul, Op::OpIMul},
    {Op::OpFDiv, Op::OpUDiv, Op::OpSDiv},
    {Op::OpNop, Op::OpUMod, Op::OpSMod},
    {Op::OpNop, Op::OpBitwiseAnd, Op::OpBitwiseAnd, Op::OpLogicalAnd},
    {Op::OpNop, Op::OpBitwiseOr, Op::OpBitwiseOr, Op::OpLogicalOr},
    {Op::OpNop, Op::OpBitwiseXor, Op::OpBitwiseXor, Op::OpLogicalNotEqual},
    {Op::OpNop, Op::OpShiftLeftLogical, Op::OpShiftLeftLogical},
    {Op::OpNop, Op::OpShiftRightLogical, Op::OpShiftRightLogical},
    {Op::OpNop, Op::OpShiftRightArithmetic, Op::OpShiftRightArithmetic},
    {Op::OpFOrdLessThan, Op::OpULessThan, Op::OpSLessThan},
    {Op::OpFOrdGreaterThan, Op::OpUGreaterThan, Op::OpSGreaterThan},
    {Op::OpFOrdLessThanEqual, Op::OpULessThanEqual, Op::OpSLessThanEqual},
    {Op::OpFOrdGreaterThanEqual, Op::OpUGreaterThanEqual, Op::OpSGreaterThanEqual},
    {Op::OpFOrdEqual, Op::OpIEqual, Op::OpIEqual, Op::OpLogicalEqual},
    {Op::OpFUnordNotEqual, Op::OpINotEqual, Op::OpINotEqual, Op::OpLogicalNotEqual},
};
static_assert(std::size(kBinary) == static_cast<size_t>(ir::BinaryOp::kNotEqual) + 1);

// By UnaryOp.
constexpr Row kUnary[] = {
    {Op::OpFNegate, Op::OpNop, Op::OpSNegate, Op::OpNop},
    {Op::OpNop, Op::OpNop, Op::OpNop, Op::OpLogicalNot},
    {Op::OpNop, Op::OpNot, Op::OpNot, Op::OpNop},
    {},
};
static_assert(std::size(kUnary) == static_cast<size_t>(ir::UnaryOp::kPlus) + 1);

Op Column(const Row& row, ir::Scalar scalar) {
  switch (scalar) {
    case ir::Scalar::kF32:
    case ir::Scalar::kF16:
      return row.f;
    case ir::Scalar::kU32:
      return row.u;
    case ir::Scalar::kS32:
      return row.s;
    case ir::Scalar::kBool:
      return row.b;
    case ir::Scalar::kNone:
      break;
  }
  return Op::OpNop;
}

bool IsFloat(ir::Scalar scalar) { return scalar == ir::Scalar::kF32 || scalar == ir::Scalar::kF16; }

constexpr uint32_t GLSLstd450None = 0;  // spells the empty columns of builtins.def

struct BuiltinRow {
  uint32_t f, u, s;
};
#define KILN_ROW_Glsl(f, u, s) \
  { GLSLstd450##f, GLSLstd450##u, GLSLstd450##s }
#define KILN_ROW_Op(f, u, s) \
  { static_cast<uint32_t>(Op::Op##f), 0, 0 }
#define KILN_ROW_Special(f, u, s) \
  { 0, 0, 0 }
// By Builtin.
constexpr BuiltinRow kBuiltins[] = {
#define KILN_BUILTIN(name, text, types, parameters, result, lowering, f, u, s) \
  KILN_ROW_##lowering(f, u, s),
#include "compiler/ir/builtins.def"
};
#undef KILN_ROW_Glsl
#undef KILN_ROW_Op
#undef KILN_ROW_Special

// By StageVariable.
constexpr spv::BuiltIn kBuiltIns[] = {
    spv::BuiltIn::Position,
    spv::BuiltIn::VertexIndex,
    spv::BuiltIn::InstanceIndex,
    spv::BuiltIn::FragCoord,
    spv::BuiltIn::FrontFacing,
    spv::BuiltIn::FragDepth,
    spv::BuiltIn::GlobalInvocationId,
    spv::BuiltIn::LocalInvocationId,
    spv::BuiltIn::LocalInvocationIndex,
    spv::BuiltIn::WorkgroupId,
    spv::BuiltIn::NumWorkgroups,
};
static_assert(std::size(kBuiltIns) == static_cast<size_t>(ir::StageVariable::kWorkgroupCount) + 1);

}  // namespace

Op BinaryOpcode(ir::BinaryOp op, ir::Scalar scalar) {
  return Column(kBinary[static_cast<size_t>(op)], scalar);
}

Op UnaryOpcode(ir::UnaryOp op, ir::Scalar scalar) {
  return Column(kUnary[static_cast<size_t>(op)], scalar);
}

Op ConvertOpcode(ir::Scalar from, ir::Scalar to) {
  if (IsFloat(from) && IsFloat(to)) {
    return Op::OpFConvert;
  }
  if (IsFloat(from)) {
    return to == ir::Scalar::kU32   ? Op::OpConvertFToU
           : to == ir::Scalar::kS32 ? Op::OpConvertFToS
                                    : Op::OpNop;
  }
  if (IsFloat(to)) {
    return from == ir::Scalar::kU32   ? Op::OpConvertUToF
           : from == ir::Scalar::kS32 ? Op::OpConvertSToF
                                      : Op::OpNop;
  }
  const bool integers = from != ir::Scalar::kBool && to != ir::Scalar::kBool;
  return integers ? Op::OpBitcast : Op::OpNop;
}

uint32_t GlslInstruction(ir::Builtin builtin, ir::Scalar scalar) {
  const BuiltinRow& row = kBuiltins[static_cast<size_t>(builtin)];
  if (IsFloat(scalar)) {
    return row.f;
  }
  return scalar == ir::Scalar::kU32 ? row.u : scalar == ir::Scalar::kS32 ? row.s : 0;
}

Op BuiltinOpcode(ir::Builtin builtin) {
  return static_cast<Op>(kBuiltins[static_cast<size_t>(builtin)].f);
}

spv::BuiltIn BuiltInOf(ir::StageVariable variable) {
  return kBuiltIns[static_cast<size_t>(variable)];
}

}  // namespace kiln::spirv
