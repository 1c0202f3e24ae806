// SPDX-License-Identifier: MIT
// The tables of operators and how a row is matched. A row names patterns of the left and the right
// operand; the right one may be said in terms of the left ("the same", "its item"). The first row
// that fits decides, so where two fit (`f1 * f1` is also vector times scalar) the plainer one
// stands first.
#include "compiler/ir/typing/operator_typing.h"

#include "compiler/base/check.h"

namespace kiln::ir {
namespace {

constexpr uint8_t kRpl1 = static_cast<uint8_t>(TypingRules::kRpl1);
constexpr uint8_t kRpl2 = static_cast<uint8_t>(TypingRules::kRpl2);
// The rules are bits, so that a row stands once for all that share it. Specialised IR is stricter
// than the languages where resolving inserts a splat, and wider where HLSL and WGSL need what RPL
// has no spelling for (`kRem`, ordered comparison, arithmetic shift).
constexpr uint8_t kSpecialised = static_cast<uint8_t>(TypingRules::kSpecialised);
constexpr uint8_t kRpl = kRpl1 | kRpl2;
constexpr uint8_t kAll = kRpl | kSpecialised;
constexpr uint8_t kLater = kRpl2 | kSpecialised;  // what version 2 adds

template <class... Ops>
constexpr uint32_t Bits(Ops... ops) {
  return ((1u << static_cast<uint32_t>(ops)) | ...);
}

using Op = BinaryOp;
using P = OperandPattern;
using R = ResultPattern;
using F = BinaryForm;

// Order matters only among rows that share an operator and a rule set.
constexpr BinaryRow kBinaryRows[] = {
    {Bits(Op::kAdd, Op::kSub), P::kVector, P::kSame, R::kLeft, F::kSame, kAll},
    {Bits(Op::kAdd, Op::kSub), P::kMatrix, P::kSame, R::kLeft, F::kMatrixPerColumn, kAll},
    {Bits(Op::kMul), P::kVector, P::kSame, R::kLeft, F::kSame, kAll},
    {Bits(Op::kMul), P::kFloatVector, P::kItem, R::kLeft, F::kVectorTimesScalar, kAll},
    // SPIR-V multiplies vectors by scalars for floats alone, so integers splat the scalar first; in
    // specialised IR the splat is an instruction of its own and the row is not needed.
    {Bits(Op::kMul), P::kIntVector, P::kItem, R::kLeft, F::kSplatRight, kRpl},
    {Bits(Op::kMul), P::kMatrix, P::kItem, R::kLeft, F::kMatrixTimesScalar, kAll},
    {Bits(Op::kMul), P::kMatrix, P::kColumnsVector, R::kRowsVector, F::kMatrixTimesVector, kAll},
    {Bits(Op::kMul), P::kFloatVector, P::kRowsMatrix, R::kColumnsVector, F::kVectorTimesMatrix,
     kAll},
    // The language multiplies matrices of the same type (spec/rpl 5.2); the specialised row further
    // down has every product that is defined.
    {Bits(Op::kMul), P::kMatrix, P::kSame, R::kLeft, F::kMatrixTimesMatrix, kRpl},
    {Bits(Op::kDiv), P::kVector, P::kSame, R::kLeft, F::kSame, kAll},
    {Bits(Op::kDiv), P::kVector, P::kItem, R::kLeft, F::kSplatRight, kRpl},
    {Bits(Op::kDiv), P::kMatrix, P::kSame, R::kLeft, F::kMatrixPerColumn, kAll},
    {Bits(Op::kMod, Op::kAnd, Op::kOr, Op::kXor, Op::kShiftLeft, Op::kShiftRight), P::kIntVector,
     P::kSame, R::kLeft, F::kSame, kAll},
    {Bits(Op::kMul), P::kMatrix, P::kColumnsMatrix, R::kProduct, F::kMatrixTimesMatrix,
     kSpecialised},
    {Bits(Op::kRem), P::kVector, P::kSame, R::kLeft, F::kSame, kSpecialised},
    {Bits(Op::kNotEqualOrdered), P::kFloatVector, P::kSame, R::kBoolVector, F::kCompare,
     kSpecialised},
    {Bits(Op::kShiftRightArithmetic), P::kSignedVector, P::kSame, R::kLeft, F::kSame, kSpecialised},
    // One row of results for scalars and one for vectors: version 1 of RPL compares scalars only.
    {Bits(Op::kLess, Op::kGreater, Op::kLessEqual, Op::kGreaterEqual, Op::kEqual, Op::kNotEqual),
     P::kScalar, P::kSame, R::kBool, F::kCompare, kAll},
    {Bits(Op::kLess, Op::kGreater, Op::kLessEqual, Op::kGreaterEqual, Op::kEqual, Op::kNotEqual),
     P::kNumberVector2, P::kSame, R::kBoolVector, F::kCompare, kLater},
    {Bits(Op::kEqual, Op::kNotEqual, Op::kAnd, Op::kOr, Op::kXor), P::kBoolVector, P::kSame,
     R::kLeft, F::kSame, kLater},
};

// A unary operator keeps the type of its operand, so a row has no result. `+` is a rule of the
// language only: it is gone once an expression is resolved.
constexpr UnaryRow kUnaryRows[] = {
    {UnaryOp::kNegate, P::kFloatVector, kAll},
    {UnaryOp::kNegate, P::kSignedVector, kAll},
    {UnaryOp::kNegate, P::kMatrix, kAll},
    {UnaryOp::kNot, P::kBool, kAll},
    {UnaryOp::kNot, P::kBoolVector, kLater},
    {UnaryOp::kComplement, P::kIntScalar, kRpl},
    {UnaryOp::kComplement, P::kIntVector, kSpecialised},
    {UnaryOp::kPlus, P::kAny, kRpl},
};

// Does `type` fit the pattern, next to a left operand of type `left`?
// `left_id` is what relative patterns refer to. For a left operand it is the operand itself, and no
// row of the table has a relative pattern there.
bool Fits(const Pool& pool, OperandPattern pattern, TypeId id, TypeId left_id) {
  const Type& type = pool[id];
  const Type& left = pool[left_id];
  const bool vector = type.kind == TypeKind::kVector;
  switch (pattern) {
    case P::kVector:
      return vector && (IsFloatScalar(type.scalar) || IsIntegerScalar(type.scalar));
    case P::kFloatVector:
      return vector && IsFloatScalar(type.scalar);
    case P::kIntVector:
      return vector && IsIntegerScalar(type.scalar);
    case P::kSignedVector:
      return vector && IsSignedScalar(type.scalar);
    case P::kMatrix:
      return type.kind == TypeKind::kMatrix && IsFloatScalar(type.scalar);
    case P::kScalar:
      return vector && type.rows == 1 && type.scalar != Scalar::kBool;
    case P::kIntScalar:
      return vector && type.rows == 1 && IsIntegerScalar(type.scalar);
    case P::kBool:
      return vector && type.rows == 1 && type.scalar == Scalar::kBool;
    case P::kNumberVector2:
      return vector && type.rows > 1 && type.scalar != Scalar::kBool;
    case P::kBoolVector:
      return vector && type.scalar == Scalar::kBool;
    case P::kAny:
      return type.kind != TypeKind::kVoid;
    case P::kSame:
      return id == left_id;
    case P::kItem:
      return vector && type.rows == 1 && type.scalar == left.scalar;
    case P::kColumnsVector:
      return vector && type.scalar == left.scalar && type.rows == left.columns;
    case P::kRowsMatrix:
      return type.kind == TypeKind::kMatrix && type.scalar == left.scalar && type.rows == left.rows;
    case P::kColumnsMatrix:
      return type.kind == TypeKind::kMatrix && type.scalar == left.scalar &&
             type.rows == left.columns;
  }
  KILN_UNREACHABLE();
}

// Types that are not one of the operands are looked up, not added: the pool is const, and it holds
// every vector and every matrix of floats from its start.
TypeId ResultOf(const Pool& pool, ResultPattern pattern, TypeId left, TypeId right) {
  switch (pattern) {
    case R::kLeft:
      return left;
    case R::kRowsVector:
      return pool.Vector(pool[left].scalar, pool[left].rows);
    case R::kColumnsVector:
      return pool.Vector(pool[right].scalar, pool[right].columns);
    case R::kProduct:
      return pool.FloatMatrix(pool[left].scalar, pool[right].columns, pool[left].rows);
    case R::kBool:
      return pool.bool_type();
    case R::kBoolVector:
      return pool.Vector(Scalar::kBool, pool[left].rows);
  }
  KILN_UNREACHABLE();
}

}  // namespace

std::span<const UnaryRow> UnaryRows() { return kUnaryRows; }

// A linear scan of some twenty rows; the mask of operators refuses most of them by one instruction,
// so an index by operator would not pay.
std::optional<BinaryTyping> TypeOfBinary(const Pool& pool, TypingRules rules, BinaryOp op,
                                         TypeId left, TypeId right) {
  for (const BinaryRow& row : kBinaryRows) {
    if ((row.rules & static_cast<uint8_t>(rules)) != 0 && (row.ops & Bits(op)) != 0 &&
        Fits(pool, row.left, left, left) && Fits(pool, row.right, right, left)) {
      return BinaryTyping{.result = ResultOf(pool, row.result, left, right), .form = row.form};
    }
  }
  return std::nullopt;
}

std::optional<TypeId> TypeOfUnary(const Pool& pool, TypingRules rules, UnaryOp op, TypeId operand) {
  for (const UnaryRow& row : kUnaryRows) {
    if ((row.rules & static_cast<uint8_t>(rules)) != 0 && row.op == op &&
        Fits(pool, row.operand, operand, operand)) {
      return operand;
    }
  }
  return std::nullopt;
}

}  // namespace kiln::ir
