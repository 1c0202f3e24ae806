// SPDX-License-Identifier: MIT
#include "compiler/ir/typing/typing.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ir/typing/operator_typing.h"

namespace kiln::ir {
namespace {

// Every vector and matrix of RPL 1 and one of each kind that has no operators, by name.
class Types {
 public:
  Types() {
    for (const Scalar scalar : {Scalar::kF32, Scalar::kU32, Scalar::kS32}) {
      for (uint8_t rows = 1; rows <= 4; ++rows) {
        all.push_back(pool.Vector(scalar, rows));
      }
    }
    all.push_back(pool.Matrix(Scalar::kF32, 3, 3));
    all.push_back(pool.Matrix(Scalar::kF32, 4, 4));
    all.push_back(pool.bool_type());
    all.push_back(pool.Intern(ArrayType(all[3], 3)));
    all.push_back(
        pool.InternStruct("point_t", std::vector<ShapeMember>{{pool.InternText("x"), all[0]}}));
    all.push_back(pool.Intern({.kind = TypeKind::kSampler}));
    all.push_back(pool.void_type());
  }
  TypeId operator[](std::string_view name) const {
    for (const TypeId type : all) {
      if (TypeText(pool, type) == name) {
        return type;
      }
    }
    ADD_FAILURE() << name;
    return {};
  }
  std::vector<TypeId> List(std::initializer_list<std::string_view> names) const {
    std::vector<TypeId> types;
    for (const std::string_view name : names) {
      types.push_back((*this)[name]);
    }
    return types;
  }

