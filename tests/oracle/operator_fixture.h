// SPDX-License-Identifier: MIT
// What tests on the bench share: one device for all tests of a program, the texts of operands and
// results by type, and inputs by range.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ir/types.h"
#include "tests/support/pixel_rig.h"

namespace kiln::oracle {

class OperatorFixture : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { shared_bench = std::make_unique<PixelRig>(); }
  static void TearDownTestSuite() { shared_bench.reset(); }
  void TearDown() override { EXPECT_THAT(shared_bench->TakeMessages(), ::testing::IsEmpty()); }

  static PixelRig& bench() { return *shared_bench; }

  // Builds `source`, runs it both ways and compares. Fails the test where they differ.
  static Comparison Agree(const std::string& source, const Samples& samples,
                          std::string_view environment = "vulkan1.1");

  static Comparison AgreeOn(const VariantRequest& request, const Samples& samples,
                            const PixelRig::Extra& extra = {}, const Surroundings& around = {});

 private:
  static inline std::unique_ptr<PixelRig> shared_bench;
};

// The types that have operators: 12 vectors and 2 matrices.
std::vector<ir::TypeId> OperandTypes(ir::Pool& pool);

// "given.f[2].xy", "f3x3 { … }": the operand of that type that begins at item `first` of the
// inputs of its scalar. A matrix takes an item for each column.
std::string OperandText(const ir::Pool& pool, ir::TypeId id, uint32_t first);

// Statements that write an expression of that type, a boolean too, to the outputs.
std::string ResultText(const ir::Pool& pool, ir::TypeId id, const std::string& expression);

// "void probe (in u1 index) { alias (given, …) statements }"
std::string ProbeText(const std::string& statements);

struct FloatRange {
  float low = -8;
  float high = 8;
  bool dyadic = false;  // multiples of 1/8
};
struct WordRange {
  uint32_t low = 0;
  uint32_t high = ~0U;
};
// Inputs of items [first, first + count) of every pixel.
void FillFloats(Samples& samples, std::mt19937& random, uint32_t first, uint32_t count,
                FloatRange range);
void FillUnsigned(Samples& samples, std::mt19937& random, uint32_t first, uint32_t count,
                  WordRange range);
struct SignedRange {
  int32_t low = INT32_MIN;
  int32_t high = INT32_MAX;
};
void FillSigned(Samples& samples, std::mt19937& random, uint32_t first, uint32_t count,
                SignedRange range);

}  // namespace kiln::oracle
