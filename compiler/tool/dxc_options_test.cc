// SPDX-License-Identifier: MIT
#include "compiler/tool/dxc_options.h"

#include <sstream>
#include <vector>

#include <gtest/gtest.h>

namespace kiln::tool {
namespace {

Result<DxcRequest> Read(const std::string& line) {
  std::istringstream text(line);
  std::vector<std::string> words;
  for (std::string word; text >> word;) {
    words.push_back(word);
  }
  return ReadDxcOptions(words);
}

std::string ErrorOf(const std::string& line) {
  const Result<DxcRequest> read = Read(line);
  return read.ok() ? "" : read.error().context;
}

TEST(DxcOptions, Words_AreRead) {
  const Result<DxcRequest> read = Read(
      "-T ps_6_6 -E shade -D FOG -DSTEPS=4 -I lib -Ishared -Zpr -HV 2018 -enable-16bit-types "
      "-spirv -fspv-target-env=vulkan1.3 -O3 -Wno-conversion -Fo out.spv a/b.hlsl");
  ASSERT_TRUE(read.ok()) << read.error().context;
  EXPECT_EQ(read->file, "a/b.hlsl");
  EXPECT_EQ(read->output, "out.spv");
  EXPECT_EQ(read->stage, ir::Stage::kFragment);
  EXPECT_EQ(read->entry, "shade");
  EXPECT_EQ(read->environment, target::Environment::kVulkan13);
  const hlsl::Settings& settings = read->inputs.hlsl;
  EXPECT_EQ(settings.shader_model, hlsl::ShaderModel::k66);
  EXPECT_EQ(settings.matrix_order, hlsl::MatrixOrder::kRow);
  EXPECT_EQ(settings.version, hlsl::Version::k2018);
  EXPECT_EQ(settings.sixteen_bit, hlsl::SixteenBit::kOn);
  EXPECT_EQ(settings.defines, (std::vector<hlsl::Define>{{"FOG", "1"}, {"STEPS", "4"}}));
  EXPECT_EQ(settings.include_roots, (std::vector<std::string>{"lib", "shared"}));
}

TEST(DxcOptions, LayoutsAndShifts_AreSettings) {
  const Result<DxcRequest> read = Read(
      "-T ps_6_0 -fvk-use-dx-layout -fvk-t-shift 16 all -fvk-t-shift 32 1 -fvk-s-shift 8 0 a.hlsl");
  ASSERT_TRUE(read.ok()) << read.error().context;
  const hlsl::Settings& settings = read->inputs.hlsl;
  EXPECT_EQ(settings.layout, hlsl::MemoryLayout::kDx);
  EXPECT_EQ(hlsl::ShiftOf(settings, 't', 0), 16U);
  EXPECT_EQ(hlsl::ShiftOf(settings, 't', 1), 32U);
  EXPECT_EQ(hlsl::ShiftOf(settings, 's', 0), 8U);
  EXPECT_EQ(Read("-T ps_6_0 -fvk-use-gl-layout a.hlsl")->inputs.hlsl.layout,
            hlsl::MemoryLayout::kStd);
  EXPECT_EQ(Read("-T ps_6_0 -fvk-use-scalar-layout a.hlsl")->inputs.hlsl.layout,
            hlsl::MemoryLayout::kScalar);
  EXPECT_NE(ErrorOf("-T ps_6_0 a.hlsl -fvk-t-shift 16").find("a number and a space"),
            std::string::npos);
  EXPECT_NE(ErrorOf("-T ps_6_0 -fvk-t-shift x all a.hlsl").find("SPACE:AMOUNT"), std::string::npos);
}

TEST(DxcOptions, Slashes_BeginOptionsAndPaths) {
  const Result<DxcRequest> read = Read("/T vs_6_0 /Zpr /home/me/a.hlsl");
  ASSERT_TRUE(read.ok()) << read.error().context;
  EXPECT_EQ(read->file, "/home/me/a.hlsl");
  EXPECT_EQ(read->stage, ir::Stage::kVertex);
  EXPECT_EQ(read->entry, "main");
  EXPECT_EQ(read->inputs.hlsl.matrix_order, hlsl::MatrixOrder::kRow);
}

TEST(DxcOptions, Defaults_AreThoseOfDxc) {
  const Result<DxcRequest> read = Read("-T cs_6_0 a.hlsl");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->stage, ir::Stage::kCompute);
  EXPECT_EQ(read->environment, target::Environment::kVulkan10);
  EXPECT_EQ(read->inputs.hlsl, hlsl::Settings{});
}

TEST(DxcOptions, EveryRefusedOption_IsRefusedByName) {
  struct Row {
    std::string_view spelling;
    std::string_view meaning;
  };
  constexpr Row kRows[] = {
#define KILN_DXC_OPTION(spelling, form, meaning) {spelling, #meaning},
#include "compiler/tool/dxc_options.def"
  };
  for (const Row& row : kRows) {
    const std::string error = ErrorOf("-T ps_6_0 " + std::string(row.spelling) + " a.hlsl b c d");
    const bool refused = error.find("does not obey") != std::string::npos;
    EXPECT_EQ(refused, row.meaning == "kRefused") << row.spelling << ": " << error;
    EXPECT_TRUE(!refused || error.find(row.spelling) != std::string::npos) << error;
  }
}

TEST(DxcOptions, WhatIsWrong_IsNamed) {
  struct Row {
    const char* line;
    const char* part;
  };
  const Row rows[] = {
      {"", "no file"},
      {"a.hlsl", "no profile"},
      {"-T ps_6_0 a.hlsl b.hlsl", "'b.hlsl'"},
      {"-T gs_6_0 a.hlsl", "'gs_6_0'"},
      {"-T ps_5_0 a.hlsl", "'ps_5_0'"},
      {"-T ps_6_99 a.hlsl", "'6.99'"},
      {"-T ps_6_0 -unheard-of a.hlsl", "'-unheard-of'"},
      {"-T ps_6_0 a.hlsl -E", "'-E'"},
      {"-T ps_6_0 -D 1A a.hlsl", "'1A'"},
      {"-T ps_6_0 -HV 2015 a.hlsl", "'2015'"},
      {"-T ps_6_0 -fspv-target-env=universal1.5 a.hlsl", "'universal1.5'"},
  };
  for (const Row& row : rows) {
    EXPECT_NE(ErrorOf(row.line).find(row.part), std::string::npos)
        << row.line << ": " << ErrorOf(row.line);
  }
}

}  // namespace
}  // namespace kiln::tool
