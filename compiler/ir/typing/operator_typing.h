// SPDX-License-Identifier: MIT
// The typing rules of operators, as written in a source and as specialised instructions. Pure
// functions of shapes, like those of typing.h; one table holds every rule. Spec: docs/IR.md "Typing
// of specialised instructions", spec/rpl 5.2, 5.3.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "compiler/ir/insts.h"
#include "compiler/ir/types.h"

namespace kiln::ir {

// Whose rules: those of a language, or those of specialised IR. Bits, because rows have several.
enum class TypingRules : uint8_t { kRpl1 = 1, kSpecialised = 2, kRpl2 = 4 };

// How a binary operation is computed. Everything but kSplatRight is one specialised `binary`.
enum class BinaryForm : uint8_t {
  kSame,               // component by component
  kMatrixPerColumn,    // column by column
  kVectorTimesScalar,  // float
  kSplatRight,         // the right operand is splat to the left's type first, then kSame
  kMatrixTimesScalar,
  kMatrixTimesVector,
  kVectorTimesMatrix,
  kMatrixTimesMatrix,
  kCompare,
};
struct BinaryTyping {
  TypeId result{};
  BinaryForm form = BinaryForm::kSame;
};
// Nothing if no rule fits.
std::optional<BinaryTyping> TypeOfBinary(const Pool& pool, TypingRules rules, BinaryOp op,
                                         TypeId left, TypeId right);
std::optional<TypeId> TypeOfUnary(const Pool& pool, TypingRules rules, UnaryOp op, TypeId operand);

// --- the tables, for tests -----------------------------------------------------------------------
// Patterns of operand types. "Vector" is float, unsigned or signed, scalars included.
enum class OperandPattern : uint8_t {
  kVector,
  kFloatVector,
  kIntVector,
  kSignedVector,
  kMatrix,
  kScalar,  // vector with one row
  kIntScalar,
  kBool,
  kNumberVector2,  // two items or more
  kBoolVector,
  kAny,
  kSame,           // as the left operand
  kItem,           // one-row vector of the left operand's scalar
  kColumnsVector,  // vector with one component per column of the left matrix
  kRowsMatrix,     // matrix with one row per component of the left vector
  kColumnsMatrix,  // matrix with one row per column of the left matrix
};
enum class ResultPattern : uint8_t {
  kLeft,
  kRowsVector,
  kColumnsVector,
  kBool,
  kBoolVector,
  kProduct,  // of two matrices
};

struct BinaryRow {
  uint32_t ops = 0;  // 1 << BinaryOp
  OperandPattern left{};
  OperandPattern right{};
  ResultPattern result{};
  BinaryForm form{};
  uint8_t rules = 0;  // TypingRules
};
struct UnaryRow {
  UnaryOp op{};
  OperandPattern operand{};
  uint8_t rules = 0;
};
std::span<const UnaryRow> UnaryRows();

}  // namespace kiln::ir
