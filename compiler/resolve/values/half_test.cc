// SPDX-License-Identifier: MIT
#include "compiler/resolve/values/half.h"

#include <limits>

#include <gtest/gtest.h>

namespace kiln::resolve {
namespace {

TEST(HalfBits, EveryRange_RoundsToNearestEven) {
  const struct {
    float value;
    uint32_t bits;
  } cases[] = {
      {0.0f, 0x0000},
      {-0.0f, 0x8000},
      {1.0f, 0x3c00},
      {0.5f, 0x3800},
      {-2.0f, 0xc000},
      {65504.0f, 0x7bff},
      {65519.0f, 0x7bff},
      {65520.0f, 0x7c00},
      {1.0e10f, 0x7c00},
      {1.00048828125f, 0x3c00},
      {1.001f, 0x3c01},
      {1.00146484375f, 0x3c02},
      {6.103515625e-5f, 0x0400},
      {5.9604645e-8f, 0x0001},
      {2.98e-8f, 0x0000},
      {2.99e-8f, 0x0001},
      {8.9406967e-8f, 0x0002},
      {std::numeric_limits<float>::infinity(), 0x7c00},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(HalfBits(c.value), c.bits) << c.value;
  }
}

}  // namespace
}  // namespace kiln::resolve
