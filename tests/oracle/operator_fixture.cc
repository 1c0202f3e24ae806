// SPDX-License-Identifier: MIT
#include "tests/oracle/operator_fixture.h"

#include <fmt/format.h>

#include "compiler/base/check.h"

namespace kiln::oracle {
namespace {

constexpr std::string_view kLetters = "xyzw";

std::string VectorText(std::string_view array, uint32_t item, uint32_t rows) {
  const std::string whole = fmt::format("given.{}[{}]", array, item);
  return rows == 4 ? whole : whole + "." + std::string(kLetters.substr(0, rows));
}

// A portable draw: distributions of the library differ between implementations.
uint32_t Draw(std::mt19937& random, uint32_t low, uint32_t high) {
  const uint64_t span = uint64_t{high} - low + 1;
  return low + static_cast<uint32_t>(random() % span);
}

}  // namespace

Comparison OperatorFixture::Agree(const std::string& source, const Samples& samples,
                                  std::string_view environment) {
  VariantRequest request = BenchRequest(source);
  request.environment = environment;
  return AgreeOn(request, samples);
}

Comparison OperatorFixture::AgreeOn(const VariantRequest& request, const Samples& samples,
                                    const PixelRig::Extra& extra, const Surroundings& around) {
  const std::string& source = request.sources.back();
  const BuiltVariant variant(request);
  EXPECT_TRUE(variant.ok()) << variant.messages() << source;
  if (!variant.ok()) {
    return {};
  }
  const Result<Pixels> pixels = bench().Run(variant, samples, extra);
  EXPECT_TRUE(pixels.ok()) << ErrorText(pixels.error()) << source;
  if (!pixels.ok()) {
    return {};
  }
  Comparison comparison = Compare(InterpretPixels(variant, samples, around), *pixels, samples);
  EXPECT_EQ(comparison.difference, "") << source;
  return comparison;
}

std::vector<ir::TypeId> OperandTypes(ir::Pool& pool) {
  std::vector<ir::TypeId> types;
  for (const ir::Scalar scalar : {ir::Scalar::kF32, ir::Scalar::kU32, ir::Scalar::kS32}) {
    for (uint32_t rows = 1; rows <= 4; ++rows) {
      types.push_back(pool.Vector(scalar, rows));
    }
  }
  types.push_back(pool.Matrix(ir::Scalar::kF32, 3, 3));
  types.push_back(pool.Matrix(ir::Scalar::kF32, 4, 4));
  return types;
}

std::string OperandText(const ir::Pool& pool, ir::TypeId id, uint32_t first) {
  const ir::Type& type = pool[id];
  const std::string_view array = type.scalar == ir::Scalar::kF32   ? "f"
                                 : type.scalar == ir::Scalar::kU32 ? "u"
                                                                   : "s";
  if (type.kind == ir::TypeKind::kVector) {
    return VectorText(array, first, type.rows);
  }
  std::string columns;
  for (uint32_t i = 0; i < type.columns; ++i) {
    columns += (i == 0 ? "" : ", ") + VectorText(array, first + i, type.rows);
  }
  return ir::TypeText(pool, id) + " { " + columns + " }";
}

std::string ResultText(const ir::Pool& pool, ir::TypeId id, const std::string& expression) {
  const ir::Type& type = pool[id];
  if (type.scalar == ir::Scalar::kBool) {
    return "if (" + expression + ") { result.u0.x = 1u; }";
  }
  std::string text = ir::TypeText(pool, id) + " value = " + expression + ";";
  if (type.kind == ir::TypeKind::kMatrix) {
    for (uint32_t i = 0; i < type.columns; ++i) {
      const std::string column = fmt::format("value.{}", kLetters[i]);
      text += fmt::format(" result.f{} = {};", i,
                          type.rows == 4 ? column : "f4 { " + column + ", 0.0 }");
    }
    return text;
  }
  const std::string_view output = type.scalar == ir::Scalar::kF32   ? "f0"
                                  : type.scalar == ir::Scalar::kU32 ? "u0"
                                                                    : "s0";
  for (uint32_t i = 0; i < type.rows; ++i) {
    text += type.rows == 1 ? fmt::format(" result.{}.x = value;", output)
                           : fmt::format(" result.{0}.{1} = value.{1};", output, kLetters[i]);
  }
  return text;
}

std::string ProbeText(const std::string& statements) {
  return "void probe (in u1 index)\n{\n    alias (given, bench.samples[index])\n    " + statements +
         "\n}\n";
}

void FillFloats(Samples& samples, std::mt19937& random, uint32_t first, uint32_t count,
                FloatRange range) {
  const auto low = static_cast<int32_t>(range.low * 8);
  const auto high = static_cast<int32_t>(range.high * 8);
  for (Sample& sample : samples) {
    for (uint32_t i = first * 4; i < (first + count) * 4; ++i) {
      const float part = static_cast<float>(random() >> 8) / static_cast<float>(1 << 24);
      const auto step = static_cast<int32_t>(Draw(random, 0, static_cast<uint32_t>(high - low)));
      sample.f[i] = range.dyadic ? static_cast<float>(low + step) / 8
                                 : range.low + (range.high - range.low) * part;
    }
  }
}

void FillUnsigned(Samples& samples, std::mt19937& random, uint32_t first, uint32_t count,
                  WordRange range) {
  for (Sample& sample : samples) {
    for (uint32_t i = first * 4; i < (first + count) * 4; ++i) {
      const bool small = random() % 2 == 0 && range.high - range.low > 16;
      sample.u[i] = Draw(random, range.low, small ? range.low + 16 : range.high);
    }
  }
}

void FillSigned(Samples& samples, std::mt19937& random, uint32_t first, uint32_t count,
                SignedRange range) {
  const auto span = static_cast<uint32_t>(range.high) - static_cast<uint32_t>(range.low);
  for (Sample& sample : samples) {
    for (uint32_t i = first * 4; i < (first + count) * 4; ++i) {
      const bool small = random() % 2 == 0 && range.low <= -16 && range.high >= 16;
      sample.s[i] =
          small ? static_cast<int32_t>(Draw(random, 0, 32)) - 16
                : static_cast<int32_t>(static_cast<uint32_t>(range.low) + Draw(random, 0, span));
    }
  }
}

}  // namespace kiln::oracle
