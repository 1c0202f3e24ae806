// SPDX-License-Identifier: MIT
// Every inbuilt function of builtins.def for every type it exists for: the interpreter and lavapipe
// agree within the bounds of tests/support/interpreter_builtins.cc.
#include <array>

#include <fmt/format.h>

#include "compiler/ir/typing/typing.h"
#include "tests/oracle/operator_fixture.h"

namespace kiln::oracle {
namespace {

using ir::Builtin;

struct Domain {
  Builtin builtin;
  std::array<FloatRange, 3> arguments;
};

constexpr FloatRange kUnit = {-1, 1};
constexpr FloatRange kTurn = {-3.140625F, 3.140625F};  // what Vulkan bounds sin and cos for
constexpr FloatRange kPositive = {0.125F, 16};

// Where a function is defined and Vulkan says how exact it is; [-8, 8] for all others.
constexpr Domain kDomains[] = {
    {Builtin::kSin, {kTurn}},
    {Builtin::kCos, {kTurn}},
    {Builtin::kTan, {kTurn}},
    {Builtin::kAsin, {kUnit}},
    {Builtin::kAcos, {kUnit}},
    {Builtin::kAtanh, {FloatRange{-0.875F, 0.875F}}},
    {Builtin::kAcosh, {FloatRange{1.125F, 16}}},
    {Builtin::kLog, {kPositive}},
    {Builtin::kLog2, {kPositive}},
    {Builtin::kSqrt, {FloatRange{0, 64}}},
    {Builtin::kInverseSqrt, {kPositive}},
    {Builtin::kPow, {FloatRange{0.125F, 4}, FloatRange{-4, 4}}},
    {Builtin::kClamp, {FloatRange{-8, 8}, FloatRange{-8, 0}, FloatRange{0, 8}}},
    {Builtin::kSmoothStep, {FloatRange{-8, 0}, FloatRange{0.5F, 8}, FloatRange{-8, 8}}},
    {Builtin::kMix, {FloatRange{}, FloatRange{}, FloatRange{0, 1}}},
    {Builtin::kReflect, {kUnit, kUnit}},
    {Builtin::kRefract, {kUnit, kUnit, FloatRange{0.25F, 1.5F}}},
};

std::array<FloatRange, 3> RangesOf(Builtin builtin) {
  for (const Domain& domain : kDomains) {
    if (domain.builtin == builtin) {
      return domain.arguments;
    }
  }
  return {};
}

// Arguments of floats are four items apart, those of integers one; so every type fits.
constexpr uint32_t ItemOf(ir::Scalar scalar, uint32_t argument, bool matrix) {
  return scalar != ir::Scalar::kF32 ? argument : matrix ? argument * 4 : argument * 2;
}

Samples InputsOf(Builtin builtin, bool matrix) {
  std::mt19937 random(static_cast<uint32_t>(builtin));
  const std::array<FloatRange, 3> ranges = RangesOf(builtin);
  Samples samples;
  for (uint32_t i = 0; i < 3 && !matrix; ++i) {
    FillFloats(samples, random, ItemOf(ir::Scalar::kF32, i, false), 2, ranges[i]);
  }
  if (matrix) {
    FillFloats(samples, random, 0, 4, {.dyadic = true});
  }
  const bool clamps = builtin == Builtin::kClamp;  // low ≤ high
  FillUnsigned(samples, random, 0, 1, {});
  FillUnsigned(samples, random, 1, 1, {.high = clamps ? 0x7fffffffU : ~0U});
  FillUnsigned(samples, random, 2, 1, {.low = 0x80000000U});
  FillSigned(samples, random, 0, 1, {.low = INT32_MIN + 1});
  FillSigned(samples, random, 1, 1, {.high = clamps ? -1 : INT32_MAX});
  FillSigned(samples, random, 2, 1, {.low = 0});
  return samples;
}

// "refract_f2 (given.f[0].xy, given.f[2].xy, given.f[4].x)"
std::string CallText(const ir::Pool& pool, Builtin builtin, ir::TypeId type) {
  const ir::Signature signature = *ir::TypeOfBuiltin(pool, builtin, type);
  std::string arguments;
  for (uint32_t i = 0; i < signature.count; ++i) {
    const uint32_t item = ItemOf(pool[type].scalar, i, pool[type].kind == ir::TypeKind::kMatrix);
    arguments += (i == 0 ? "" : ", ") + OperandText(pool, signature.slots[i], item);
  }
  return fmt::format("{}_{} ({})", ir::FactsOf(builtin).name, ir::TypeText(pool, type), arguments);
}

class BuiltinRows : public OperatorFixture, public ::testing::WithParamInterface<Builtin> {};

TEST_P(BuiltinRows, EveryType_AgreesWithTheDevice) {
  ir::Pool pool;
  uint32_t rows = 0;
  for (const ir::TypeId type : OperandTypes(pool)) {
    if (!ir::ExistsFor(ir::FactsOf(GetParam()).types, pool[type])) {
      continue;
    }
    ++rows;
    const std::string call = CallText(pool, GetParam(), type);
    SCOPED_TRACE(call);
    const ir::TypeId result = ir::TypeOfBuiltin(pool, GetParam(), type)->result;
    const Comparison comparison =
        Agree(ProbeText(ResultText(pool, result, call)),
              InputsOf(GetParam(), pool[type].kind == ir::TypeKind::kMatrix));
    // Singular matrices, angles without cosine, refraction at the limit: few.
    EXPECT_LT(comparison.open, kBenchPixels / 8);
  }
  EXPECT_GE(rows, 1U);
}

std::vector<Builtin> Families() {
  std::vector<Builtin> families;
  // What version 2 added lies behind (tests/language).
  for (uint32_t i = 0; i < static_cast<uint32_t>(Builtin::kSampleLod); ++i) {
    if (ir::kBuiltinFacts[i].types != ir::BuiltinTypes::kNone) {
      families.push_back(static_cast<Builtin>(i));
    }
  }
  return families;
}

INSTANTIATE_TEST_SUITE_P(All, BuiltinRows, ::testing::ValuesIn(Families()),
                         [](const ::testing::TestParamInfo<Builtin>& info) {
                           return std::string(ir::FactsOf(info.param).name);
                         });

class ConstantRows : public OperatorFixture {};

TEST_F(ConstantRows, Pi_HasItsBits) { Agree(ProbeText("result.f0.x = pi ();"), {}); }

}  // namespace
}  // namespace kiln::oracle
