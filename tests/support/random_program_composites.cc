// SPDX-License-Identifier: MIT
// Expressions of random programs that put values together or take them apart.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/ir/typing/typing.h"
#include "tests/support/random_program_scope.h"

namespace kiln::oracle {
namespace {

using ir::BinaryOp;
using ir::Builtin;
using ir::Scalar;

constexpr std::string_view kLetters = "xyzw";

}  // namespace

Expr ProgramWriter::MatrixValue(ir::TypeId type, uint32_t depth) {
  const auto some = [&] { return Expression(type, depth); };
  switch (Below(4)) {
    case 0:
      return Call(Builtin::kTranspose, type, type, {some()});
    case 1:
      return Binary(Chance(50) ? BinaryOp::kAdd : BinaryOp::kSub, some(), some());
    case 2:
      if (pool_[type].rows == 3) {  // crop
        Expr large = Expression(pool_.Matrix(Scalar::kF32, 4, 4), depth);
        large.text = "f3x3 { " + large.text + " }";
        large.type = type;
        large.eval = [eval = std::move(large.eval)](Run& run) {
          const Value m = eval(run);
          return Value{m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]};
        };
        return large;
      }
      return Construct(type, depth);
    default:
      return Construct(type, depth);
  }
}

// One operand per component or group of components, column, member.
Expr ProgramWriter::Construct(ir::TypeId type, uint32_t depth) {
  const ir::Type& shape = pool_[type];
  std::vector<Expr> parts;
  if (shape.kind == ir::TypeKind::kVector) {
    for (uint32_t rows = shape.rows; rows > 0;) {
      const uint32_t count = 1 + Below(std::min<uint32_t>(rows, shape.rows - 1U));
      parts.push_back(Expression(pool_.Vector(shape.scalar, count), depth));
      rows -= count;
    }
  } else {
    for (uint32_t i = 0; i < ir::PartCount(pool_, type); ++i) {
      parts.push_back(Expression(*ir::PartType(pool_, type, i), depth));
    }
  }
  Expr made{.type = type};
  for (const Expr& part : parts) {
    made.text += (made.text.empty() ? "" : ", ") + part.text;
    made.pure = made.pure && part.pure;
  }
  made.text = TypeText(type) + " { " + made.text + " }";
  made.eval = [parts = std::move(parts)](Run& run) {
    Value value;
    for (const Expr& part : parts) {
      const Value cells = part.eval(run);
      value.insert(value.end(), cells.begin(), cells.end());
    }
    return value;
  };
  return made;
}

// Components of a vector, in any order; a column of a matrix.
Expr ProgramWriter::Swizzle(ir::TypeId type, uint32_t depth) {
  const ir::Type& shape = pool_[type];
  const uint32_t source_rows = 2 + Below(3);
  Expr source = Expression(pool_.Vector(shape.scalar, source_rows), depth);
  std::vector<uint32_t> letters;
  std::string text;
  for (uint32_t i = 0; i < shape.rows; ++i) {
    letters.push_back(Below(source_rows));
    text += kLetters[letters.back()];
  }
  return {.text = "(" + source.text + ")." + text,
          .type = type,
          .eval =
              [eval = std::move(source.eval), letters](Run& run) {
                const Value value = eval(run);
                Value result;
                for (const uint32_t letter : letters) {
                  result.push_back(value[letter]);
                }
                return result;
              },
          .pure = source.pure};
}

Expr ProgramWriter::Convert(ir::TypeId type, uint32_t depth) {
  const ir::Type& shape = pool_[type];
  constexpr Scalar kScalars[] = {Scalar::kF32, Scalar::kU32, Scalar::kS32};
  const Scalar from_scalar = kScalars[Below(3)];
  if (from_scalar == shape.scalar) {
    return Leaf(type);
  }
  const ir::TypeId from = pool_.Vector(from_scalar, shape.rows);
  Expr source = Expression(from, depth);
  if (from_scalar == Scalar::kF32) {
    source = Call(
        Builtin::kClamp, from, from,
        {source, Numbered(from, shape.scalar == Scalar::kU32 ? 0 : -900), Numbered(from, 900)});
  } else if (shape.scalar == Scalar::kF32) {
    source = Binary(BinaryOp::kAnd, source, Numbered(from, 63));
  }
  return {.text = TypeText(type) + " { " + source.text + " }",
          .type = type,
          .eval = [pool = &pool_, from, type, eval = std::move(source.eval)](
                      Run& run) { return ApplyConvert(*pool, from, type, eval(run)); },
          .pure = source.pure};
}

}  // namespace kiln::oracle
