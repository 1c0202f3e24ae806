// SPDX-License-Identifier: MIT
// Operators as data.
#pragma once

#include <cstdint>
#include <string_view>

namespace kiln::wgsl::front {

enum class Operator : uint8_t {
#define KILN_WGSL_OPERATOR(enumerator, text, row) k##enumerator,
#include "compiler/front/wgsl/operators.def"
};
enum class OperatorClass : uint8_t {
  kUnary,
  kMultiply,
  kAdd,
  kShift,
  kRelation,
  kAnd,
  kOr,
  kBitAnd,
  kBitOr,
  kBitXor,
};
struct OperatorFacts {
  std::string_view text;
  OperatorClass row;
};
inline constexpr OperatorFacts kOperatorFacts[] = {
#define KILN_WGSL_OPERATOR(enumerator, text, row) {text, OperatorClass::k##row},
#include "compiler/front/wgsl/operators.def"
};
constexpr const OperatorFacts& FactsOf(Operator op) {
  return kOperatorFacts[static_cast<uint8_t>(op)];
}

}  // namespace kiln::wgsl::front
