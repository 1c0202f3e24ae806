// SPDX-License-Identifier: MIT
// Facts of operators.def as data, and what an operator does to constants of one item.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "compiler/front/hlsl/sema/constant.h"
#include "compiler/front/hlsl/sema/item.h"
#include "compiler/ir/insts.h"

namespace kiln::hlsl {

enum class Operator : uint8_t {
#define KILN_OPERATOR(op, text, op_class, s, u, f) k##op,
#include "compiler/front/hlsl/sema/operators.def"
};
enum class OperatorClass : uint8_t {
  kArithmetic,
  kBitwise,
  kShift,
  kRelational,
  kEquality,
  kLogical,
  kUnary,
};

struct OperatorFacts {
  std::string_view text;
  OperatorClass op_class;
};
inline constexpr OperatorFacts kOperatorFacts[] = {
#define KILN_OPERATOR(op, text, op_class, s, u, f) {text, OperatorClass::k##op_class},
#include "compiler/front/hlsl/sema/operators.def"
};
inline constexpr uint32_t kOperatorCount = sizeof(kOperatorFacts) / sizeof(kOperatorFacts[0]);
constexpr const OperatorFacts& FactsOf(Operator op) {
  return kOperatorFacts[static_cast<size_t>(op)];
}
constexpr bool IsComparison(Operator op) {
  return FactsOf(op).op_class == OperatorClass::kRelational ||
         FactsOf(op).op_class == OperatorClass::kEquality;
}

// The instruction of a binary operator on items of a class; nothing if it is not for them, or is
// none of one instruction. Booleans have equality only.
std::optional<ir::BinaryOp> InstructionOf(Operator op, ItemClass item_class);

// The value of an operator on constants, bit for bit as at run time: integers wrap, counts of
// shifts are masked, floats are IEEE with ties to even. Nothing where IEEE or SPIR-V leave it
// undefined. Requires: operands of one item, but for shifts; of logic, booleans.
std::optional<Scalar> Fold(Operator op, Scalar left, Scalar right);
std::optional<Scalar> Fold(Operator op, Scalar operand);

}  // namespace kiln::hlsl
