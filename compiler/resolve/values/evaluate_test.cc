// SPDX-License-Identifier: MIT
#include "compiler/resolve/values/evaluate.h"

#include <bit>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace kiln::resolve {
namespace {

using ir::CexprOp;
using ir::ValueKind;

Value Flag(bool flag) { return {.kind = ValueKind::kFlag, .bits = flag ? 1u : 0u}; }
Value Uint(uint32_t number) { return {.kind = ValueKind::kUint, .bits = number}; }
Value Sint(int32_t number) {
  return {.kind = ValueKind::kSint, .bits = static_cast<uint32_t>(number)};
}
Value Real(float number) {
  return {.kind = ValueKind::kFloat, .bits = std::bit_cast<uint32_t>(number)};
}
Value Text(uint32_t id) { return {.kind = ValueKind::kString, .bits = id}; }

// "12u", "-3", "0.5", "true", "text 4", or the code of what is wrong.
std::string Show(Value value, Code code, bool failed_here) {
  if (failed_here) {
    return std::string(CodeText(code));
  }
  if (value.failed()) {
    return "failed";
  }
  if (value.kind == ValueKind::kString) {
    return "text " + std::to_string(value.bits);
  }
  return ValueText(value) + (value.kind == ValueKind::kUint ? "u" : "");
}

std::string Binary(CexprOp op, Value left, Value right) {
  Failure failure;
  bool failed_here = false;
  const Value value = Apply({.op = op}, left, right, {}, failure, failed_here);
  return Show(value, failure.code, failed_here);
}
std::string Unary(CexprOp op, Value operand) { return Binary(op, operand, {}); }
std::string Convert(ValueKind target, Value operand) {
  Failure failure;
  bool failed_here = false;
  const Value value = Apply({.op = CexprOp::kConvert, .kind = static_cast<uint16_t>(target)},
                            operand, {}, {}, failure, failed_here);
  return Show(value, failure.code, failed_here);
}

constexpr uint32_t kMaxUint = std::numeric_limits<uint32_t>::max();
constexpr int32_t kMaxSint = std::numeric_limits<int32_t>::max();
constexpr int32_t kMinSint = std::numeric_limits<int32_t>::min();
constexpr float kMaxFloat = std::numeric_limits<float>::max();

struct BinaryRow {
  CexprOp op;
  Value left, right;
  const char* result;
};

TEST(CompileTimeOperator, BinaryOnTwoValues_HasResultOrCode) {
  const BinaryRow rows[] = {
      {CexprOp::kAdd, Uint(kMaxUint), Uint(2), "1u"},
      {CexprOp::kAdd, Sint(2), Sint(-5), "-3"},
      {CexprOp::kAdd, Sint(kMaxSint), Sint(1), "RPL3020"},
      {CexprOp::kAdd, Real(0.25f), Real(0.5f), "0.75"},
      {CexprOp::kAdd, Real(kMaxFloat), Real(kMaxFloat), "RPL3022"},
      {CexprOp::kAdd, Flag(true), Uint(1), "RPL3005"},
      {CexprOp::kAdd, Uint(1), Sint(1), "RPL3006"},
      {CexprOp::kSub, Uint(1), Uint(2), "4294967295u"},
      {CexprOp::kSub, Sint(kMinSint), Sint(1), "RPL3020"},
      {CexprOp::kSub, Text(1), Text(1), "RPL3005"},
      {CexprOp::kMul, Uint(65536), Uint(65537), "65536u"},
      {CexprOp::kMul, Sint(65536), Sint(65536), "RPL3020"},
      {CexprOp::kMul, Real(1.5f), Real(2), "3"},
      {CexprOp::kDiv, Uint(7), Uint(2), "3u"},
      {CexprOp::kDiv, Sint(-7), Sint(2), "-3"},
      {CexprOp::kDiv, Sint(kMinSint), Sint(-1), "RPL3020"},
      {CexprOp::kDiv, Uint(1), Uint(0), "RPL3019"},
      {CexprOp::kDiv, Sint(1), Sint(0), "RPL3019"},
      {CexprOp::kDiv, Real(1), Real(0), "RPL3022"},
      {CexprOp::kMod, Uint(7), Uint(4), "3u"},
      {CexprOp::kMod, Sint(-7), Sint(4), "1"},
      {CexprOp::kMod, Sint(7), Sint(-4), "-1"},
      {CexprOp::kMod, Sint(kMinSint), Sint(-1), "0"},
      {CexprOp::kMod, Sint(-8), Sint(4), "0"},
      {CexprOp::kMod, Uint(1), Uint(0), "RPL3019"},
      {CexprOp::kMod, Real(1), Real(2), "RPL3008"},
      {CexprOp::kMod, Uint(1), Sint(2), "RPL3006"},
      {CexprOp::kAnd, Uint(12), Uint(10), "8u"},
      {CexprOp::kOr, Uint(12), Uint(10), "14u"},
      {CexprOp::kXor, Uint(12), Uint(10), "6u"},
      {CexprOp::kAnd, Sint(1), Sint(1), "RPL3007"},
      {CexprOp::kXor, Flag(true), Flag(true), "RPL3007"},
      {CexprOp::kShiftLeft, Uint(3), Uint(31), "2147483648u"},
      {CexprOp::kShiftLeft, Uint(1), Uint(32), "RPL3021"},
      {CexprOp::kShiftRight, Uint(8), Uint(3), "1u"},
      {CexprOp::kShiftRight, Uint(8), Uint(100), "RPL3021"},
      {CexprOp::kShiftRight, Sint(8), Uint(1), "RPL3007"},
      {CexprOp::kLess, Sint(-1), Sint(0), "true"},
      {CexprOp::kLess, Uint(kMaxUint), Uint(0), "false"},
      {CexprOp::kGreater, Real(2), Real(1), "true"},
      {CexprOp::kLessEqual, Uint(2), Uint(2), "true"},
      {CexprOp::kGreaterEqual, Sint(1), Sint(2), "false"},
      {CexprOp::kLess, Flag(false), Flag(true), "RPL3005"},
      {CexprOp::kGreaterEqual, Uint(1), Real(1), "RPL3006"},
      {CexprOp::kEqual, Text(4), Text(4), "true"},
      {CexprOp::kEqual, Text(4), Text(5), "false"},
      {CexprOp::kEqual, Flag(true), Flag(false), "false"},
      {CexprOp::kEqual, Real(0.0f), Real(-0.0f), "true"},
      {CexprOp::kNotEqual, Uint(4), Uint(5), "true"},
      {CexprOp::kEqual, Uint(1), Sint(1), "RPL3006"},
      {CexprOp::kNotEqual, Flag(true), Text(1), "RPL3006"},
      {CexprOp::kLogicalAnd, Flag(true), Flag(false), "false"},
      {CexprOp::kLogicalOr, Flag(true), Flag(false), "true"},
      {CexprOp::kLogicalAnd, Flag(false), Uint(1), "RPL3009"},
      {CexprOp::kLogicalOr, Text(1), Flag(true), "RPL3009"},
      {CexprOp::kLogicalAnd, Flag(false), Value{}, "failed"},
      {CexprOp::kAdd, Value{}, Flag(true), "failed"},
  };
  for (const BinaryRow& row : rows) {
    EXPECT_EQ(Binary(row.op, row.left, row.right), row.result)
        << OperatorText(row.op) << " " << row.left.bits << " " << row.right.bits;
  }
}

TEST(CompileTimeOperator, UnaryOnAValue_HasResultOrCode) {
  EXPECT_EQ(Unary(CexprOp::kNegate, Sint(5)), "-5");
  EXPECT_EQ(Unary(CexprOp::kNegate, Sint(kMinSint)), "RPL3020");
  EXPECT_EQ(Unary(CexprOp::kNegate, Real(0.5f)), "-0.5");
  EXPECT_EQ(Unary(CexprOp::kNegate, Uint(5)), "RPL3010");
  EXPECT_EQ(Unary(CexprOp::kNegate, Flag(true)), "RPL3010");
  EXPECT_EQ(Unary(CexprOp::kNot, Flag(true)), "false");
  EXPECT_EQ(Unary(CexprOp::kNot, Uint(0)), "RPL3009");
  EXPECT_EQ(Unary(CexprOp::kComplement, Uint(0)), "4294967295u");
  EXPECT_EQ(Unary(CexprOp::kComplement, Sint(0)), "RPL3007");
  EXPECT_EQ(Unary(CexprOp::kPlus, Flag(true)), "true");
  EXPECT_EQ(Unary(CexprOp::kPlus, Text(3)), "text 3");
}

TEST(CompileTimeOperator, ConversionOfAValue_FitsOrFails) {
  EXPECT_EQ(Convert(ValueKind::kUint, Flag(true)), "1u");
  EXPECT_EQ(Convert(ValueKind::kFloat, Flag(false)), "0");
  EXPECT_EQ(Convert(ValueKind::kSint, Uint(7)), "7");
  EXPECT_EQ(Convert(ValueKind::kSint, Uint(1u << 31)), "RPL3023");
  EXPECT_EQ(Convert(ValueKind::kUint, Sint(-1)), "RPL3023");
  EXPECT_EQ(Convert(ValueKind::kUint, Real(3.9f)), "3u");
  EXPECT_EQ(Convert(ValueKind::kSint, Real(-3.9f)), "-3");
  EXPECT_EQ(Convert(ValueKind::kUint, Real(-0.9f)), "0u");
  EXPECT_EQ(Convert(ValueKind::kUint, Real(4294967296.0f)), "RPL3023");
  EXPECT_EQ(Convert(ValueKind::kSint, Real(2147483648.0f)), "RPL3023");
  EXPECT_EQ(Convert(ValueKind::kFloat, Real(-0.0f)), "-0");
  EXPECT_EQ(Convert(ValueKind::kFloat, Real(0.5f)), "0.5");
  EXPECT_EQ(Convert(ValueKind::kFloat, Uint(16777217)), "16777216");
  EXPECT_EQ(Convert(ValueKind::kUint, Text(1)), "RPL3017");
}

TEST(CompileTimeOperator, TaintedOperand_TaintsTheResult) {
  Failure failure;
  bool failed_here = false;
  Value tainted = Uint(1);
  tainted.instance = true;
  EXPECT_TRUE(Apply({.op = CexprOp::kAdd}, Uint(1), tainted, {}, failure, failed_here).instance);
  EXPECT_FALSE(Apply({.op = CexprOp::kAdd}, Uint(1), Uint(1), {}, failure, failed_here).instance);
}

TEST(CompileTimeOperator, Choice_EvaluatesBothBranches) {
  const ir::Cexpr row{.op = CexprOp::kSelect};
  Failure failure;
  bool failed_here = false;
  EXPECT_EQ(Apply(row, Flag(false), Uint(1), Uint(2), failure, failed_here), Uint(2));
  EXPECT_TRUE(Apply(row, Flag(true), Uint(1), Value{}, failure, failed_here).failed());
  EXPECT_FALSE(failed_here);
  Apply(row, Flag(true), Uint(1), Sint(1), failure, failed_here);
  EXPECT_TRUE(failed_here);
  EXPECT_EQ(failure.code, Code::kRpl3006);
}

// Rows without names; what is wrong with them is found at spans 100, 101, … in pre-order.
class Rows final : public ExpressionScope {
 public:
  ir::CexprId Add(const ir::Cexpr& row) {
    rows_.push_back(row);
    return ir::CexprId{static_cast<uint32_t>(rows_.size() - 1)};
  }
  ir::CexprId Number(int32_t number) {
    return Add({.op = CexprOp::kLiteral,
                .kind = static_cast<uint16_t>(ValueKind::kSint),
                .a = static_cast<uint32_t>(number)});
  }
  ir::CexprId Op(CexprOp op, ir::CexprId a, ir::CexprId b) {
    return Add({.op = op, .a = a.value, .b = b.value});
  }
  const ir::Cexpr& Row(ir::CexprId id) override { return rows_[id.value]; }
  Meaning Find(uint32_t) override { return {}; }
  uint32_t StringBits(uint32_t text) override { return text; }
  std::string_view Spelling(uint32_t) override { return "name"; }
  std::string_view StringText(Value) override { return "text"; }
  bool HasValue(ir::OptionId, uint32_t) override { return true; }

