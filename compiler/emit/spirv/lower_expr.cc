// SPDX-License-Identifier: MIT
// Values: operators, constructors, conversions, inbuilt functions. See spec/rpl 4.2, 5, 6;
// docs/IR.md.
#include <algorithm>
#include <bit>

#include "compiler/base/check.h"
#include "compiler/emit/spirv/lower_segment.h"
#include "compiler/emit/spirv/opcodes.h"
#include "compiler/ir/typing.h"

namespace kiln::spirv {

using spv::Op;

// --- operators -----------------------------------------------------------------------------------

Ref SegmentLowering::LowerUnary(const ir::UnaryInst& inst) {
  const ir::Type& type = pool_[inst.type];
  const Ref operand = ValueOf(inst.operand);
  if (inst.op == ir::UnaryOp::kPlus) {
    return operand;
  }
  if (type.kind == ir::TypeKind::kMatrix) {
    const SymbolId minus_one =
        globals_.Scalar(pool_.Vector(type.scalar, 1), std::bit_cast<uint32_t>(-1.0f));
    return Compute(Op::OpMatrixTimesScalar, Type(inst.type), operand, Ref::Of(minus_one));
  }
  const Op op = UnaryOpcode(inst.op, type.scalar);
  KILN_CHECK(op != Op::OpNop, "no unary operator {} of this type", inst.op);
  return Compute(op, Type(inst.type), operand);
}

Ref SegmentLowering::LowerBinary(const ir::BinaryInst& inst) {
  const ir::Type& left = TypeOf(inst.left);
  const ir::Type& right = TypeOf(inst.right);
  const bool matrices = left.kind == ir::TypeKind::kMatrix || right.kind == ir::TypeKind::kMatrix;
  if (inst.op == ir::BinaryOp::kMul && (matrices || left.rows != right.rows)) {
    return LowerProduct(inst);
  }
  if (matrices) {
    return LowerByColumns(inst);
  }
  const Op op = BinaryOpcode(inst.op, left.scalar);
  KILN_CHECK(op != Op::OpNop, "no operator {} of this type", inst.op);
  return Compute(op, Type(inst.type), ValueOf(inst.left), ValueOf(inst.right));
}

// Products of unequal shapes, and those of linear algebra. The scalar stands on the right.
Ref SegmentLowering::LowerProduct(const ir::BinaryInst& inst) {
  const ir::Type& left = TypeOf(inst.left);
  const ir::Type& right = TypeOf(inst.right);
  const bool left_matrix = left.kind == ir::TypeKind::kMatrix;
  Op op = left_matrix ? Op::OpMatrixTimesMatrix : Op::OpVectorTimesMatrix;
  if (right.kind == ir::TypeKind::kVector) {
    const bool scalar = right.rows == 1;
    op = left_matrix ? (scalar ? Op::OpMatrixTimesScalar : Op::OpMatrixTimesVector)
                     : Op::OpVectorTimesScalar;
    KILN_CHECK(left_matrix ||
                   (scalar && (left.scalar == ir::Scalar::kF32 || left.scalar == ir::Scalar::kF16)),
               "closing splats the scalar of other products");
  }
  return Compute(op, Type(inst.type), ValueOf(inst.left), ValueOf(inst.right));
}

Ref SegmentLowering::LowerByColumns(const ir::BinaryInst& inst) {
  const ir::Type matrix = pool_[inst.type];
  const Op op = BinaryOpcode(inst.op, matrix.scalar);
  KILN_CHECK(op != Op::OpNop, "no operator {} of matrices", inst.op);
  const SymbolId column = Type(pool_.Vector(matrix.scalar, matrix.rows));
  std::vector<Ref> columns;
  for (uint32_t i = 0; i < matrix.columns; ++i) {
    const Ref left = Extract(column, ValueOf(inst.left), i);
    const Ref right = Extract(column, ValueOf(inst.right), i);
    columns.push_back(Compute(op, column, left, right));
  }
  return Construct(inst.type, columns);
}

// --- composites ----------------------------------------------------------------------------------

Ref SegmentLowering::Extract(SymbolId type, Ref value, uint32_t index) {
  const Ref result = writer_.NewId();
  Code(Op::OpCompositeExtract).Use(type).Use(result).Use(value).Word(index);
  return result;
}

// A composite of constants is a constant, except for vectors made of vectors.
Ref SegmentLowering::Construct(ir::TypeId type, std::span<const Ref> parts) {
  const CodeObjectStore& store = table_.store();
  const bool constant = std::ranges::all_of(parts, [&](Ref part) {
    return !part.own() && store[part.symbol()].kind == SymbolKind::kType;
  });
  const ir::Type& t = pool_[type];
  if (constant && (t.kind != ir::TypeKind::kVector || t.rows == parts.size())) {
    std::vector<SymbolId>& symbols = scratch_.symbols;
    symbols.clear();
    for (const Ref part : parts) {
      symbols.push_back(part.symbol());
    }
    return Ref::Of(globals_.Composite(Type(type), symbols));
  }
  const SymbolId symbol = Type(type);
  const Ref result = writer_.NewId();
  Instruction made = Code(Op::OpCompositeConstruct);
  made.Use(symbol).Use(result);
  for (const Ref part : parts) {
    made.Use(part);
  }
  return result;
}

Ref SegmentLowering::Splat(ir::TypeId type, Ref scalar) {
  const uint32_t rows = pool_[type].rows;
  const Ref parts[] = {scalar, scalar, scalar, scalar};
  return rows == 1 ? scalar : Construct(type, std::span(parts).first(rows));
}

Ref SegmentLowering::LowerConstruct(const ir::ConstructInst& inst) {
  std::vector<Ref>& parts = scratch_.parts;
  parts.clear();
  for (const uint32_t operand : segment_.List(inst.operands)) {
    parts.push_back(ValueOf(ir::InstId{operand}));
  }
  return Construct(inst.type, parts);
}

Ref SegmentLowering::LowerSplat(const ir::SplatInst& inst) {
  return Splat(inst.type, ValueOf(inst.value));
}

Ref SegmentLowering::LowerSwizzle(const ir::SwizzleInst& inst) {
  const uint32_t count = ir::SwizzleCount(inst.letters);
  const Ref source = ValueOf(inst.value);
  const SymbolId type = Type(inst.type);
  if (count == 1) {
    return Extract(type, source, ir::SwizzleLetter(inst.letters, 0));
  }
  const Ref result = writer_.NewId();
  Instruction made = Code(Op::OpVectorShuffle);
  made.Use(type).Use(result).Use(source).Use(source);
  for (uint32_t i = 0; i < count; ++i) {
    made.Word(ir::SwizzleLetter(inst.letters, i));
  }
  return result;
}

// --- conversions and choices ---------------------------------------------------------------------

namespace {

uint32_t BitsOfOne(ir::Scalar scalar) {
  switch (scalar) {
    case ir::Scalar::kF32:
      return std::bit_cast<uint32_t>(1.0f);
    case ir::Scalar::kF16:
      return 0x3c00;
    case ir::Scalar::kU32:
    case ir::Scalar::kS32:
    case ir::Scalar::kBool:
      return 1;
    case ir::Scalar::kNone:
      break;
  }
  KILN_UNREACHABLE();
}

}  // namespace

Ref SegmentLowering::LowerConvert(const ir::ConvertInst& inst) {
  const ir::Type& from = TypeOf(inst.value);
  const ir::Type& to = pool_[inst.type];
  const Ref value = ValueOf(inst.value);
  const SymbolId type = Type(inst.type);
  if (from.scalar == to.scalar) {
    return value;
  }
  if (from.scalar == ir::Scalar::kBool) {
    const ir::TypeId scalar = pool_.Vector(to.scalar, 1);
    const Ref one = Splat(inst.type, Ref::Of(globals_.Scalar(scalar, BitsOfOne(to.scalar))));
    const Ref zero = Splat(inst.type, Ref::Of(globals_.Scalar(scalar, 0)));
    const Ref result = writer_.NewId();
    Code(Op::OpSelect).Use(type).Use(result).Use(value).Use(one).Use(zero);
    return result;
  }
  const Op op = ConvertOpcode(from.scalar, to.scalar);
  KILN_CHECK(op != Op::OpNop, "no conversion from {} to {}", from.scalar, to.scalar);
  return Compute(op, type, value);
}

Ref SegmentLowering::LowerSelect(const ir::SelectInst& inst) {
  const std::span<const uint32_t> operands = segment_.List(inst.operands);
  const ir::Type& type = pool_[inst.type];
  Ref condition = ValueOf(inst.condition);
  if (type.rows > 1 && TypeOf(inst.condition).rows == 1) {
    condition = Splat(pool_.Vector(ir::Scalar::kBool, type.rows), condition);
  }
  const SymbolId symbol = Type(inst.type);
  const Ref result = writer_.NewId();
  Code(Op::OpSelect)
      .Use(symbol)
      .Use(result)
      .Use(condition)
      .Use(ValueOf(ir::InstId{operands[0]}))
      .Use(ValueOf(ir::InstId{operands[1]}));
  return result;
}

Ref SegmentLowering::LowerBuiltin(const ir::BuiltinCallInst& inst) {
  const ir::BuiltinLowering lowering = ir::FactsOf(inst.builtin).lowering;
  if (lowering == ir::BuiltinLowering::kSpecial) {
    return ir::IsSampling(inst.builtin)   ? LowerSample(inst)
           : ir::TakesImage(inst.builtin) ? LowerImage(inst)
                                          : LowerMemory(inst);
  }
  if (inst.builtin >= ir::Builtin::kDdxFine && inst.builtin <= ir::Builtin::kDdyCoarse) {
    writer_.needs |= target::BitOf(target::Need::kDerivativeControl);
  }
  const std::span<const uint32_t> arguments = segment_.List(inst.arguments);
  const SymbolId type = Type(inst.type);
  const Ref result = writer_.NewId();
  const bool glsl = lowering == ir::BuiltinLowering::kGlsl;
  const SymbolId set = glsl ? globals_.Glsl() : SymbolId{};
  Instruction made = Code(glsl ? Op::OpExtInst : BuiltinOpcode(inst.builtin));
  made.Use(type).Use(result);
  if (glsl) {
    const uint32_t number = GlslInstruction(inst.builtin, TypeOf(ir::InstId{arguments[0]}).scalar);
    KILN_CHECK(number != 0, "{} of this type", ir::FactsOf(inst.builtin).name);
    made.Use(set).Word(number);
  }
  for (const uint32_t argument : arguments) {
    made.Use(ValueOf(ir::InstId{argument}));
  }
  return result;
}

}  // namespace kiln::spirv
