// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/lower/opcodes.h"

#include <cstddef>
#include <iterator>
#include <utility>

#include <spirv/unified1/GLSL.std.450.h>

namespace kiln::spirv {
namespace {

using spv::Op;

// Columns of the tables below: float, unsigned, signed, boolean.
struct OpcodeRow {
  Op f = Op::OpNop, u = Op::OpNop, s = Op::OpNop, b = Op::OpNop;
};

// By BinaryOp.
constexpr OpcodeRow kBinary[] = {
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
    {Op::OpFRem, Op::OpUMod, Op::OpSRem},
    {Op::OpFOrdNotEqual},
};
static_assert(std::size(kBinary) == static_cast<size_t>(ir::BinaryOp::kNotEqualOrdered) + 1);

// By UnaryOp.
constexpr OpcodeRow kUnary[] = {
    {Op::OpFNegate, Op::OpNop, Op::OpSNegate, Op::OpNop},
    {Op::OpNop, Op::OpNop, Op::OpNop, Op::OpLogicalNot},
    {Op::OpNop, Op::OpNot, Op::OpNot, Op::OpNop},
    {},
};
static_assert(std::size(kUnary) == static_cast<size_t>(ir::UnaryOp::kPlus) + 1);

// OpNop if the operation does not exist for the scalar, which the verifier refuses before.
Op Column(const OpcodeRow& row, ir::Scalar scalar) {
  if (scalar == ir::Scalar::kBool) {
    return row.b;
  }
  if (ir::IsFloatScalar(scalar)) {
    return row.f;
  }
  return ir::IsSignedScalar(scalar) ? row.s : row.u;
}

constexpr uint32_t GLSLstd450None = 0;  // spells the empty columns of builtins.def

struct BuiltinRow {
  uint32_t f, u, s;
};
#define KILN_ROW_Glsl(f, u, s) \
  { GLSLstd450##f, GLSLstd450##u, GLSLstd450##s }
// Opcodes by their names in builtins.def; None is the empty column.
namespace names {
using enum Op;
constexpr Op OpNone = OpNop;
}  // namespace names
#define KILN_ROW_Op(f, u, s)                                                  \
  {                                                                           \
    static_cast<uint32_t>(names::Op##f), static_cast<uint32_t>(names::Op##u), \
        static_cast<uint32_t>(names::Op##s)                                   \
  }
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

// Requires: the operation exists for the scalar.
Op BinaryOpcode(ir::BinaryOp op, ir::Scalar scalar) {
  return Column(kBinary[static_cast<size_t>(op)], scalar);
}

Op UnaryOpcode(ir::UnaryOp op, ir::Scalar scalar) {
  return Column(kUnary[static_cast<size_t>(op)], scalar);
}

// Integers of one width differ only in how their bits are read, so they are a bitcast. A wider or
// narrower one follows the sign of where it comes from: in the IR integers grow by their sign.
Op ConvertOpcode(ir::Scalar from, ir::Scalar to) {
  if (from == ir::Scalar::kBool || to == ir::Scalar::kBool) {
    return Op::OpNop;
  }
  const bool to_float = ir::IsFloatScalar(to);
  if (ir::IsFloatScalar(from)) {
    return to_float                 ? Op::OpFConvert
           : ir::IsSignedScalar(to) ? Op::OpConvertFToS
                                    : Op::OpConvertFToU;
  }
  if (to_float) {
    return ir::IsSignedScalar(from) ? Op::OpConvertSToF : Op::OpConvertUToF;
  }
  if (ir::BitWidthOf(from) == ir::BitWidthOf(to)) {
    return Op::OpBitcast;
  }
  return ir::IsSignedScalar(from) ? Op::OpSConvert : Op::OpUConvert;
}

// Zero for what has no instruction in GLSL.std.450.
uint32_t GlslInstruction(ir::Builtin builtin, ir::Scalar scalar) {
  const BuiltinRow& row = kBuiltins[static_cast<size_t>(builtin)];
  if (ir::IsFloatScalar(scalar)) {
    return row.f;
  }
  return scalar == ir::Scalar::kBool ? 0 : ir::IsSignedScalar(scalar) ? row.s : row.u;
}

Op BuiltinOpcode(ir::Builtin builtin, ir::Scalar scalar) {
  const BuiltinRow& row = kBuiltins[static_cast<size_t>(builtin)];
  // Instructions that do not depend on the scalar stand in the first column alone.
  const uint32_t own = ir::IsSignedScalar(scalar)    ? row.s
                       : ir::IsIntegerScalar(scalar) ? row.u
                                                     : row.f;
  return static_cast<Op>(own != 0 ? own : row.f);
}

spv::BuiltIn BuiltInOf(ir::StageVariable variable) {
  return kBuiltIns[static_cast<size_t>(variable)];
}

// The table of built-in variables has the SPIR-V name of each; in the order of the enumeration, as
// both come from one list.
spv::BuiltIn BuiltInOf(ir::BuiltinVariable variable) {
  constexpr spv::BuiltIn kNumbers[] = {
#define KILN_BUILTIN_VARIABLE(name, built_in, scalar, rows, items, vertex, fragment, compute, \
                              need)                                                           \
  spv::BuiltIn::built_in,
#include "compiler/ir/interface/builtin_variables.def"
  };
  return kNumbers[static_cast<size_t>(variable)];
}

// Most built-in variables need nothing beyond Shader.
target::Need NeedOf(ir::BuiltinVariable variable) {
  constexpr target::Need kNeeds[] = {
#define KILN_BUILTIN_VARIABLE(name, built_in, scalar, rows, items, vertex, fragment, compute, \
                              need)                                                           \
  target::Need::k##need,
#include "compiler/ir/interface/builtin_variables.def"
  };
  return kNeeds[static_cast<size_t>(variable)];
}

}  // namespace kiln::spirv
