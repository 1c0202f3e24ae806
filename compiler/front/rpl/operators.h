// SPDX-License-Identifier: MIT
// Binary operators by token: how strongly they bind and what they become. See spec/rpl 1.4, 14
#pragma once

#include <array>
#include <cstdint>

#include "compiler/front/rpl/ast.h"
#include "compiler/front/rpl/lex.h"

namespace kiln::rpl {

enum Precedence : uint8_t {
  kNotBinary,
  kAssignment,
  kConditional,
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

inline constexpr size_t kTokenKinds = static_cast<size_t>(TokenKind::kShiftRightAssign) + 1;

inline constexpr auto kOperators = [] {
  std::array<OperatorRow, kTokenKinds> rows{};
  using Op = ir::BinaryOp;
  const auto binary = [&rows](TokenKind token, uint8_t precedence, Op op) {
    rows[static_cast<size_t>(token)] = {precedence, ExprKind::kBinary, static_cast<uint8_t>(op)};
  };
  const auto assign = [&rows](TokenKind token, Op op) {
    rows[static_cast<size_t>(token)] = {kAssignment, ExprKind::kAssign, static_cast<uint8_t>(op)};
  };
  const auto logical = [&rows](TokenKind token, uint8_t precedence, ir::LogicalOp op) {
    rows[static_cast<size_t>(token)] = {precedence, ExprKind::kLogical, static_cast<uint8_t>(op)};
  };
  binary(TokenKind::kStar, kProduct, Op::kMul);
  binary(TokenKind::kSlash, kProduct, Op::kDiv);
  binary(TokenKind::kPercent, kProduct, Op::kMod);
  binary(TokenKind::kPlus, kSum, Op::kAdd);
  binary(TokenKind::kMinus, kSum, Op::kSub);
  binary(TokenKind::kShiftLeft, kShift, Op::kShiftLeft);
  binary(TokenKind::kShiftRight, kShift, Op::kShiftRight);
  binary(TokenKind::kLess, kRelation, Op::kLess);
  binary(TokenKind::kGreater, kRelation, Op::kGreater);
  binary(TokenKind::kLessEqual, kRelation, Op::kLessEqual);
  binary(TokenKind::kGreaterEqual, kRelation, Op::kGreaterEqual);
  binary(TokenKind::kEqual, kEquality, Op::kEqual);
  binary(TokenKind::kNotEqual, kEquality, Op::kNotEqual);
  binary(TokenKind::kAnd, kBitAnd, Op::kAnd);
  binary(TokenKind::kXor, kBitXor, Op::kXor);
  binary(TokenKind::kOr, kBitOr, Op::kOr);
  logical(TokenKind::kLogicalAnd, kLogicalAnd, ir::LogicalOp::kAnd);
  logical(TokenKind::kLogicalOr, kLogicalOr, ir::LogicalOp::kOr);
  rows[static_cast<size_t>(TokenKind::kAssign)] = {kAssignment, ExprKind::kAssign, kPlainAssign};
  assign(TokenKind::kAddAssign, Op::kAdd);
  assign(TokenKind::kSubAssign, Op::kSub);
  assign(TokenKind::kMulAssign, Op::kMul);
  assign(TokenKind::kDivAssign, Op::kDiv);
  assign(TokenKind::kModAssign, Op::kMod);
  assign(TokenKind::kAndAssign, Op::kAnd);
  assign(TokenKind::kOrAssign, Op::kOr);
  assign(TokenKind::kXorAssign, Op::kXor);
  assign(TokenKind::kShiftLeftAssign, Op::kShiftLeft);
  assign(TokenKind::kShiftRightAssign, Op::kShiftRight);
  return rows;
}();

constexpr const OperatorRow& OperatorOf(TokenKind kind) {
  return kOperators[static_cast<size_t>(kind)];
}

}  // namespace kiln::rpl
