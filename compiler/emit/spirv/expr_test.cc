// SPDX-License-Identifier: MIT
// Every row of the operator and builtin tables, each in a module that the validator accepts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/emit/spirv/text_module.h"
#include "compiler/ir/builtins.h"
#include "compiler/ir/verify/verify.h"

namespace kiln::spirv {
namespace {

using testing::HasSubstr;
using testing::Not;

// A function of two parameters that returns the value of `value`.
std::string Module(std::string_view left, std::string_view right, std::string_view result,
                   std::string_view value) {
  const std::string l(left);
  const std::string r(right);
  return FunctionText("(in $a : " + l + ", in $b : " + r + ") -> " + std::string(result),
                      "param in $a : " + l + "\nparam in $b : " + r + "\n%1 = param $a : " + l +
                          "\n%2 = param $b : " + r + "\n%3 = " + std::string(value) + " : " +
                          std::string(result) + "\nreturn %3");
}

struct OperatorRow {
  const char* op;
  const char *f, *u, *s, *b;
};
constexpr OperatorRow kOperators[] = {
    {"add", "OpFAdd", "OpIAdd", "OpIAdd", nullptr},
    {"sub", "OpFSub", "OpISub", "OpISub", nullptr},
    {"mul", "OpFMul", "OpIMul", "OpIMul", nullptr},
    {"div", "OpFDiv", "OpUDiv", "OpSDiv", nullptr},
    {"mod", nullptr, "OpUMod", "OpSMod", nullptr},
    {"and", nullptr, "OpBitwiseAnd", "OpBitwiseAnd", "OpLogicalAnd"},
    {"or", nullptr, "OpBitwiseOr", "OpBitwiseOr", "OpLogicalOr"},
    {"xor", nullptr, "OpBitwiseXor", "OpBitwiseXor", "OpLogicalNotEqual"},
    {"shift_left", nullptr, "OpShiftLeftLogical", "OpShiftLeftLogical", nullptr},
    {"shift_right", nullptr, "OpShiftRightLogical", "OpShiftRightLogical", nullptr},
    {"shift_right_arithmetic", nullptr, nullptr, "OpShiftRightArithmetic", nullptr},
};
constexpr OperatorRow kComparisons[] = {
    {"less", "OpFOrdLessThan", "OpULessThan", "OpSLessThan", nullptr},
    {"greater", "OpFOrdGreaterThan", "OpUGreaterThan", "OpSGreaterThan", nullptr},
    {"less_equal", "OpFOrdLessThanEqual", "OpULessThanEqual", "OpSLessThanEqual", nullptr},
    {"greater_equal", "OpFOrdGreaterThanEqual", "OpUGreaterThanEqual", "OpSGreaterThanEqual",
     nullptr},
    {"equal", "OpFOrdEqual", "OpIEqual", "OpIEqual", "OpLogicalEqual"},
    {"not_equal", "OpFUnordNotEqual", "OpINotEqual", "OpINotEqual", "OpLogicalNotEqual"},
};

void ExpectBinary(const OperatorRow& row, const char* type, const char* result,
                  const char* expected) {
  if (expected == nullptr) {
    return;
  }
  TextModule module(Module(type, type, result, std::string("binary ") + row.op + " %1, %2"));
  EXPECT_THAT(module.Text(), HasSubstr(std::string(" = ") + expected + " ")) << row.op << type;
}

TEST(Operators, Rows_AreTheirInstruction) {
  for (const OperatorRow& row : kOperators) {
    ExpectBinary(row, "f1", "f1", row.f);
    ExpectBinary(row, "f3", "f3", row.f);
    ExpectBinary(row, "u1", "u1", row.u);
    ExpectBinary(row, "u4", "u4", row.u);
    ExpectBinary(row, "s2", "s2", row.s);
    ExpectBinary(row, "bool", "bool", row.b);
  }
}

TEST(Operators, Comparisons_AreTheirInstruction) {
  for (const OperatorRow& row : kComparisons) {
    ExpectBinary(row, "f1", "bool", row.f);
    ExpectBinary(row, "u1", "bool", row.u);
    ExpectBinary(row, "s1", "bool", row.s);
    ExpectBinary(row, "bool", "bool", row.b);
  }
}

TEST(Operators, Products_FollowTheShapes) {
  const struct {
    const char *left, *right, *result, *expected;
  } rows[] = {
      {"f3", "f1", "f3", "OpVectorTimesScalar"},
      {"f3x3", "f1", "f3x3", "OpMatrixTimesScalar"},
      {"f4x4", "f4", "f4", "OpMatrixTimesVector"},
      {"f4", "f4x4", "f4", "OpVectorTimesMatrix"},
      {"f3x3", "f3x3", "f3x3", "OpMatrixTimesMatrix"},
  };
  for (const auto& row : rows) {
    TextModule module(Module(row.left, row.right, row.result, "binary mul %1, %2"));
    EXPECT_THAT(module.Text(), HasSubstr(std::string(" = ") + row.expected + " "));
  }
}

TEST(Operators, MatrixSum_IsMadeOfColumns) {
  TextModule module(Module("f3x3", "f3x3", "f3x3", "binary sub %1, %2"));
  EXPECT_EQ(module.Between("OpCompositeExtract", "OpFunctionEnd"),
            R"(%13 = OpCompositeExtract %3 %11 0
%14 = OpCompositeExtract %3 %12 0
%15 = OpFSub %3 %13 %14
%16 = OpCompositeExtract %3 %11 1
%17 = OpCompositeExtract %3 %12 1
%18 = OpFSub %3 %16 %17
%19 = OpCompositeExtract %3 %11 2
%20 = OpCompositeExtract %3 %12 2
%21 = OpFSub %3 %19 %20
%22 = OpCompositeConstruct %5 %15 %18 %21
OpReturnValue %22
OpFunctionEnd
)");
}

TEST(Operators, Unary_FollowsTheScalar) {
  const struct {
    const char *type, *op, *expected;
  } rows[] = {
      {"f2", "negate", "OpFNegate"},
      {"s3", "negate", "OpSNegate"},
      {"f3x3", "negate", "OpMatrixTimesScalar"},
      {"bool", "not", "OpLogicalNot"},
      {"u1", "complement", "OpNot"},
      {"s1", "complement", "OpNot"},
  };
  for (const auto& row : rows) {
    TextModule module(Module(row.type, row.type, row.type, std::string("unary ") + row.op + " %1"));
    EXPECT_THAT(module.Text(), HasSubstr(std::string(" = ") + row.expected + " "));
  }
  TextModule plus(Module("f2", "f2", "f2", "unary plus %1"));
  EXPECT_THAT(plus.Text(), HasSubstr("OpLabel\nOpReturnValue"));
}

TEST(Conversions, Rows_AreTheirInstruction) {
  const struct {
    const char *from, *to, *expected;
  } rows[] = {
      {"f1", "u1", "OpConvertFToU"}, {"f3", "s3", "OpConvertFToS"}, {"u2", "f2", "OpConvertUToF"},
      {"s1", "f1", "OpConvertSToF"}, {"u4", "s4", "OpBitcast"},     {"s1", "u1", "OpBitcast"},
      {"bool", "f1", "OpSelect"},    {"bool", "u1", "OpSelect"},    {"f2", "d2", "OpFConvert"},
      {"u1", "w1", "OpUConvert"},    {"u3", "l3", "OpUConvert"},    {"s1", "l1", "OpSConvert"},
      {"i2", "u2", "OpSConvert"},    {"w1", "u1", "OpUConvert"},    {"d1", "s1", "OpConvertFToS"},
      {"bool", "d1", "OpSelect"},    {"l1", "w1", "OpBitcast"},     {"v1", "h1", "OpConvertUToF"},
  };
  for (const auto& row : rows) {
    TextModule module(Module(row.from, row.from, row.to, "convert %1"));
    EXPECT_THAT(module.Text(), HasSubstr(std::string(" = ") + row.expected + " "));
  }
}

TEST(Values, Composites_AreExtractedShuffledAndConstructed) {
  const struct {
    const char *left, *right, *result, *value, *expected;
  } rows[] = {
      {"f3", "f1", "f1", "extract %1, 2", "OpCompositeExtract"},
      {"f3x3", "f1", "f3", "extract %1, 1", "OpCompositeExtract"},
      {"f3", "f1", "f2", "swizzle %1, zx", "OpVectorShuffle"},
      {"f2", "f1", "f4", "swizzle %1, xyxy", "OpVectorShuffle"},
      {"f3", "f1", "f1", "swizzle %1, y", "OpCompositeExtract"},
      {"f3", "f1", "f4", "construct [%1, %2]", "OpCompositeConstruct"},
      {"f1", "f1", "f3", "splat %1", "OpCompositeConstruct"},
      {"bool", "f1", "f1", "select %1 [%2, %2]", "OpSelect"},
      {"bool", "f4", "f4", "select %1 [%2, %2]", "OpSelect"},
  };
  for (const auto& row : rows) {
    TextModule module(Module(row.left, row.right, row.result, row.value));
    EXPECT_THAT(module.Text(), HasSubstr(std::string(" = ") + row.expected + " "));
  }
}

TEST(Values, CompositesOfConstants_AreConstants) {
  TextModule module(FunctionText("() -> f3x3", R"(
    %1 = const f1 0.25
    %2 = splat %1 : f3
    %3 = const f1 -0.0
    %4 = construct [%1, %3, %1] : f3
    %5 = construct [%2, %4, %2] : f3x3
    return %5)"));
  const std::string text = module.Text();
  EXPECT_THAT(text, HasSubstr("OpConstantComposite"));
  EXPECT_THAT(text, Not(HasSubstr("OpCompositeConstruct")));
  EXPECT_THAT(text, HasSubstr(" -0\n"));
}

// --- builtins ------------------------------------------------------------------------------------

struct BuiltinRow {
  const char* name;
  const char* type;      // of the family
  const char* expected;  // GLSL.std.450 instruction, or "Op…"
  const char* result = nullptr;
};
// Every family, with every scalar that it exists for.
constexpr BuiltinRow kBuiltins[] = {
    {"round", "f3", "Round"},
    {"round_even", "f1", "RoundEven"},
    {"trunc", "f2", "Trunc"},
    {"abs", "f4", "FAbs"},
    {"abs", "s2", "SAbs"},
    {"sign", "f1", "FSign"},
    {"sign", "s1", "SSign"},
    {"floor", "f3", "Floor"},
    {"ceil", "f3", "Ceil"},
    {"fract", "f3", "Fract"},
    {"sin", "f1", "Sin"},
    {"cos", "f1", "Cos"},
    {"tan", "f1", "Tan"},
    {"asin", "f1", "Asin"},
    {"acos", "f1", "Acos"},
    {"atan", "f1", "Atan"},
    {"sinh", "f1", "Sinh"},
    {"cosh", "f1", "Cosh"},
    {"tanh", "f1", "Tanh"},
    {"asinh", "f1", "Asinh"},
    {"acosh", "f1", "Acosh"},
    {"atanh", "f1", "Atanh"},
    {"exp", "f2", "Exp"},
    {"log", "f2", "Log"},
    {"exp2", "f2", "Exp2"},
    {"log2", "f2", "Log2"},
    {"sqrt", "f2", "Sqrt"},
    {"inverse_sqrt", "f2", "InverseSqrt"},
    {"pow", "f3", "Pow"},
    {"min", "f3", "FMin"},
    {"min", "u3", "UMin"},
    {"min", "s3", "SMin"},
    {"max", "f3", "FMax"},
    {"max", "u1", "UMax"},
    {"max", "s1", "SMax"},
    {"clamp", "f1", "FClamp"},
    {"clamp", "u2", "UClamp"},
    {"clamp", "s4", "SClamp"},
    {"mix", "f3", "FMix"},
    {"step", "f3", "Step"},
    {"smooth_step", "f3", "SmoothStep"},
    {"fma", "f3", "Fma"},
    {"atan2", "f3", "Atan2"},
    {"reflect", "f3", "Reflect"},
    {"refract", "f3", "Refract"},
    {"length", "f3", "Length", "f1"},
    {"distance", "f3", "Distance", "f1"},
    {"dot", "f3", "OpDot", "f1"},
    {"normalize", "f4", "Normalize"},
    {"cross", "f3", "Cross"},
    {"determinant", "f4x4", "Determinant", "f1"},
    {"inverse", "f3x3", "MatrixInverse"},
    {"transpose_matrix", "f3x3", "OpTranspose"},
    {"ddx", "f1", "OpDPdx"},
    {"ddy", "f2", "OpDPdy"},
    {"fwidth", "f3", "OpFwidth"},
    {"ddx_fine", "f4", "OpDPdxFine"},
    {"ddy_fine", "f1", "OpDPdyFine"},
    {"fwidth_fine", "f1", "OpFwidthFine"},
    {"ddx_coarse", "f1", "OpDPdxCoarse"},
    {"ddy_coarse", "f1", "OpDPdyCoarse"},
    {"fwidth_coarse", "f1", "OpFwidthCoarse"},
    {"any", "b3", "OpAny", "bool"},
    {"all", "b2", "OpAll", "bool"},
    {"nmin", "f2", "NMin"},
    {"nmax", "d1", "NMax"},
    {"nclamp", "f3", "NClamp"},
    {"degrees", "f1", "Degrees"},
    {"radians", "f4", "Radians"},
    {"face_forward", "f3", "FaceForward"},
    {"ldexp", "f3", "Ldexp"},
    {"is_nan", "f3", "OpIsNan", "b3"},
    {"is_inf", "h1", "OpIsInf", "bool"},
    {"quantize_to_f16", "f2", "OpQuantizeToF16"},
    {"bit_count", "u2", "OpBitCount"},
    {"bit_reverse", "s1", "OpBitReverse"},
    {"find_msb", "u3", "FindUMsb"},
    {"find_msb", "s3", "FindSMsb"},
    {"find_lsb", "s1", "FindILsb"},
    {"bit_field_extract", "u2", "OpBitFieldUExtract"},
    {"bit_field_extract", "s1", "OpBitFieldSExtract"},
    {"bit_field_insert", "s4", "OpBitFieldInsert"},
    {"frexp", "f2", "FrexpStruct", "pair_t"},
    {"modf", "f1", "ModfStruct", "pair_t"},
    {"add_carry", "u1", "OpIAddCarry", "pair_t"},
    {"sub_borrow", "u4", "OpISubBorrow", "pair_t"},
    {"mul_extended", "u2", "OpUMulExtended", "pair_t"},
    {"mul_extended", "s2", "OpSMulExtended", "pair_t"},
    {"transpose", "f2x4", "OpTranspose", "f4x2"},
    {"pack_half_2x16", "f2", "PackHalf2x16", "u1"},
    {"pack_unorm_2x16", "f2", "PackUnorm2x16", "u1"},
    {"pack_snorm_2x16", "f2", "PackSnorm2x16", "u1"},
    {"pack_unorm_4x8", "f4", "PackUnorm4x8", "u1"},
    {"pack_snorm_4x8", "f4", "PackSnorm4x8", "u1"},
    {"unpack_half_2x16", "u1", "UnpackHalf2x16", "f2"},
    {"unpack_unorm_2x16", "u1", "UnpackUnorm2x16", "f2"},
    {"unpack_snorm_2x16", "u1", "UnpackSnorm2x16", "f2"},
    {"unpack_unorm_4x8", "u1", "UnpackUnorm4x8", "f4"},
    {"unpack_snorm_4x8", "u1", "UnpackSnorm4x8", "f4"},
};

std::string BuiltinCall(const BuiltinRow& row, const ir::BuiltinFacts& facts) {
  std::string call = std::string("builtin ") + row.name + " [";
  for (size_t i = 0; i < facts.parameters.size(); ++i) {
    call += i == 0 ? "" : ", ";
    const char letter = facts.parameters[i];
    call += letter == '1' || letter == 'S' || letter == 'u' ? "%2" : "%1";
  }
  return call + "]";
}

// The second parameter of a family: its scalar, or the vector of numbers that `S` and `u` ask for.
std::string SecondType(const BuiltinRow& row, const ir::BuiltinFacts& facts) {
  if (facts.parameters.find('S') != std::string_view::npos) {
    return std::string("s") + row.type[1];
  }
  return facts.parameters.find('u') != std::string_view::npos ? "u1" : "f1";
}

// A struct for results of two parts, of the type of the family.
std::string PairText(const BuiltinRow& row) {
  const std::string second = std::string_view(row.name) == "frexp" ? std::string("s") + row.type[1]
                                                                   : std::string(row.type);
  return std::string("struct pair_t {\n  a : ") + row.type + "\n  b : " + second + "\n}\n";
}

TEST(Builtins, Rows_AreTheirInstruction) {
  for (const BuiltinRow& row : kBuiltins) {
    for (const ir::BuiltinFacts& facts : ir::kBuiltinFacts) {
      if (facts.name == row.name) {
        const std::string result = row.result != nullptr ? row.result : row.type;
        std::string text =
            Module(row.type, SecondType(row, facts), result, BuiltinCall(row, facts));
        if (result == "pair_t") {
          text.insert(text.find("entry"), PairText(row));
        }
        TextModule module(text);
        EXPECT_TRUE(ir::Verify(module.variant()).ok()) << text;
        const std::string name(row.expected);
        const std::string expected = name.starts_with("Op") ? " = " + name + " " : " " + name + " ";
        EXPECT_THAT(module.Text(), HasSubstr(expected)) << row.name << " " << row.type;
      }
    }
  }
}

TEST(Builtins, EveryOrdinaryFamily_HasARow) {
  for (const ir::BuiltinFacts& facts : ir::kBuiltinFacts) {
    if (facts.lowering == ir::BuiltinLowering::kSpecial) {
      continue;
    }
    const bool found = std::any_of(std::begin(kBuiltins), std::end(kBuiltins),
                                   [&](const BuiltinRow& row) { return facts.name == row.name; });
    EXPECT_TRUE(found) << facts.name;
  }
}

}  // namespace
}  // namespace kiln::spirv
