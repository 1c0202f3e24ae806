// SPDX-License-Identifier: MIT
// Conversions, common types and overloads by tables. Types are written as HLSL writes them.
#include "compiler/front/hlsl/sema/conversion.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/front/hlsl/sema/overload.h"

namespace kiln::hlsl {
namespace {

// "float3", "int2x2", "bool", "literal int"; S: a struct of float3 and float, A: float[4].
class Sample {
 public:
  Sample() {
    const StructId id = types.AddStruct("S", 0);
    types.Complete(id, {{.name = "a", .type = Of("float3")}, {.name = "b", .type = Of("float")}});
    struct_ = types.Of(id);
    enum_ = types.Of(types.AddEnum({.name = "E"}, {{.name = "one", .value = 1}}));
  }
  TypeId Of(std::string_view text) {
    if (text == "S") {
      return struct_;
    }
    if (text == "E") {
      return enum_;
    }
    if (text == "A") {
      return types.Array(Of("float"), 4);
    }
    for (uint32_t i = kItemCount; i > 0; --i) {
      const auto item = static_cast<Item>(i - 1);
      if (!text.starts_with(FactsOf(item).name)) {
        continue;
      }
      const std::string_view rest = text.substr(FactsOf(item).name.size());
      if (rest.empty()) {
        return types.Scalar(item);
      }
      if (rest.size() == 1) {
        return types.Vector(item, static_cast<uint32_t>(rest[0] - '0'));
      }
      if (rest.size() == 3 && rest[1] == 'x') {
        return types.Matrix(item, static_cast<uint32_t>(rest[0] - '0'),
                            static_cast<uint32_t>(rest[2] - '0'));
      }
    }
    ADD_FAILURE() << text;
    return types.Failed();
  }
  Types types;