 private:
  std::vector<ir::Cexpr> rows_;
};

std::string ExplainText(Rows& rows, ir::CexprId root) {
  std::vector<Span> spans;
  for (uint32_t i = 0; i < 16; ++i) {
    spans.push_back({.begin = 100 + i, .end = 101 + i});
  }
  ir::ModuleView view;
  view.spans = spans;
  std::vector<Diagnostic> diagnostics;
  Explain(rows, root, {.view = &view, .module = 0, .first = ir::SpanId{0}}, diagnostics);
  SortAndMerge(diagnostics);
  std::string text;
  for (const Diagnostic& found : diagnostics) {
    text += std::to_string(found.primary.bytes.begin) + " " + Message(found) + "\n";
  }
  return text;
}

TEST(Explain, SeveralErrors_EachAtItsNode) {
  Rows rows;
  const ir::CexprId zero = rows.Number(0);
  const ir::CexprId one = rows.Number(1);
  const ir::CexprId divided = rows.Op(CexprOp::kDiv, one, zero);
  const ir::CexprId unknown = rows.Add({.op = CexprOp::kName});
  const ir::CexprId call =
      rows.Add({.op = CexprOp::kInvalid, .kind = static_cast<uint16_t>(ir::InvalidCexpr::kCall)});
  const ir::CexprId sum = rows.Op(CexprOp::kAdd, divided, unknown);
  EXPECT_EQ(ExplainText(rows, rows.Op(CexprOp::kLess, sum, call)),
            "102 '/' by zero\n"
            "105 no option or constant is named 'name'\n"
            "106 call of 'name' in a compile-time expression\n");
}

TEST(Explain, InvalidConstructs_EachHasItsMessage) {
  using Kind = ir::InvalidCexpr;
  const auto explain = [](Kind kind) {
    Rows rows;
    return ExplainText(
        rows, rows.Add({.op = CexprOp::kInvalid, .kind = static_cast<uint16_t>(kind), .b = 2}));
  };
  EXPECT_EQ(explain(Kind::kFieldAccess), "100 field access in a compile-time expression\n");
  EXPECT_EQ(explain(Kind::kIndex), "100 index in a compile-time expression\n");
  EXPECT_EQ(explain(Kind::kAssignment), "100 assignment in a compile-time expression\n");
  EXPECT_EQ(
      explain(Kind::kConstructorType),
      "100 constructor 'name' in a compile-time expression, only u1, s1 and f1 are allowed\n");
  EXPECT_EQ(explain(Kind::kConstructorCount),
            "100 compile-time constructor 'name' takes one value, found 2\n");
}

TEST(Evaluate, SumOfTwentyThousandTerms_DoesNotGrowTheStack) {
  Rows rows;
  ir::CexprId sum = rows.Number(1);
  const ir::CexprId one = rows.Number(1);
  for (int i = 1; i < 20000; ++i) {
    sum = rows.Op(CexprOp::kAdd, sum, one);
  }
  EXPECT_EQ(Evaluate(rows, sum), Sint(20000));
}

}  // namespace
}  // namespace kiln::resolve
