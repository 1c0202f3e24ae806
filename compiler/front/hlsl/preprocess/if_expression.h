// SPDX-License-Identifier: MIT
// Tokens of an #if -> its value: 64-bit integers with C's operators and precedence. Values come
// from the caller, who knows names and numbers.
//   expression.AddValue({1}); expression.AddToken(TokenKind::kPlus); ...; expression.Finish();
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/front/hlsl/token.h"

namespace kiln::hlsl {

// 64 bits, two's complement; an operation is unsigned if one of its operands is.
struct IfValue {
  uint64_t bits = 0;
  bool is_unsigned = false;

  friend bool operator==(const IfValue&, const IfValue&) = default;
};

class IfExpression {
 public:
  enum class Step : uint8_t { kGood, kWrong, kTooDeep, kTooMany };

  // Parentheses in each other, operands.
  IfExpression(uint32_t most_parentheses, uint32_t most_terms)
      : most_parentheses_(most_parentheses), most_terms_(most_terms) {}

  void Clear();  // begins another one
  Step AddValue(IfValue value);
  Step AddToken(TokenKind kind);
  // Nothing if operators or parentheses want something.
  std::optional<IfValue> Finish();

 private:
  struct Pending {
    TokenKind kind;
    uint8_t precedence;
    bool was_live = true;  // when it was met
    bool chosen = false;   // of '?' and its ':': the condition
  };

  Step CloseParenthesis();
  Step Question();
  Step Colon();
  Step Binary(TokenKind kind);
  Step CountTerm();
  bool Reduce(uint8_t down_to);
  bool Apply(const Pending& pending);

  uint32_t most_parentheses_, most_terms_;
  std::vector<IfValue> values_;
  std::vector<Pending> pending_;
  bool live_ = true;  // the value of what comes is needed
  bool wants_operand_ = true;
  uint32_t parentheses_ = 0;
  uint32_t terms_ = 0;
};

}  // namespace kiln::hlsl
