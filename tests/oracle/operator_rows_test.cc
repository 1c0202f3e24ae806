// SPDX-License-Identifier: MIT
// Every operator and every constructor with every combination of operand types that the language
// has: the interpreter and lavapipe agree. The combinations come from ir/typing.
#include <fmt/format.h>

#include "compiler/ir/typing/operator_typing.h"
#include "compiler/ir/typing/typing.h"
#include "tests/oracle/operator_fixture.h"

namespace kiln::oracle {
namespace {

using ir::BinaryOp;
using ir::UnaryOp;

struct OperatorCase {
  BinaryOp op;
  std::string_view text;
  std::string_view name;
};
constexpr OperatorCase kOperators[] = {
    {BinaryOp::kAdd, "+", "Add"},
    {BinaryOp::kSub, "-", "Sub"},
    {BinaryOp::kMul, "*", "Mul"},
    {BinaryOp::kDiv, "/", "Div"},
    {BinaryOp::kMod, "%", "Mod"},
    {BinaryOp::kAnd, "&", "And"},
    {BinaryOp::kOr, "|", "Or"},
    {BinaryOp::kXor, "^", "Xor"},
    {BinaryOp::kShiftLeft, "<<", "ShiftLeft"},
    {BinaryOp::kShiftRight, ">>", "ShiftRight"},
    {BinaryOp::kLess, "<", "Less"},
    {BinaryOp::kGreater, ">", "Greater"},
    {BinaryOp::kLessEqual, "<=", "LessEqual"},
    {BinaryOp::kGreaterEqual, ">=", "GreaterEqual"},
    {BinaryOp::kEqual, "==", "Equal"},
    {BinaryOp::kNotEqual, "!=", "NotEqual"},
};
// Items of the right operand begin behind those of the largest left one.
constexpr uint32_t kRightFloats = 4;
constexpr uint32_t kRightIntegers = 1;

Samples InputsOf(BinaryOp op, bool dyadic) {
  std::mt19937 random(static_cast<uint32_t>(op) * 2 + (dyadic ? 1 : 0));
  Samples samples;
  FillFloats(samples, random, 0, kRightFloats, {.dyadic = dyadic});
  FillUnsigned(samples, random, 0, 1, {});
  FillSigned(samples, random, 0, 1, {.low = INT32_MIN + 1});
  FillFloats(samples, random, kRightFloats, 4,
             {.low = op == BinaryOp::kDiv ? 0.125F : -8, .dyadic = dyadic});
  const bool shifts = op == BinaryOp::kShiftLeft || op == BinaryOp::kShiftRight;
  const bool divides = op == BinaryOp::kDiv || op == BinaryOp::kMod;
  FillUnsigned(samples, random, 1, 1, {.low = divides ? 1U : 0U, .high = shifts ? 31U : ~0U});
  FillSigned(samples, random, 1, 1,
             {.low = shifts ? 0 : INT32_MIN, .high = shifts ? 31 : INT32_MAX});
  for (Sample& sample : samples) {
    for (uint32_t i = 4; i < 8; ++i) {
      sample.s[i] = divides && sample.s[i] == 0 ? -3 : sample.s[i];
      if (random() % 4 == 0 && !shifts && !divides) {  // equal operands are rare otherwise
        sample.s[i] = sample.s[i - 4];
        sample.u[i] = sample.u[i - 4];
        sample.f[kRightFloats * 4 + i - 4] = sample.f[i - 4];
      }
    }
  }
  return samples;
}

// Inputs that `op` is defined for. Half of the floats are dyadic: exact under every order of
// adding.
Samples InputsOf(BinaryOp op) {
  Samples dyadic = InputsOf(op, true);
  const Samples others = InputsOf(op, false);
  std::copy(others.begin(), others.begin() + kBenchPixels / 2, dyadic.begin());
  return dyadic;
}

class OperatorRows : public OperatorFixture, public ::testing::WithParamInterface<OperatorCase> {};

TEST_P(OperatorRows, EveryOperandPair_AgreesWithTheDevice) {
  const OperatorCase& op = GetParam();
  ir::Pool pool;
  const std::vector<ir::TypeId> types = OperandTypes(pool);
  uint32_t rows = 0;
  for (const ir::TypeId left : types) {
    for (const ir::TypeId right : types) {
      const std::optional<ir::BinaryTyping> typing =
          ir::TypeOfBinary(pool, ir::TypingRules::kRpl1, op.op, left, right);
      if (!typing.has_value()) {
        continue;
      }
      ++rows;
      SCOPED_TRACE(
          fmt::format("{} {} {}", ir::TypeText(pool, left), op.text, ir::TypeText(pool, right)));
      const uint32_t second =
          pool[right].scalar == ir::Scalar::kF32 ? kRightFloats : kRightIntegers;
      const std::string source =
          ProbeText(ResultText(pool, typing->result,
                               fmt::format("({}) {} ({})", OperandText(pool, left, 0), op.text,
                                           OperandText(pool, right, second))));
      const Comparison comparison = Agree(source, InputsOf(op.op));
      if (op.op != BinaryOp::kMod) {  // open for negative operands
        EXPECT_EQ(comparison.open, 0U);
      }
    }
  }
  EXPECT_GE(rows, 3U);
}

INSTANTIATE_TEST_SUITE_P(All, OperatorRows, ::testing::ValuesIn(kOperators),
                         [](const ::testing::TestParamInfo<OperatorCase>& info) {
                           return std::string(info.param.name);
                         });

class UnaryRows : public OperatorFixture {};

TEST_F(UnaryRows, EveryOperand_AgreesWithTheDevice) {
  constexpr std::pair<UnaryOp, std::string_view> kUnary[] = {
      {UnaryOp::kNegate, "-"}, {UnaryOp::kComplement, "~"}, {UnaryOp::kPlus, "+"}};
  ir::Pool pool;
  uint32_t rows = 0;
  for (const auto& [op, text] : kUnary) {
    for (const ir::TypeId type : OperandTypes(pool)) {
      if (ir::TypeOfUnary(pool, ir::TypingRules::kRpl1, op, type).has_value()) {
        ++rows;
        Agree(ProbeText(
                  ResultText(pool, type, fmt::format("{}({})", text, OperandText(pool, type, 0)))),
              InputsOf(BinaryOp::kAdd));
      }
    }
  }
  EXPECT_EQ(rows, 10U + 2U + 14U);  // negate, complement, plus
}

TEST_F(UnaryRows, Not_AgreesWithTheDevice) {
  Agree(ProbeText("if (!(given.f[0].x < given.f[4].x)) { result.u0.x = 1u; }"),
        InputsOf(BinaryOp::kLess));
}

TEST_F(UnaryRows, LogicOfEveryPair_AgreesWithTheDevice) {
  for (const std::string_view op : {"&&", "||"}) {
    Agree(ProbeText(fmt::format("if (given.f[0].x < given.f[4].x {} given.s[0].x < given.s[1].x) "
                                "{{ result.u0.x = 1u; }}",
                                op)),
          InputsOf(BinaryOp::kLess));
  }
}

// --- constructors
class ConstructorRows : public OperatorFixture {
 protected:
  static void AgreeOn(const ir::Pool& pool, ir::TypeId target, const std::string& arguments) {
    std::mt19937 random(7);
    Samples samples;
    FillFloats(samples, random, 0, 8, {.low = 0, .high = 1000});
    FillUnsigned(samples, random, 0, 3, {.high = 0xffffff});
    FillSigned(samples, random, 0, 3, {.low = -0xffffff, .high = 0xffffff});
    const Comparison comparison = Agree(
        ProbeText(ResultText(pool, target, ir::TypeText(pool, target) + " { " + arguments + " }")),
        samples);
    EXPECT_EQ(comparison.open, 0U);
  }
};

TEST_F(ConstructorRows, SkipFillConvert_AgreeWithTheDevice) {
  ir::Pool pool;
  uint32_t rows = 0;
  for (const ir::TypeId target : OperandTypes(pool)) {
    for (const ir::TypeId argument : OperandTypes(pool)) {
      const ir::TypeId arguments[] = {argument};
      if (ir::TypeOfConstructor(pool, target, arguments).has_value()) {
        ++rows;
        AgreeOn(pool, target, OperandText(pool, argument, 0));
      }
    }
  }
  EXPECT_EQ(rows, 14U + 9U + 24U + 1U);  // skip, fill, convert, crop
}

// Every way to add up to 2, 3 or 4 components.
TEST_F(ConstructorRows, Combine_AgreesWithTheDevice) {
  ir::Pool pool;
  for (const ir::Scalar scalar : {ir::Scalar::kF32, ir::Scalar::kU32, ir::Scalar::kS32}) {
    for (const std::vector<uint32_t>& parts : std::vector<std::vector<uint32_t>>{{1, 1},
                                                                                 {1, 2},
                                                                                 {2, 1},
                                                                                 {1, 1, 1},
                                                                                 {1, 3},
                                                                                 {3, 1},
                                                                                 {2, 2},
                                                                                 {1, 1, 2},
                                                                                 {1, 2, 1},
                                                                                 {2, 1, 1},
                                                                                 {1, 1, 1, 1}}) {
      uint32_t rows = 0;
      std::string arguments;
      for (const uint32_t part : parts) {
        const uint32_t item = static_cast<uint32_t>(arguments.size()) % 3;
        arguments += (rows == 0 ? "" : ", ") + OperandText(pool, pool.Vector(scalar, part), item);
        rows += part;
      }
      AgreeOn(pool, pool.Vector(scalar, rows), arguments);
    }
  }
}

TEST_F(ConstructorRows, Structs_AgreeWithTheDevice) {
  std::mt19937 random(9);
  Samples samples;
  FillFloats(samples, random, 0, 8, {});
  FillUnsigned(samples, random, 0, 3, {});
  Agree(
      "struct inner_t { u2 count; f1 weight; };\n"
      "struct outer_t { f3x3 turn; inner_t inner; f4 shift; };\n" +
          ProbeText("outer_t made = outer_t { f3x3 { given.f[0].xyz, given.f[1].xyz, "
                    "given.f[2].xyz }, inner_t { given.u[0].zw, given.f[3].x }, given.f[4] };\n"
                    "    result.f0 = f4 { made.turn.y, made.inner.weight };\n"
                    "    result.f1 = made.shift;\n"
                    "    result.u0 = u4 { made.inner.count, 0u, 0u };"),
      samples);
}

}  // namespace
}  // namespace kiln::oracle
