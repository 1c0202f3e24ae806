// SPDX-License-Identifier: MIT
// Most instructions are one opcode, which `opcodes` picks by the scalar. SPIR-V has no sums of
// matrices, so these go column by column; no conversion of a bool, so that is a choice between one
// and zero.
#include "compiler/emit/spirv/lower/lower_expr.h"

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/emit/spirv/lower/lower_image.h"
#include "compiler/emit/spirv/lower/lower_memory.h"
#include "compiler/emit/spirv/lower/opcodes.h"
#include "compiler/ir/typing/typing.h"

namespace kiln::spirv {
namespace {

using spv::Op;

// The bits of one as a constant of this scalar: floats by their encoding, integers as they are.
uint64_t BitsOfOne(ir::Scalar scalar) {
  switch (scalar) {
    case ir::Scalar::kF32:
      return std::bit_cast<uint32_t>(1.0f);
    case ir::Scalar::kF64:
      return std::bit_cast<uint64_t>(1.0);
    case ir::Scalar::kF16:
      return 0x3c00;
    default:
      return 1;
  }
}

// The bit that makes a float negative.
constexpr uint64_t SignOf(ir::Scalar scalar) { return uint64_t{1} << (ir::BitWidthOf(scalar) - 1); }

// Products of unequal shapes, and those of linear algebra. The scalar stands on the right.
Ref LowerProduct(RegionLowering& region, const ir::BinaryInst& inst) {
  const ir::Type& left = region.TypeOf(inst.left);
  const ir::Type& right = region.TypeOf(inst.right);
  const bool left_matrix = left.kind == ir::TypeKind::kMatrix;
  Op op = left_matrix ? Op::OpMatrixTimesMatrix : Op::OpVectorTimesMatrix;
  if (right.kind == ir::TypeKind::kVector) {
    const bool scalar = right.rows == 1;
    op = left_matrix ? (scalar ? Op::OpMatrixTimesScalar : Op::OpMatrixTimesVector)
                     : Op::OpVectorTimesScalar;
    KILN_CHECK(left_matrix || (scalar && ir::IsFloatScalar(left.scalar)),
               "specialising splats the scalar of other products");
  }
  return region.Compute(op, region.Type(inst.type), region.ValueOf(inst.left),
                        region.ValueOf(inst.right));
}

// A composite of constants is a constant, except for vectors made of vectors.
Ref Construct(RegionLowering& region, ir::TypeId type, std::span<const Ref> parts) {
  const CodeObjectStore& store = region.table().store();
  // Only symbols of kind kType are constants: names of other regions are symbols too, and so are
  // specialisation constants, of which SPIR-V would ask another instruction.
  const bool constant = std::ranges::all_of(parts, [&](Ref part) {
    return !part.own() && store[part.symbol()].kind == SymbolKind::kType;
  });
  const ir::Type& t = region.pool()[type];
  // OpConstantComposite wants one part for each component; a vector of vectors must be constructed.
  if (constant && (t.kind != ir::TypeKind::kVector || t.rows == parts.size())) {
    std::vector<SymbolId>& symbols = region.scratch().symbols;
    symbols.clear();
    for (const Ref part : parts) {
      symbols.push_back(part.symbol());
    }
    return Ref::Of(region.globals().Composite(region.Type(type), symbols));
  }
  const SymbolId symbol = region.Type(type);
  const Ref result = region.writer().NewId();
  Instruction made = region.Code(Op::OpCompositeConstruct);
  made.Use(symbol).Use(result);
  for (const Ref part : parts) {
    made.Use(part);
  }
  return result;
}

// For operators that SPIR-V has for vectors alone.
Ref LowerByColumns(RegionLowering& region, const ir::BinaryInst& inst) {
  const ir::Type matrix = region.pool()[inst.type];
  const Op op = BinaryOpcode(inst.op, matrix.scalar);
  KILN_CHECK(op != Op::OpNop, "no operator {} of matrices", inst.op);
  const SymbolId column = region.Type(region.pool().Vector(matrix.scalar, matrix.rows));
  std::vector<Ref> columns;
  for (uint32_t i = 0; i < matrix.columns; ++i) {
    const Ref left = Extract(region, column, region.ValueOf(inst.left), i);
    const Ref right = Extract(region, column, region.ValueOf(inst.right), i);
    columns.push_back(region.Compute(op, column, left, right));
  }
  return Construct(region, inst.type, columns);
}

// The unsigned integer of that width.
ir::Scalar UnsignedOf(ir::Scalar scalar) {
  const uint32_t width = ir::BitWidthOf(scalar);
  return width == 64 ? ir::Scalar::kU64 : width == 16 ? ir::Scalar::kU16 : ir::Scalar::kU32;
}

// The sum of the products, from the first to the last.
Ref LowerDotIntegers(RegionLowering& region, const ir::BuiltinCallInst& inst) {
  const std::span<const uint32_t> arguments = region.source().List(inst.arguments);
  const ir::Type& vector = region.TypeOf(ir::InstId{arguments[0]});
  const SymbolId scalar = region.Type(inst.type);
  // One product of vectors and then sums of its parts: SPIR-V has a dot product of integers only as
  // an extension.
  const Ref products = region.Compute(
      Op::OpIMul, region.Type(region.InstOf(ir::InstId{arguments[0]}).type),
      region.ValueOf(ir::InstId{arguments[0]}), region.ValueOf(ir::InstId{arguments[1]}));
  const uint32_t rows = vector.rows;
  Ref sum = Extract(region, scalar, products, 0);
  for (uint32_t i = 1; i < rows; ++i) {
    sum = region.Compute(Op::OpIAdd, scalar, sum, Extract(region, scalar, products, i));
  }
  return sum;
}

}  // namespace

// All components the same; a constant if the scalar is one.
Ref Splat(RegionLowering& region, ir::TypeId type, Ref scalar) {
  const uint32_t rows = region.pool()[type].rows;
  const Ref parts[] = {scalar, scalar, scalar, scalar};
  // A scalar is its own splat.
  return rows == 1 ? scalar : Construct(region, type, std::span(parts).first(rows));
}

Ref LowerUnary(RegionLowering& region, const ir::UnaryInst& inst) {
  const ir::Type& type = region.pool()[inst.type];
  const Ref operand = region.ValueOf(inst.operand);
  if (inst.op == ir::UnaryOp::kPlus) {
    return operand;
  }
  // SPIR-V negates no matrix. The product with minus one flips the sign of every item.
  if (type.kind == ir::TypeKind::kMatrix) {
    const SymbolId minus_one = region.globals().Scalar(
        region.pool().Vector(type.scalar, 1), BitsOfOne(type.scalar) | SignOf(type.scalar));
    return region.Compute(Op::OpMatrixTimesScalar, region.Type(inst.type), operand,
                          Ref::Of(minus_one));
  }
  const Op op = UnaryOpcode(inst.op, type.scalar);
  KILN_CHECK(op != Op::OpNop, "no unary operator {} of this type", inst.op);
  return region.Compute(op, region.Type(inst.type), operand);
}

// Equal shapes are one instruction for each scalar. Two things are not: products of unequal shapes,
// which have their own, and sums of matrices, which have none.
Ref LowerBinary(RegionLowering& region, const ir::BinaryInst& inst) {
  const ir::Type& left = region.TypeOf(inst.left);
  const ir::Type& right = region.TypeOf(inst.right);
  const bool matrices = left.kind == ir::TypeKind::kMatrix || right.kind == ir::TypeKind::kMatrix;
  if (inst.op == ir::BinaryOp::kMul && (matrices || left.rows != right.rows)) {
    return LowerProduct(region, inst);
  }
  if (matrices) {
    return LowerByColumns(region, inst);
  }
  const Op op = BinaryOpcode(inst.op, left.scalar);
  KILN_CHECK(op != Op::OpNop, "no operator {} of this type", inst.op);
  return region.Compute(op, region.Type(inst.type), region.ValueOf(inst.left),
                        region.ValueOf(inst.right));
}

// The index is a literal: what is chosen at run time is an access of memory.
Ref Extract(RegionLowering& region, SymbolId type, Ref value, uint32_t index) {
  const Ref result = region.writer().NewId();
  region.Code(Op::OpCompositeExtract).Use(type).Use(result).Use(value).Word(index);
  return result;
}

// Operands first, then the instruction: computing one may write words of its own.
Ref LowerConstruct(RegionLowering& region, const ir::ConstructInst& inst) {
  std::vector<Ref>& parts = region.scratch().parts;
  parts.clear();
  for (const uint32_t operand : region.source().List(inst.operands)) {
    parts.push_back(region.ValueOf(ir::InstId{operand}));
  }
  return Construct(region, inst.type, parts);
}

Ref LowerSplat(RegionLowering& region, const ir::SplatInst& inst) {
  return Splat(region, inst.type, region.ValueOf(inst.value));
}

Ref LowerSwizzle(RegionLowering& region, const ir::SwizzleInst& inst) {
  const uint32_t count = ir::SwizzleCount(inst.letters);
  const Ref source = region.ValueOf(inst.value);
  const SymbolId type = region.Type(inst.type);
  // A shuffle gives a vector of at least two components, so one letter is an extraction.
  if (count == 1) {
    return Extract(region, type, source, ir::SwizzleLetter(inst.letters, 0));
  }
  // A shuffle takes two vectors; letters choose only from the first.
  const Ref result = region.writer().NewId();
  Instruction made = region.Code(Op::OpVectorShuffle);
  made.Use(type).Use(result).Use(source).Use(source);
  for (uint32_t i = 0; i < count; ++i) {
    made.Word(ir::SwizzleLetter(inst.letters, i));
  }
  return result;
}

// Order of the cases: nothing to do; booleans, for which SPIR-V has no conversion; one opcode
// for the rest.
Ref LowerConvert(RegionLowering& region, const ir::ConvertInst& inst) {
  const ir::Type& from = region.TypeOf(inst.value);
  const ir::Type& to = region.pool()[inst.type];
  const Ref value = region.ValueOf(inst.value);
  const SymbolId type = region.Type(inst.type);
  if (from.scalar == to.scalar) {
    return value;
  }
  if (from.scalar == ir::Scalar::kBool) {
    const ir::TypeId scalar = region.pool().Vector(to.scalar, 1);
    const Ref one =
        Splat(region, inst.type, Ref::Of(region.globals().Scalar(scalar, BitsOfOne(to.scalar))));
    const Ref zero = Splat(region, inst.type, Ref::Of(region.globals().Scalar(scalar, 0)));
    const Ref result = region.writer().NewId();
    region.Code(Op::OpSelect).Use(type).Use(result).Use(value).Use(one).Use(zero);
    return result;
  }
  const Op op = ConvertOpcode(from.scalar, to.scalar);
  KILN_CHECK(op != Op::OpNop, "no conversion from {} to {}", from.scalar, to.scalar);
  if (op == Op::OpUConvert && ir::IsSignedScalar(to.scalar)) {  // it makes unsigned ones alone
    const ir::TypeId same = region.pool().Vector(UnsignedOf(to.scalar), to.rows);
    return region.Compute(Op::OpBitcast, type, region.Compute(op, region.Type(same), value));
  }
  return region.Compute(op, type, value);
}

// As many bits on both sides, which the verifier has seen to.
Ref LowerBitcast(RegionLowering& region, const ir::BitcastInst& inst) {
  return region.Compute(Op::OpBitcast, region.Type(inst.type), region.ValueOf(inst.value));
}

// SPIR-V has the part before the whole, and steps as literals.
Ref LowerInsert(RegionLowering& region, const ir::InsertInst& inst) {
  const std::span<const uint32_t> part = region.source().List(inst.part);
  const SymbolId type = region.Type(inst.type);
  const Ref result = region.writer().NewId();
  Instruction made = region.Code(Op::OpCompositeInsert);
  made.Use(type)
      .Use(result)
      .Use(region.ValueOf(ir::InstId{part[0]}))
      .Use(region.ValueOf(inst.whole));
  for (const uint32_t step : part.subspan(1)) {
    made.Word(step);
  }
  return result;
}

Ref LowerSelect(RegionLowering& region, const ir::SelectInst& inst) {
  const std::span<const uint32_t> operands = region.source().List(inst.operands);
  const ir::Type& type = region.pool()[inst.type];
  Ref condition = region.ValueOf(inst.condition);
  // Before SPIR-V 1.4 the condition of a select must have as many components as the values.
  if (type.rows > 1 && region.TypeOf(inst.condition).rows == 1) {
    condition = Splat(region, region.pool().Vector(ir::Scalar::kBool, type.rows), condition);
  }
  const SymbolId symbol = region.Type(inst.type);
  const Ref result = region.writer().NewId();
  region.Code(Op::OpSelect)
      .Use(symbol)
      .Use(result)
      .Use(condition)
      .Use(region.ValueOf(ir::InstId{operands[0]}))
      .Use(region.ValueOf(ir::InstId{operands[1]}));
  return result;
}

// The table of builtins says what most of them are: an opcode, or an instruction of GLSL.std.450.
// Those that have to do with images and memory take places and are elsewhere.
Ref LowerBuiltin(RegionLowering& region, const ir::BuiltinCallInst& inst) {
  const ir::BuiltinLowering lowering = ir::FactsOf(inst.builtin).lowering;
  if (inst.builtin == ir::Builtin::kDotIntegers) {
    return LowerDotIntegers(region, inst);
  }
  if (lowering == ir::BuiltinLowering::kSpecial) {
    return ir::IsSampling(inst.builtin)   ? LowerSample(region, inst)
           : ir::TakesImage(inst.builtin) ? LowerImage(region, inst)
                                          : LowerMemory(region, inst);
  }
  // The coarse and fine derivatives stand together in the table; the plain ones need no capability.
  if (inst.builtin >= ir::Builtin::kDdxFine && inst.builtin <= ir::Builtin::kDdyCoarse) {
    region.writer().needs |= target::BitOf(target::Need::kDerivativeControl);
  }
  const std::span<const uint32_t> arguments = region.source().List(inst.arguments);
  const ir::Scalar scalar = region.TypeOf(ir::InstId{arguments[0]}).scalar;
  const SymbolId type = region.Type(inst.type);
  const Ref result = region.writer().NewId();
  const bool glsl = lowering == ir::BuiltinLowering::kGlsl;
  // The import is made before the instruction begins, as it may write to the store.
  const SymbolId set = glsl ? region.globals().Glsl() : SymbolId{};
  Instruction made = region.Code(glsl ? Op::OpExtInst : BuiltinOpcode(inst.builtin, scalar));
  made.Use(type).Use(result);
  if (glsl) {
    const uint32_t number = GlslInstruction(inst.builtin, scalar);
    KILN_CHECK(number != 0, "{} of this type", ir::FactsOf(inst.builtin).name);
    made.Use(set).Word(number);
  }
  for (const uint32_t argument : arguments) {
    made.Use(region.ValueOf(ir::InstId{argument}));
  }
  return result;
}

}  // namespace kiln::spirv
