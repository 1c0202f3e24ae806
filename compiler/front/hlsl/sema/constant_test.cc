// SPDX-License-Identifier: MIT
// Constants: every conversion and operator bit for bit, and what has no value.
#include "compiler/front/hlsl/sema/constant.h"

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "compiler/front/hlsl/sema/operator.h"

namespace kiln::hlsl {
namespace {

Scalar LiteralInt(int64_t value) { return OfInteger(Item::kLiteralInt, value); }
Scalar LiteralFloat(double value) { return OfReal(Item::kLiteralFloat, value); }
std::string TextOf(const std::optional<Scalar>& scalar) {
  return scalar ? hlsl::TextOf(*scalar) : "none";
}

TEST(Constant, Conversions_KeepWhatTheTargetHolds) {
  const struct {
    Scalar from;
    Item to;
    std::string expected;
  } rows[] = {
      {BoolValue(true), Item::kInt, "1"},
      {BoolValue(true), Item::kFloat, "1"},
      {BoolValue(false), Item::kUint, "0"},
      {IntValue(-1), Item::kBool, "true"},
      {IntValue(-1), Item::kUint, "4294967295"},
      {IntValue(-3), Item::kFloat, "-3"},
      {UintValue(0xffffffffu), Item::kInt, "-1"},
      {UintValue(0xffffffffu), Item::kDouble, "4294967295"},
      {UintValue(16777217), Item::kFloat, "16777216"},
      {FloatValue(-1.9F), Item::kInt, "-1"},
      {FloatValue(-0.0F), Item::kBool, "false"},
      {FloatValue(-1.0F), Item::kUint, "none"},
      {FloatValue(3e9F), Item::kInt, "none"},
      {FloatValue(3e9F), Item::kUint, "3000000000"},
      {FloatValue(std::numeric_limits<float>::infinity()), Item::kInt, "none"},
      {FloatValue(std::nanf("")), Item::kDouble, "none"},
      {LiteralInt(0x1ffffffff), Item::kUint, "4294967295"},
      {LiteralInt(9007199791611905), Item::kFloat, "9007200000000000"},  // one rounding
      {LiteralFloat(0.1), Item::kFloat, "0.1"},
      {LiteralFloat(2.5), Item::kInt, "2"},
      {LiteralFloat(1e300), Item::kFloat, "inf"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(TextOf(Converted(row.from, row.to)), row.expected)
        << hlsl::TextOf(row.from) << " to " << FactsOf(row.to).name;
  }
}

TEST(Constant, Literals_AreInt_ThenUint_OrFloat) {
  EXPECT_EQ(NaturalItem(LiteralInt(2147483647)), Item::kInt);
  EXPECT_EQ(NaturalItem(LiteralInt(-2147483648)), Item::kInt);
  EXPECT_EQ(NaturalItem(LiteralInt(2147483648)), Item::kUint);
  EXPECT_EQ(NaturalItem(LiteralFloat(1)), Item::kFloat);
  EXPECT_EQ(NaturalItem(UintValue(1)), Item::kUint);
}

TEST(Operator, OnConstants_WrapsMasksAndRounds) {
  constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
  const struct {
    Operator op;
    Scalar left, right;
    std::string expected;
  } rows[] = {
      {Operator::kAdd, IntValue(2147483647), IntValue(1), "-2147483648"},
      {Operator::kAdd, UintValue(0xffffffffu), UintValue(2), "1"},
      {Operator::kSub, UintValue(0), UintValue(1), "4294967295"},
      {Operator::kMul, IntValue(65536), IntValue(65536), "0"},
      {Operator::kMul, LiteralInt(65536), LiteralInt(65536), "4294967296"},
      {Operator::kDiv, IntValue(-7), IntValue(2), "-3"},
      {Operator::kDiv, IntValue(1), IntValue(0), "none"},
      {Operator::kDiv, IntValue(kLeast), IntValue(-1), "none"},
      {Operator::kMod, IntValue(-7), IntValue(3), "-1"},
      {Operator::kMod, UintValue(7), UintValue(3), "1"},
      {Operator::kMod, UintValue(7), UintValue(0), "none"},
      {Operator::kMod, FloatValue(-7.5F), FloatValue(2.0F), "-1.5"},
      {Operator::kMod, FloatValue(1.0F), FloatValue(0.0F), "none"},
      {Operator::kDiv, FloatValue(1.0F), FloatValue(0.0F), "inf"},
      {Operator::kDiv, FloatValue(0.0F), FloatValue(0.0F), "none"},
      {Operator::kAdd, FloatValue(16777216.0F), FloatValue(1.0F), "16777216"},
      {Operator::kShiftLeft, IntValue(1), IntValue(33), "2"},
      {Operator::kShiftRight, IntValue(-8), IntValue(1), "-4"},
      {Operator::kShiftRight, UintValue(0x80000000u), UintValue(31), "1"},
      {Operator::kBitAnd, IntValue(-1), IntValue(12), "12"},
      {Operator::kBitOr, UintValue(8), UintValue(3), "11"},
      {Operator::kBitXor, IntValue(5), IntValue(-1), "-6"},
      {Operator::kBitAnd, FloatValue(1), FloatValue(1), "none"},
      {Operator::kLess, IntValue(-1), IntValue(0), "true"},
      {Operator::kLess, UintValue(0xffffffffu), UintValue(0), "false"},
      {Operator::kGreaterEqual, FloatValue(-0.0F), FloatValue(0.0F), "true"},
      {Operator::kEqual, FloatValue(-0.0F), FloatValue(0.0F), "true"},
      {Operator::kNotEqual, BoolValue(true), BoolValue(false), "true"},
      {Operator::kLogicalAnd, BoolValue(true), BoolValue(false), "false"},
      {Operator::kLogicalOr, BoolValue(true), BoolValue(false), "true"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(TextOf(Fold(row.op, row.left, row.right)), row.expected)
        << hlsl::TextOf(row.left) << ' ' << FactsOf(row.op).text << ' ' << hlsl::TextOf(row.right);
  }
}

TEST(Operator, OfOneConstant) {
  EXPECT_EQ(TextOf(Fold(Operator::kMinus, UintValue(1))), "4294967295");
  EXPECT_EQ(TextOf(Fold(Operator::kMinus, IntValue(-2147483647 - 1))), "-2147483648");
  EXPECT_EQ(std::signbit(Real(*Fold(Operator::kMinus, FloatValue(0.0F)))), true);
  EXPECT_EQ(TextOf(Fold(Operator::kComplement, IntValue(0))), "-1");
  EXPECT_EQ(TextOf(Fold(Operator::kComplement, FloatValue(0))), "none");
  EXPECT_EQ(TextOf(Fold(Operator::kNot, FloatValue(-0.0F))), "true");
  EXPECT_EQ(TextOf(Fold(Operator::kPlus, IntValue(3))), "3");
}

// Each operator has an instruction for each class of items, or is not for it.
TEST(Operator, Instructions_FollowTheTable) {
  for (uint32_t i = 0; i < kOperatorCount; ++i) {
    const auto op = static_cast<Operator>(i);
    const OperatorClass op_class = FactsOf(op).op_class;
    const bool binary = op_class != OperatorClass::kLogical && op_class != OperatorClass::kUnary;
    const bool integers = op_class == OperatorClass::kBitwise || op_class == OperatorClass::kShift;
    EXPECT_EQ(InstructionOf(op, ItemClass::kSigned).has_value(), binary);
    EXPECT_EQ(InstructionOf(op, ItemClass::kUnsigned).has_value(), binary);
    EXPECT_EQ(InstructionOf(op, ItemClass::kFloat).has_value(), binary && !integers);
    EXPECT_EQ(InstructionOf(op, ItemClass::kBool).has_value(),
              op_class == OperatorClass::kEquality);
  }
}

}  // namespace
}  // namespace kiln::hlsl