 private:
  TypeId struct_, enum_;
};

TEST(Conversion, EveryPairOfShapes_IsOfTheKindOfTheTable) {
  using K = ConversionKind;
  const struct {
    std::string_view from, to;
    K kind;
    bool implicit;
  } rows[] = {
      {"float3", "float3", K::kSame, true},      {"float3", "int3", K::kNumeric, true},
      {"bool", "float", K::kNumeric, true},      {"float1x3", "float3", K::kSame, true},
      {"float3x1", "float3", K::kSame, true},    {"float", "float4", K::kSplat, true},
      {"int", "float2x3", K::kSplat, true},      {"float4", "float2", K::kTruncate, true},
      {"float4", "float", K::kTruncate, true},   {"float4x4", "float3x2", K::kTruncate, true},
      {"float4x4", "float", K::kTruncate, true}, {"float4", "float2x2", K::kReshape, true},
      {"float2x2", "float4", K::kReshape, true}, {"float2x3", "float3x2", K::kReshape, false},
      {"float2", "float3", K::kNone, false},     {"float3x3", "float4x4", K::kNone, false},
      {"float3", "float3x3", K::kNone, false},   {"E", "int", K::kNumeric, true},
      {"E", "float", K::kNumeric, true},         {"int", "E", K::kNumeric, false},
      {"float", "S", K::kFill, false},           {"int", "A", K::kFill, false},
      {"S", "float4", K::kLeaves, false},        {"A", "S", K::kLeaves, false},
      {"float4", "A", K::kLeaves, false},        {"float3", "S", K::kNone, false},
      {"S", "float", K::kNone, false},
  };
  for (const auto& row : rows) {
    Sample sample;
    const Conversion found =
        ConversionOf(sample.types, sample.Of(row.from), sample.Of(row.to), Dialect::k2021);
    EXPECT_EQ(static_cast<int>(found.kind), static_cast<int>(row.kind))
        << row.from << " to " << row.to;
    EXPECT_EQ(found.implicit, row.implicit) << row.from << " to " << row.to;
  }
}

// Structs of as many leaves are exchanged without a cast in 2018 alone, and it is said.
TEST(Conversion, UnrelatedStructs_DependOnTheDialect) {
  Types types;
  const StructId a = types.AddStruct("A", 0);
  const StructId b = types.AddStruct("B", 0);
  types.Complete(a, {{.name = "x", .type = types.Vector(Item::kFloat, 2)}});
  types.Complete(b, {{.name = "y", .type = types.Array(types.Scalar(Item::kInt), 2)}});
  EXPECT_FALSE(ConversionOf(types, types.Of(a), types.Of(b), Dialect::k2021).implicit);
  const Conversion old = ConversionOf(types, types.Of(a), types.Of(b), Dialect::k2018);
  EXPECT_TRUE(old.implicit && old.reported);
}

TEST(Conversion, CommonTypes_AreThoseOfTheTable) {
  const struct {
    std::string_view left, right, arithmetic;
  } rows[] = {
      {"int", "float", "float"},
      {"bool", "bool", "int"},
      {"bool", "uint", "uint"},
      {"int", "uint", "uint"},
      {"float", "double", "double"},
      {"half", "float", "float"},
      {"min16int", "int", "int"},
      {"literal int", "uint", "uint"},
      {"literal int", "bool", "int"},
      {"literal int", "float", "float"},
      {"literal float", "half", "half"},
      {"literal float", "int", "float"},
      {"literal int", "literal float", "literal float"},
      {"literal int", "literal int", "literal int"},
      {"float", "int3", "float3"},
      {"float4", "int2", "float2"},
      {"float4x3", "float3x4", "float3x3"},
      {"float2x2", "float4", "float2x2"},
      {"float3", "float3x3", "none"},
      {"float1x3", "float3", "float3"},
  };
  for (const auto& row : rows) {
    Sample sample;
    const auto found =
        CommonTypeOf(sample.types, sample.Of(row.left), sample.Of(row.right), Purpose::kArithmetic);
    EXPECT_EQ(found ? sample.types.Text(found->type) : "none", row.arithmetic)
        << row.left << ", " << row.right;
  }
  EXPECT_EQ(CommonItem(Item::kBool, Item::kBool, Purpose::kChoice), Item::kBool);
}

TEST(Overload, TheBetterOne_IsChosen) {
  const struct {
    std::vector<std::vector<std::string_view>> candidates;
    std::vector<std::string_view> arguments;
    std::string expected;  // its number, "none" or "several"
  } rows[] = {
      {{{"float"}, {"int"}}, {"int"}, "1"},
      {{{"float"}, {"int"}}, {"literal float"}, "0"},
      {{{"float"}, {"int"}}, {"bool"}, "1"},
      {{{"float3"}, {"float"}}, {"float"}, "1"},
      {{{"float2"}, {"float3"}}, {"float4"}, "several"},
      {{{"float2"}, {"float4"}}, {"float4"}, "1"},
      {{{"uint"}, {"float"}}, {"int"}, "0"},
      {{{"float", "int"}, {"int", "float"}}, {"literal float", "literal float"}, "several"},
      {{{"float"}}, {"float", "float"}, "none"},
      {{{"float3x3"}}, {"float2"}, "none"},
      {{{"double"}, {"int"}}, {"float"}, "0"},
      {{}, {"float"}, "none"},
  };
  for (const auto& row : rows) {
    Sample sample;
    std::vector<std::vector<ParameterType>> parameters;
    for (const auto& candidate : row.candidates) {
      parameters.emplace_back();
      for (const std::string_view text : candidate) {
        parameters.back().push_back({.type = sample.Of(text)});
      }
    }
    std::vector<Candidate> candidates;
    for (const auto& one : parameters) {
      candidates.push_back({one});
    }
    std::vector<TypeId> arguments;
    for (const std::string_view text : row.arguments) {
      arguments.push_back(sample.Of(text));
    }
    const Choice choice = Choose(sample.types, candidates, arguments, Dialect::k2021);
    const std::string found = choice.candidate != kNoCandidate ? std::to_string(choice.candidate)
                              : choice.fitting.empty()         ? "none"
                                                               : "several";
    EXPECT_EQ(found, row.expected) << row.arguments[0];
  }
}

// An output ranks by the way back, both ways for `inout`.
TEST(Overload, Outputs_MustConvertBack) {
  Sample sample;
  const ParameterType out{.type = sample.Of("float2"), .passing = Passing::kOut};
  const ParameterType both{.type = sample.Of("float2"), .passing = Passing::kInOut};
  const TypeId four[] = {sample.Of("float4")};
  const TypeId one[] = {sample.Of("float")};
  const Candidate of_out{std::span(&out, 1)};
  const Candidate of_both{std::span(&both, 1)};
  EXPECT_EQ(Choose(sample.types, std::span(&of_out, 1), four, Dialect::k2021).candidate,
            kNoCandidate);
  EXPECT_EQ(Choose(sample.types, std::span(&of_out, 1), one, Dialect::k2021).candidate, 0u);
  EXPECT_EQ(Choose(sample.types, std::span(&of_both, 1), four, Dialect::k2021).candidate,
            kNoCandidate);
}

TEST(Types, EqualTypesAreOne_AndSpelledAsWritten) {
  Sample sample;
  Types& types = sample.types;
  EXPECT_TRUE(sample.Of("float3") == types.Vector(Item::kFloat, 3));
  EXPECT_FALSE(sample.Of("float3") == sample.Of("float1x3"));
  EXPECT_EQ(types.Text(sample.Of("float2x3")), "float2x3");
  EXPECT_EQ(types.Text(types.Array(types.Array(sample.Of("int"), 3), 2)), "int[2][3]");
  EXPECT_EQ(types.Text(sample.Of("S")), "S");
  EXPECT_EQ(types.LeavesOf(types.Array(sample.Of("S"), 3)), 12u);
  EXPECT_EQ(types.DepthOf(types.Array(sample.Of("S"), 3)), 2u);
  TypeId huge = sample.Of("float4x4");
  for (int i = 0; i < 10; ++i) {
    huge = types.Array(huge, 1000);
  }
  EXPECT_EQ(types.LeavesOf(huge), 0xffffffffu);  // saturates
}

}  // namespace
}  // namespace kiln::hlsl