  Pool pool;
  std::vector<TypeId> all;
};

TEST(TypeOfBinary, EveryLineOfTheTable_HasItsResultAndForm) {
  const Types types;
  using enum BinaryOp;
  using F = BinaryForm;
  const struct {
    BinaryOp op;
    std::string_view left, right, result;
    BinaryForm form;
  } rows[] = {
      {kAdd, "f3", "f3", "f3", F::kSame},
      {kSub, "u1", "u1", "u1", F::kSame},
      {kAdd, "f3x3", "f3x3", "f3x3", F::kMatrixPerColumn},
      {kMul, "s4", "s4", "s4", F::kSame},
      {kMul, "f1", "f1", "f1", F::kSame},
      {kMul, "f3", "f1", "f3", F::kVectorTimesScalar},
      {kMul, "u3", "u1", "u3", F::kSplatRight},
      {kMul, "f4x4", "f1", "f4x4", F::kMatrixTimesScalar},
      {kMul, "f4x4", "f4", "f4", F::kMatrixTimesVector},
      {kMul, "f3", "f3x3", "f3", F::kVectorTimesMatrix},
      {kMul, "f4x4", "f4x4", "f4x4", F::kMatrixTimesMatrix},
      {kDiv, "f2", "f2", "f2", F::kSame},
      {kDiv, "f2", "f1", "f2", F::kSplatRight},
      {kDiv, "s2", "s1", "s2", F::kSplatRight},
      {kDiv, "f4x4", "f4x4", "f4x4", F::kMatrixPerColumn},
      {kMod, "s1", "s1", "s1", F::kSame},
      {kXor, "u4", "u4", "u4", F::kSame},
      {kShiftRight, "s2", "s2", "s2", F::kSame},
      {kLess, "f1", "f1", "bool", F::kCompare},
      {kNotEqual, "u1", "u1", "bool", F::kCompare},
  };
  for (const auto& row : rows) {
    const std::optional<BinaryTyping> typing =
        TypeOfBinary(types.pool, TypingRules::kRpl1, row.op, types[row.left], types[row.right]);
    ASSERT_TRUE(typing.has_value()) << row.left << " " << row.right;
    EXPECT_EQ(TypeText(types.pool, typing->result), row.result);
    EXPECT_EQ(typing->form, row.form) << row.left << " " << row.right;
  }
}

// The number of legal pairs of operands leaves no room for an illegal neighbour.
TEST(TypeOfBinary, OverAllPairsOfTypes_ExactlyTheTableIsLegal) {
  const Types types;
  using enum BinaryOp;
  const struct {
    BinaryOp op;
    size_t rpl1, rpl2, specialised;
  } rows[] = {
      {kAdd, 14, 14, 14},
      {kSub, 14, 14, 14},
      {kMul, 29, 29, 23},
      {kDiv, 23, 23, 14},
      {kMod, 8, 8, 8},
      {kAnd, 8, 9, 9},
      {kOr, 8, 9, 9},
      {kXor, 8, 9, 9},
      {kShiftLeft, 8, 8, 8},
      {kShiftRight, 8, 8, 8},
      {kShiftRightArithmetic, 0, 0, 4},
      {kLess, 3, 12, 12},
      {kGreater, 3, 12, 12},
      {kLessEqual, 3, 12, 12},
      {kGreaterEqual, 3, 12, 12},
      {kEqual, 3, 13, 13},
      {kNotEqual, 3, 13, 13},
      {kRem, 0, 0, 12},
      {kNotEqualOrdered, 0, 0, 4},
  };
  for (const auto& row : rows) {
    size_t rpl1 = 0;
    size_t rpl2 = 0;
    size_t specialised = 0;
    for (const TypeId left : types.all) {
      for (const TypeId right : types.all) {
        rpl1 += TypeOfBinary(types.pool, TypingRules::kRpl1, row.op, left, right).has_value();
        rpl2 += TypeOfBinary(types.pool, TypingRules::kRpl2, row.op, left, right).has_value();
        specialised +=
            TypeOfBinary(types.pool, TypingRules::kSpecialised, row.op, left, right).has_value();
      }
    }
    EXPECT_EQ(rpl1, row.rpl1) << static_cast<int>(row.op);
    EXPECT_EQ(rpl2, row.rpl2) << static_cast<int>(row.op);
    EXPECT_EQ(specialised, row.specialised) << static_cast<int>(row.op);
  }
}

TEST(TypeOfUnary, OverAllTypes_ExactlyTheTableIsLegal) {
  const Types types;
  const auto legal = [&](TypingRules rules, UnaryOp op) {
    std::string names;
    for (const TypeId type : types.all) {
      if (TypeOfUnary(types.pool, rules, op, type)) {
        names += TypeText(types.pool, type) + " ";
      }
    }
    return names;
  };
  using enum TypingRules;
  EXPECT_EQ(legal(kRpl1, UnaryOp::kNegate), "f1 f2 f3 f4 s1 s2 s3 s4 f3x3 f4x4 ");
  EXPECT_EQ(legal(kRpl1, UnaryOp::kNot), "bool ");
  EXPECT_EQ(legal(kRpl1, UnaryOp::kComplement), "u1 s1 ");
  EXPECT_EQ(legal(kSpecialised, UnaryOp::kComplement), "u1 u2 u3 u4 s1 s2 s3 s4 ");
  EXPECT_EQ(legal(kSpecialised, UnaryOp::kPlus), "");
}

TEST(TypeOfConstructor, FirstRuleThatFits_Decides) {
  const Types types;
  using F = ConstructorForm;
  const struct {
    std::string_view target;
    std::vector<TypeId> arguments;
    std::optional<ConstructorForm> form;
  } rows[] = {
      {"f3", types.List({"f3"}), F::kSkip},
      {"f1", types.List({"f1"}), F::kSkip},
      {"f3", types.List({"f1"}), F::kFill},
      {"u3", types.List({"f3"}), F::kConvert},
      {"f1", types.List({"u1"}), F::kConvert},
      {"u1", types.List({"bool"}), F::kConvert},
      {"f4", types.List({"f3", "f1"}), F::kCombine},
      {"f4", types.List({"f1", "f2", "f1"}), F::kCombine},
      {"f3x3", types.List({"f3x3"}), F::kSkip},
      {"f3x3", types.List({"f4x4"}), F::kCrop},
      {"f3x3", types.List({"f3", "f3", "f3"}), F::kCombine},
      {"point_t", types.List({"f1"}), F::kCombine},
      {"f4", types.List({"u1"}), std::nullopt},
      {"f2", types.List({"f3"}), std::nullopt},
      {"f4", types.List({"f3"}), std::nullopt},
      {"f4", types.List({"f3", "f2"}), std::nullopt},
      {"f4", types.List({"f3", "u1"}), std::nullopt},
      {"f4", {}, std::nullopt},
      {"f4x4", types.List({"f3x3"}), std::nullopt},
      {"f3x3", types.List({"f3", "f3"}), std::nullopt},
      {"f3x3", types.List({"f1"}), std::nullopt},
      {"point_t", types.List({"point_t"}), std::nullopt},
      {"point_t", types.List({"u1"}), std::nullopt},
      {"point_t", {}, std::nullopt},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(TypeOfConstructor(types.pool, types[row.target], row.arguments), row.form)
        << row.target << " of " << row.arguments.size();
  }
}

TEST(Combines, ArrayOfItsItems_Does) {
  Types types;
  const TypeId array = types["f4[3]"];
  EXPECT_TRUE(Combines(types.pool, array, types.List({"f4", "f4", "f4"})));
  EXPECT_FALSE(Combines(types.pool, array, types.List({"f4", "f4"})));
  EXPECT_FALSE(Combines(types.pool, array, types.List({"f4", "f4", "f3"})));
}

std::string SignatureText(const Pool& pool, const Signature& signature) {
  std::string text;
  for (const TypeId type : signature.parameters()) {
    text += TypeText(pool, type) + " ";
  }
  return text + "-> " + TypeText(pool, signature.result);
}

TEST(TypeOfBuiltin, OneOfEachShape_HasItsSignature) {
  const Types types;
  const struct {
    Builtin builtin;
    std::string_view type, signature;
  } rows[] = {
      {Builtin::kSin, "f3", "f3 -> f3"},
      {Builtin::kClamp, "u2", "u2 u2 u2 -> u2"},
      {Builtin::kRefract, "f3", "f3 f3 f1 -> f3"},
      {Builtin::kDot, "f4", "f4 f4 -> f1"},
      {Builtin::kLength, "f2", "f2 -> f1"},
      {Builtin::kDeterminant, "f4x4", "f4x4 -> f1"},
      {Builtin::kTranspose, "f3x3", "f3x3 -> f3x3"},
      {Builtin::kPi, "void", "-> f1"},
      {Builtin::kOutputPosition, "void", "f4 -> void"},
      {Builtin::kStageDiscard, "void", "-> void"},
  };
  for (const auto& row : rows) {
    const std::optional<Signature> signature =
        TypeOfBuiltin(types.pool, row.builtin, types[row.type]);
    ASSERT_TRUE(signature.has_value()) << row.type;
    EXPECT_EQ(SignatureText(types.pool, *signature), row.signature);
  }
}

TEST(TypeOfBuiltin, EachFamily_ExistsForItsTypesOnly) {
  const Types types;
  const struct {
    Builtin builtin;
    std::string_view types;
  } rows[] = {
      {Builtin::kSin, "f1 f2 f3 f4 "},
      {Builtin::kAbs, "f1 f2 f3 f4 s1 s2 s3 s4 "},
      {Builtin::kMin, "f1 f2 f3 f4 u1 u2 u3 u4 s1 s2 s3 s4 "},
      {Builtin::kDot, "f2 f3 f4 "},
      {Builtin::kCross, "f3 "},
      {Builtin::kInverse, "f3x3 f4x4 "},
      {Builtin::kSample, ""},
  };
  for (const auto& row : rows) {
    std::string found;
    for (const TypeId type : types.all) {
      if (TypeOfBuiltin(types.pool, row.builtin, type)) {
        found += TypeText(types.pool, type) + " ";
      }
    }
    EXPECT_EQ(found, row.types) << FactsOf(row.builtin).name;
  }
}

TEST(TypeOfSample, EveryImageKind_HasItsArguments) {
  Types types;
  const struct {
    Builtin builtin;
    ImageTraits image;
    std::string_view written, specialised;  // empty: not accepted
  } rows[] = {
      {Builtin::kSample, {.dim = ImageDim::k2d}, "f2 -> f4", "f2 -> f4"},
      {Builtin::kSample, {.dim = ImageDim::k3d}, "f3 -> f4", "f3 -> f4"},
      {Builtin::kSample, {.dim = ImageDim::kCube}, "f3 -> f4", "f3 -> f4"},
      {Builtin::kSample, {.arrayed = true}, "u1 f2 -> f4", "f3 -> f4"},
      {Builtin::kSample, {.depth = true}, "f2 -> f4", "f2 -> f4"},
      {Builtin::kSampleLod, {.arrayed = true}, "u1 f2 f1 -> f4", "f3 f1 -> f4"},
      {Builtin::kSampleDref, {.depth = true}, "f2 f1 -> f1", "f2 f1 -> f1"},
      {Builtin::kSampleDref, {.arrayed = true, .depth = true}, "u1 f2 f1 -> f1", "f3 f1 -> f1"},
      {Builtin::kSampleDrefLod,
       {.dim = ImageDim::kCube, .depth = true},
       "f3 f1 f1 -> f1",
       "f3 f1 f1 -> f1"},
      {Builtin::kSampleDref, {.dim = ImageDim::k3d, .depth = true}, "", ""},
      {Builtin::kSampleDref, {.dim = ImageDim::k2d}, "", ""},
      {Builtin::kSample, {.storage = true}, "", ""},
      {Builtin::kSampleGrad, {.arrayed = true}, "u1 f2 f2 f2 -> f4", "f3 f2 f2 -> f4"},
      {Builtin::kSampleGrad, {.dim = ImageDim::kCube}, "f3 f3 f3 -> f4", "f3 f3 f3 -> f4"},
      {Builtin::kGather, {.dim = ImageDim::k2d}, "f2 u1 -> f4", "f2 u1 -> f4"},
      {Builtin::kGather, {.dim = ImageDim::k3d}, "", ""},
      {Builtin::kGatherDref, {.depth = true}, "f2 f1 -> f4", "f2 f1 -> f4"},
      {Builtin::kFetch, {.arrayed = true}, "u1 u2 u1 -> f4", "u3 u1 -> f4"},
      {Builtin::kFetch, {.dim = ImageDim::kCube}, "", ""},
      {Builtin::kImageSize, {.arrayed = true}, "u1 -> u3", "u1 -> u3"},
      {Builtin::kImageSize, {.storage = true}, "-> u2", "-> u2"},
      {Builtin::kImageLevels, {.dim = ImageDim::k3d}, "-> u1", "-> u1"},
      {Builtin::kImageLoad, {.dim = ImageDim::k3d, .storage = true}, "u3 -> f4", "u3 -> f4"},
      {Builtin::kImageLoad, {.dim = ImageDim::k2d}, "", ""},
      {Builtin::kImageStore, {.storage = true}, "u2 f4 -> void", "u2 f4 -> void"},
      {Builtin::kSin, {.dim = ImageDim::k2d}, "", ""},
  };
  for (const auto& row : rows) {
    const TypeId image = types.pool.Intern(
        {.kind = TypeKind::kImage, .scalar = Scalar::kF32, .extent = PackImage(row.image)});
    const std::optional<SampleTyping> typing = TypeOfSample(types.pool, row.builtin, image);
    ASSERT_EQ(typing.has_value(), !row.written.empty()) << TypeText(types.pool, image);
    if (typing) {
      EXPECT_EQ(SignatureText(types.pool, typing->written), row.written);
      EXPECT_EQ(SignatureText(types.pool, typing->specialised), row.specialised);
    }
  }
}

TEST(HasValues, WhatHoldsAHandleOrARuntimeArray_HasNone) {
  Types types;
  Pool& pool = types.pool;
  const TypeId tail = pool.Intern({.kind = TypeKind::kRuntimeArray, .element = types["f4"].value});
  const TypeId holder =
      pool.InternStruct("tail_t", std::vector<ShapeMember>{{pool.InternText("t"), tail}});
  EXPECT_TRUE(HasValues(pool, types["f4[3]"]));
  EXPECT_TRUE(HasValues(pool, types["point_t"]));
  EXPECT_FALSE(HasValues(pool, tail));
  EXPECT_FALSE(HasValues(pool, holder));
  EXPECT_FALSE(HasValues(pool, pool.Intern(ArrayType(holder, 2))));
  EXPECT_FALSE(HasValues(pool, types["sampler"]));
  EXPECT_FALSE(HasValues(pool, types["void"]));
}

// Each struct holds the one before twice: looking at every leaf would never end.
TEST(HasValues, StructsThatDouble_AreLookedIntoOnce) {
  Types types;
  Pool& pool = types.pool;
  const TypeId tail = pool.Intern({.kind = TypeKind::kRuntimeArray, .element = types["f4"].value});
  for (const bool holds : {true, false}) {
    const TypeId last = holds ? types["f4[3]"] : tail;
    TypeId type =
        pool.InternStruct("s", std::vector<ShapeMember>{{pool.InternText("a"), types["f4x4"]},
                                                        {pool.InternText("b"), last}});
    for (int i = 0; i < 64; ++i) {
      type = pool.InternStruct(
          "s" + std::to_string(i),
          std::vector<ShapeMember>{{pool.InternText("a"), type}, {pool.InternText("b"), type}});
    }
    EXPECT_EQ(HasValues(pool, type), holds);
  }
}

TEST(PartType, EveryComposite_HasTypedParts) {
  const Types types;
  EXPECT_EQ(PartType(types.pool, types["f3"], 2), types["f1"]);
  EXPECT_EQ(PartType(types.pool, types["f3"], 3), std::nullopt);
  EXPECT_EQ(PartType(types.pool, types["f4x4"], 3), types["f4"]);
  EXPECT_EQ(PartType(types.pool, types["f4[3]"], 7), types["f4"]);
  EXPECT_EQ(PartType(types.pool, types["point_t"], 0), types["f1"]);
  EXPECT_EQ(PartType(types.pool, types["point_t"], 1), std::nullopt);
  EXPECT_EQ(PartType(types.pool, types["sampler"], 0), std::nullopt);
}

}  // namespace
}  // namespace kiln::ir
