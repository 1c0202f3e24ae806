// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/front/wgsl/sema/evaluate.h"
#include "compiler/front/wgsl/sema/evaluate_scalar.h"
#include "compiler/front/wgsl/sema/function.h"
#include "compiler/front/wgsl/sema/layout.h"
#include "compiler/front/wgsl/sema/overload.h"
#include "compiler/front/wgsl/sema/scalar.h"
#include "compiler/front/wgsl/sema/type_name.h"

namespace kiln::wgsl::front {
namespace {

TypeId Named(Types& types, std::string_view name) {
  if (name == "int" || name == "float") {
    return types.Scalar(name == "int" ? ScalarKind::kAbstractInt : ScalarKind::kAbstractFloat);
  }
  if (name.starts_with("int") || name.starts_with("float")) {  // "int3"
    return types.Vector(name[0] == 'i' ? ScalarKind::kAbstractInt : ScalarKind::kAbstractFloat,
                        static_cast<uint32_t>(name.back() - '0'));
  }
  return types.Intern(FindTypeName(name)->type);
}

TEST(WgslOverloads, LeastConversions_Win) {
  const struct {
    Function function;
    std::vector<std::string_view> arguments;
    std::string_view result;  // empty: none
  } kRows[] = {
      {Function::kAdd, {"int", "int"}, "abstract-int"},
      {Function::kAdd, {"int", "float"}, "abstract-float"},
      {Function::kAdd, {"int", "u32"}, "u32"},
      {Function::kAdd, {"f32", "int"}, "f32"},
      {Function::kAdd, {"float", "f16"}, "f16"},
      {Function::kAdd, {"i32", "u32"}, ""},
      {Function::kAdd, {"float", "i32"}, ""},
      {Function::kAdd, {"vec3f", "f32"}, "vec3<f32>"},
      {Function::kAdd, {"int", "vec3u"}, "vec3<u32>"},
      {Function::kAdd, {"vec3f", "vec2f"}, ""},
      {Function::kAdd, {"mat2x3f", "mat2x3f"}, "mat2x3<f32>"},
      {Function::kAdd, {"bool", "bool"}, ""},
      {Function::kMul, {"mat3x4f", "vec3f"}, "vec4<f32>"},
      {Function::kMul, {"vec4f", "mat3x4f"}, "vec3<f32>"},
      {Function::kMul, {"mat3x4f", "mat2x3f"}, "mat2x4<f32>"},
      {Function::kMul, {"mat3x4f", "mat3x4f"}, ""},
      {Function::kMul, {"float", "mat2x2f"}, "mat2x2<f32>"},
      {Function::kShiftLeft, {"i32", "int"}, "i32"},
      {Function::kShiftLeft, {"i32", "i32"}, ""},
      {Function::kShiftLeft, {"vec2u", "vec2u"}, "vec2<u32>"},
      {Function::kLess, {"vec2f", "vec2f"}, "vec2<bool>"},
      {Function::kEqual, {"bool", "bool"}, "bool"},
      {Function::kAnd, {"bool", "bool"}, "bool"},
      {Function::kXor, {"bool", "bool"}, ""},
      {Function::kNegate, {"u32"}, ""},
      {Function::kNot, {"u32"}, ""},
      {Function::kClamp, {"f32", "int", "int"}, "f32"},
      {Function::kMix, {"vec3f", "vec3f", "f32"}, "vec3<f32>"},
      {Function::kSelect, {"vec2f", "vec2f", "bool"}, "vec2<f32>"},
      {Function::kDot, {"vec2i", "vec2i"}, "i32"},
      {Function::kDot, {"f32", "f32"}, ""},
      {Function::kLength, {"int"}, "abstract-float"},
      {Function::kCross, {"vec3f", "vec3f"}, "vec3<f32>"},
      {Function::kCross, {"vec2f", "vec2f"}, ""},
      {Function::kCountOneBits, {"int"}, "i32"},
      {Function::kTranspose, {"mat2x4f"}, "mat4x2<f32>"},
      {Function::kDeterminant, {"mat2x4f"}, ""},
      {Function::kPack4x8Snorm, {"vec4f"}, "u32"},
      {Function::kSin, {"i32"}, ""},
      {Function::kSin, {"int"}, "abstract-float"},
      {Function::kDpdx, {"float"}, "f32"},
      {Function::kAll, {"vec3f"}, ""},
  };
  for (const auto& row : kRows) {
    Types types;
    std::vector<TypeId> arguments;
    std::string name(FactsOf(row.function).name);
    for (const std::string_view argument : row.arguments) {
      arguments.push_back(Named(types, argument));
      name += " " + std::string(argument);
    }
    const std::optional<Overload> found = FindOverload(types, row.function, arguments, true);
    EXPECT_EQ(found.has_value() ? types.Text(found->result) : "", row.result) << name;
  }
}

// With an operand that is known only later nothing abstract is left.
TEST(WgslOverloads, RunTime_IsConcrete) {
  Types types;
  const TypeId abstract[] = {types.Scalar(ScalarKind::kAbstractInt),
                             types.Scalar(ScalarKind::kAbstractInt),
                             types.Scalar(ScalarKind::kBool)};
  const std::optional<Overload> found = FindOverload(types, Function::kSelect, abstract, false);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(types.Text(found->result), "i32");
}

// A value of each overload that exists: nothing in the table is without a meaning.
TEST(WgslEvaluate, EveryConstRow_HasAValue) {
  struct Row {
    Function function;
    std::string_view parameters;
  };
  constexpr Row kRows[] = {
#define KILN_WGSL_OVERLOAD(function, of, parameters, result) {Function::k##function, parameters},
#include "compiler/front/wgsl/sema/overloads.def"
  };
  uint32_t evaluated = 0;
  for (const Row& row : kRows) {
    const std::string_view parameters = row.parameters;
    if (!FactsOf(row.function).is_const ||
        parameters.find_first_of("MWSCRABv") != std::string_view::npos ||
        parameters.find_first_of("24") != std::string_view::npos) {
      continue;  // shapes: tests/wgsl_front/meaning_rows.cc
    }
    const bool word =
        parameters.find('U') != std::string_view::npos || parameters == "u" ||
        parameters == "u u" || FactsOf(row.function).name.find("Bit") != std::string::npos ||
        row.function == Function::kCountLeadingZeros ||
        row.function == Function::kCountTrailingZeros || row.function == Function::kExtractBits ||
        row.function == Function::kInsertBits || row.function == Function::kAnd ||
        row.function == Function::kOr || row.function == Function::kXor ||
        row.function == Function::kComplement;
    const bool flag = row.function == Function::kNot || row.function == Function::kAll ||
                      row.function == Function::kAny;
    const ScalarKind kind = flag ? ScalarKind::kBool : word ? ScalarKind::kU32 : ScalarKind::kF32;
    const Word one = kind == ScalarKind::kF32 ? WordOf(0.5) : Word{1};
    const Word two = kind == ScalarKind::kF32 ? WordOf(0.75) : Word{1};
    std::vector<Operand> operands;
    std::vector<Word> words;
    const size_t count =
        static_cast<size_t>(std::count(parameters.begin(), parameters.end(), ' ')) + 1;
    words.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      words.push_back(row.function == Function::kAcosh             ? WordOf(1.5)
                      : row.function == Function::kLdexp && i == 1 ? Word{2}
                      : i == 0                                     ? one
                                                                   : two);
      operands.push_back({.scalar = kind, .words = std::span(&words.back(), 1)});
    }
    const FunctionResult made = Evaluate(row.function, operands);
    EXPECT_TRUE(made.ok()) << FactsOf(row.function).name << " (" << parameters
                           << "): " << made.fault;
    ++evaluated;
  }
  EXPECT_GT(evaluated, 60u);
}

ScalarResult Scalar(Function function, ScalarKind kind, std::vector<Word> operands) {
  return EvaluateScalar(function, kind, operands);
}
Word I(int64_t value) { return WordOf(value); }

TEST(WgslEvaluate, Integers_AreExact) {
  using enum ScalarKind;
  const struct {
    Function function;
    ScalarKind kind;
    std::vector<Word> operands;
    std::optional<int64_t> result;  // nothing: a fault
  } kRows[] = {
      {Function::kAdd, kI32, {I(2147483647), I(1)}, -2147483648LL},
      {Function::kAdd, kU32, {I(4294967295LL), I(2)}, 1},
      {Function::kAdd, kAbstractInt, {I(INT64_MAX), I(1)}, {}},
      {Function::kAdd, kAbstractInt, {I(2147483647), I(1)}, 2147483648LL},
      {Function::kSub, kU32, {I(0), I(1)}, 4294967295LL},
      {Function::kMul, kI32, {I(65536), I(65536)}, 0},
      {Function::kMul, kAbstractInt, {I(INT64_MAX), I(2)}, {}},
      {Function::kDiv, kI32, {I(-7), I(2)}, -3},
      {Function::kRem, kI32, {I(-7), I(2)}, -1},
      {Function::kDiv, kI32, {I(1), I(0)}, {}},
      {Function::kRem, kU32, {I(1), I(0)}, {}},
      {Function::kDiv, kI32, {I(-2147483648LL), I(-1)}, {}},
      {Function::kDiv, kAbstractInt, {I(INT64_MIN), I(-1)}, {}},
      {Function::kNegate, kI32, {I(-2147483648LL)}, -2147483648LL},
      {Function::kNegate, kAbstractInt, {I(INT64_MIN)}, {}},
      {Function::kComplement, kU32, {I(0)}, 4294967295LL},
      {Function::kComplement, kI32, {I(0)}, -1},
      {Function::kShiftLeft, kU32, {I(1), I(31)}, 2147483648LL},
      {Function::kShiftLeft, kU32, {I(1), I(32)}, {}},
      {Function::kShiftLeft, kU32, {I(3), I(31)}, {}},
      {Function::kShiftLeft, kI32, {I(1), I(31)}, {}},
      {Function::kShiftLeft, kAbstractInt, {I(1), I(62)}, 1LL << 62},
      {Function::kShiftRight, kI32, {I(-8), I(1)}, -4},
      {Function::kShiftRight, kI32, {I(-8), I(32)}, {}},
      {Function::kAbs, kI32, {I(-2147483648LL)}, -2147483648LL},
      {Function::kClamp, kI32, {I(5), I(7), I(3)}, {}},
      {Function::kCountLeadingZeros, kI32, {I(-1)}, 0},
      {Function::kCountTrailingZeros, kU32, {I(0)}, 32},
      {Function::kFirstLeadingBit, kI32, {I(-1)}, -1},
      {Function::kFirstLeadingBit, kU32, {I(0)}, 4294967295LL},
      {Function::kFirstTrailingBit, kI32, {I(8)}, 3},
      {Function::kReverseBits, kU32, {I(1)}, 2147483648LL},
      {Function::kExtractBits, kI32, {I(0xf0), I(4), I(4)}, -1},
      {Function::kExtractBits, kU32, {I(0xf0), I(28), I(99)}, 0},
      {Function::kInsertBits, kU32, {I(0), I(255), I(30), I(9)}, 3221225472LL},
  };
  for (const auto& row : kRows) {
    const ScalarResult made = Scalar(row.function, row.kind, row.operands);
    EXPECT_EQ(made.ok(), row.result.has_value()) << FactsOf(row.function).name;
    if (made.ok() && row.result.has_value()) {
      EXPECT_EQ(IntOf(made.word), *row.result) << FactsOf(row.function).name;
    }
  }
}

TEST(WgslEvaluate, Floats_AreOfTheirWidth) {
  using enum ScalarKind;
  const Word third = Scalar(Function::kDiv, kF32, {WordOf(1.0), WordOf(3.0)}).word;
  EXPECT_EQ(FloatOf(third), static_cast<double>(1.0f / 3.0f));
  EXPECT_EQ(BitsOf(kF16, Scalar(Function::kDiv, kF16, {WordOf(1.0), WordOf(3.0)}).word), 0x3555u);
  EXPECT_FALSE(Scalar(Function::kMul, kF32, {WordOf(1e30), WordOf(1e30)}).ok());
  EXPECT_FALSE(Scalar(Function::kAdd, kF16, {WordOf(65504.0), WordOf(65504.0)}).ok());
  EXPECT_FALSE(Scalar(Function::kDiv, kAbstractFloat, {WordOf(1.0), WordOf(0.0)}).ok());
  EXPECT_FALSE(Scalar(Function::kSqrt, kF32, {WordOf(-1.0)}).ok());
  EXPECT_FALSE(Scalar(Function::kLog, kF32, {WordOf(0.0)}).ok());
  EXPECT_FALSE(Scalar(Function::kAcos, kF32, {WordOf(2.0)}).ok());
  EXPECT_EQ(FloatOf(Scalar(Function::kRound, kF32, {WordOf(2.5)}).word), 2.0);
}

TEST(WgslScalar, Bits_GoBothWays) {
  for (uint32_t bits = 0; bits < 0x7c00; bits += 7) {
    for (const uint32_t sign : {0u, 0x8000u}) {
      const ScalarResult value = FromBits(ScalarKind::kF16, bits | sign);
      ASSERT_TRUE(value.ok());
      ASSERT_EQ(BitsOf(ScalarKind::kF16, value.word), bits | sign);
    }
  }
  EXPECT_FALSE(FromBits(ScalarKind::kF16, 0x7c00).ok());
  EXPECT_FALSE(FromBits(ScalarKind::kF32, 0x7f800000).ok());
  EXPECT_EQ(BitsOf(ScalarKind::kF32, WordOf(1.5)), 0x3fc00000u);
}

TEST(WgslScalar, Literals_AreNearest) {
  const struct {
    std::string_view text;
    ScalarKind kind;
    double value;
    bool fits = true;
  } kRows[] = {
      {"1", ScalarKind::kAbstractInt, 1},
      {"9223372036854775807", ScalarKind::kAbstractInt, 9223372036854775807.0},
      {"9223372036854775808", ScalarKind::kAbstractInt, 0, false},
      {"4294967295u", ScalarKind::kU32, 4294967295.0},
      {"4294967296u", ScalarKind::kU32, 0, false},
      {"2147483648i", ScalarKind::kI32, 0, false},
      {"0xffffffffu", ScalarKind::kU32, 4294967295.0},
      {"0.1", ScalarKind::kAbstractFloat, 0.1},
      {"0.1f", ScalarKind::kF32, static_cast<double>(0.1f)},
      {"1e39f", ScalarKind::kF32, 0, false},
      {"1e-60f", ScalarKind::kF32, 0},
      {"65504h", ScalarKind::kF16, 65504},
      {"65520h", ScalarKind::kF16, 0, false},
      {"0x1.8p1", ScalarKind::kAbstractFloat, 3},
      {"1e400", ScalarKind::kAbstractFloat, 0, false},
      {"true", ScalarKind::kBool, 1},
  };
  for (const auto& row : kRows) {
    const std::optional<Literal> read = ReadLiteral(row.text);
    ASSERT_TRUE(read.has_value()) << row.text;
    EXPECT_EQ(read->kind, row.kind) << row.text;
    EXPECT_EQ(read->value.ok(), row.fits) << row.text;
    if (row.fits) {
      const double value =
          IsFloat(row.kind) ? FloatOf(read->value.word) : static_cast<double>(read->value.word);
      EXPECT_EQ(value, row.value) << row.text;
    }
  }
}

TEST(WgslScalar, Conversions_SaturateAndKeepBits) {
  using enum ScalarKind;
  EXPECT_EQ(IntOf(ConvertValue(kF32, kI32, WordOf(3e9)).word), 2147483647);
  EXPECT_EQ(IntOf(ConvertValue(kF32, kU32, WordOf(-3.0)).word), 0);
  EXPECT_EQ(IntOf(ConvertValue(kI32, kU32, I(-1)).word), 4294967295LL);
  EXPECT_EQ(IntOf(ConvertValue(kU32, kI32, I(4294967295LL)).word), -1);
  EXPECT_EQ(ConvertValue(kF32, kBool, WordOf(0.5)).word, 1u);
  EXPECT_FALSE(ConvertExact(kAbstractInt, kI32, I(3000000000LL)).ok());
  EXPECT_FALSE(ConvertExact(kAbstractFloat, kF16, WordOf(1e6)).ok());
  EXPECT_TRUE(ConvertExact(kAbstractInt, kF32, I(16777217)).ok());
}

TEST(WgslLayout, Members_AreAligned) {
  Types types;
  Struct row{.name = "S", .token = 0, .members = {}};
  for (const std::string_view name : {"f32", "vec3f", "f32", "mat3x3f", "vec2h", "u32"}) {
    row.members.push_back({.name = name, .type = Named(types, name)});
  }
  const StructId id = types.Add(std::move(row));
  LayOut(types, id);
  std::vector<uint32_t> offsets;
  for (const StructMember& member : types[id].members) {
    offsets.push_back(member.offset);
  }
  EXPECT_EQ(offsets, (std::vector<uint32_t>{0, 16, 28, 32, 80, 84}));
  EXPECT_EQ(types[id].size, 96u);
  EXPECT_FALSE(UniformFault(types, types.StructType(id)).has_value());
  EXPECT_TRUE(UniformFault(types, types.Array(Named(types, "f32"), 4)).has_value());
  EXPECT_FALSE(UniformFault(types, types.Array(Named(types, "vec4f"), 4)).has_value());
}

}  // namespace
}  // namespace kiln::wgsl::front
