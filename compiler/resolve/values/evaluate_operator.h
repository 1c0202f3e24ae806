// SPDX-License-Identifier: MIT
// The operators of compile-time expressions: values of operands -> value, or why there is none.
// See spec/rpl 8.2.
#pragma once

#include <cstdint>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/cexpr.h"
#include "compiler/ir/module.h"

namespace kiln::resolve {

// Value of a compile-time expression, option or constant.
struct Value {
  ir::ValueKind kind = ir::ValueKind::kFailed;
  bool instance = false;  // rests on an instance option (taint)
  uint32_t bits = 0;      // flag 0/1, uint, sint, float bits; string: StringId of the Pool
  friend bool operator==(const Value&, const Value&) = default;
  bool failed() const { return kind == ir::ValueKind::kFailed; }
};

// Why an operator has no result for its operands.
struct Failure {
  Code code = Code::kRpl3011;
  ir::CexprOp op = ir::CexprOp::kLiteral;
  ir::ValueKind target = ir::ValueKind::kFailed;  // of a conversion
  Value left, right;
};

// Result of a row with an operator. A failed operand fails without a reason: `failure` is set only
// by the row where things go wrong. Requires: an operator, not a leaf.
Value Apply(const ir::Cexpr& row, Value left, Value right, Value third, Failure& failure,
            bool& failed_here);

constexpr uint32_t OperandCount(ir::CexprOp op) {
  using enum ir::CexprOp;
  if (op == kLiteral || op == kName || op == kComposite || op == kInvalid) {
    return 0;
  }
  if (op == kSelect) {
    return 3;
  }
  return op == kNegate || op == kNot || op == kComplement || op == kPlus || op == kConvert ? 1 : 2;
}
}  // namespace kiln::resolve
