// SPDX-License-Identifier: MIT
// Binary operators by token: how strongly they bind and what they become. See spec/hlsl 5.3 (cond)
#pragma once

#include <array>
#include <cstdint>

#include "compiler/front/hlsl/syntax/ast.h"
#include "compiler/front/hlsl/token.h"

namespace kiln::hlsl::syntax {

// The conditional operator binds like an assignment: what stands behind its ':' is one.
enum Precedence : uint8_t {
  kNotBinary,
  kCommas,
  kAssignment,
  kLogicalOr,
  kLogicalAnd,
  kBitOr,
  kBitXor,
  kBitAnd,
  kEquality,
  kRelation,
  kShift,
  kSum,
  kProduct,
  kPrefix,
};

struct OperatorRow {
  uint8_t precedence = kNotBinary;
  ExprKind kind = ExprKind::kBinary;
  uint8_t op = 0;
};

inline constexpr size_t kTokenKinds = static_cast<size_t>(TokenKind::kHashHash) + 1;

inline constexpr auto kOperators = [] {
  std::array<OperatorRow, kTokenKinds> rows{};
  const auto row = [&rows](TokenKind token, uint8_t precedence, ExprKind kind, auto op) {
    rows[static_cast<size_t>(token)] = {precedence, kind, static_cast<uint8_t>(op)};
  };
  using Op = BinaryOp;
  using enum ExprKind;
  row(TokenKind::kStar, kProduct, kBinary, Op::kMul);
  row(TokenKind::kSlash, kProduct, kBinary, Op::kDiv);
  row(TokenKind::kPercent, kProduct, kBinary, Op::kRem);
  row(TokenKind::kPlus, kSum, kBinary, Op::kAdd);
  row(TokenKind::kMinus, kSum, kBinary, Op::kSub);
  row(TokenKind::kShiftLeft, kShift, kBinary, Op::kShiftLeft);
  row(TokenKind::kShiftRight, kShift, kBinary, Op::kShiftRight);
  row(TokenKind::kLess, kRelation, kBinary, Op::kLess);
  row(TokenKind::kGreater, kRelation, kBinary, Op::kGreater);
  row(TokenKind::kLessEqual, kRelation, kBinary, Op::kLessEqual);
  row(TokenKind::kGreaterEqual, kRelation, kBinary, Op::kGreaterEqual);
  row(TokenKind::kEqual, kEquality, kBinary, Op::kEqual);
  row(TokenKind::kNotEqual, kEquality, kBinary, Op::kNotEqual);
  row(TokenKind::kAnd, kBitAnd, kBinary, Op::kBitAnd);
  row(TokenKind::kXor, kBitXor, kBinary, Op::kBitXor);
  row(TokenKind::kOr, kBitOr, kBinary, Op::kBitOr);
  row(TokenKind::kLogicalAnd, kLogicalAnd, kLogical, LogicalOp::kAnd);
  row(TokenKind::kLogicalOr, kLogicalOr, kLogical, LogicalOp::kOr);
  row(TokenKind::kComma, kCommas, kComma, 0);
  row(TokenKind::kQuestion, kAssignment, kSelect, 0);
  row(TokenKind::kAssign, kAssignment, kAssign, kPlainAssign);
  row(TokenKind::kMulAssign, kAssignment, kAssign, Op::kMul);
  row(TokenKind::kDivAssign, kAssignment, kAssign, Op::kDiv);
  row(TokenKind::kModAssign, kAssignment, kAssign, Op::kRem);
  row(TokenKind::kAddAssign, kAssignment, kAssign, Op::kAdd);
  row(TokenKind::kSubAssign, kAssignment, kAssign, Op::kSub);
  row(TokenKind::kShiftLeftAssign, kAssignment, kAssign, Op::kShiftLeft);
  row(TokenKind::kShiftRightAssign, kAssignment, kAssign, Op::kShiftRight);
  row(TokenKind::kAndAssign, kAssignment, kAssign, Op::kBitAnd);
  row(TokenKind::kXorAssign, kAssignment, kAssign, Op::kBitXor);
  row(TokenKind::kOrAssign, kAssignment, kAssign, Op::kBitOr);
  return rows;
}();

constexpr const OperatorRow& OperatorOf(TokenKind kind) {
  return kOperators[static_cast<size_t>(kind)];
}

}  // namespace kiln::hlsl::syntax
