// SPDX-License-Identifier: MIT
// Values of options as they are written on a command line.
#include "compiler/driver/option_text.h"

#include <bit>
#include <cmath>

#include <gtest/gtest.h>

namespace kiln::driver {
namespace {

// What is too large is an infinity, of which the check of options tells (RPL2007); what is too
// small is zero, as in a source.
TEST(OptionText, FloatTable) {
  ir::Option declared{};
  declared.kind = ir::OptionKind::kFloat;
  const struct {
    const char* text;
    float value;
  } rows[] = {
      {"0.5", 0.5F},        {"-2e3", -2000.0F},  {"1e-40", 1e-40F},     {"1e-60", 0.0F},
      {"-1e-60", -0.0F},    {"1e-400", 0.0F},    {"0.0000e9999", 0.0F}, {"1e39", INFINITY},
      {"-1e39", -INFINITY}, {"1e400", INFINITY}, {"-1e400", -INFINITY},
  };
  for (const auto& row : rows) {
    const resolve::OptionSetting setting = ReadOptionValue("scale", row.text, &declared);
    EXPECT_EQ(setting.kind, ir::OptionKind::kFloat) << row.text;
    EXPECT_EQ(setting.bits, std::bit_cast<uint32_t>(row.value)) << row.text;
  }
}

TEST(OptionText, NoFloat_IsTheNameOfAnEnum) {
  ir::Option declared{};
  declared.kind = ir::OptionKind::kFloat;
  for (const char* text : {"1e400x", "", "-", "+1", "1e-60 "}) {
    EXPECT_EQ(ReadOptionValue("scale", text, &declared).kind, ir::OptionKind::kEnum) << text;
  }
}

}  // namespace
}  // namespace kiln::driver
