// SPDX-License-Identifier: MIT
#include "compiler/front/hlsl/settings.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace kiln::hlsl {
namespace {

size_t Words(std::string_view text) {
  return static_cast<size_t>(std::ranges::count(text, ' ')) + 1;
}

TEST(HlslSettings, Rows_AscendAndHaveADxcWordForEachValue) {
  std::string_view before;
  for (const SettingRow& row : ModuleSettings()) {
    EXPECT_LT(before, row.name);
    before = row.name;
    EXPECT_EQ(Words(row.values), Words(row.dxc)) << row.name;
  }
}

TEST(HlslSettings, EveryValue_CanBeSetAndIsInTheLanguageText) {
  for (const SettingRow& row : ModuleSettings()) {
    std::string_view rest = row.values;
    for (size_t i = 0; i < Words(row.values); ++i) {
      const std::string value(rest.substr(0, rest.find(' ')));
      rest.remove_prefix(std::min(rest.size(), value.size() + 1));
      Settings settings;
      ASSERT_TRUE(SetSetting(row.name, value, settings).ok()) << row.name << "=" << value;
      EXPECT_EQ(settings == Settings{}, i == 0) << "the first is the default: " << value;
      const std::string text = LanguageText(settings);
      EXPECT_NE(text.find(std::string(row.name) + "=" + value + ";"), std::string::npos) << text;
    }
  }
}

TEST(HlslSettings, LanguageText_IsCanonical) {
  Settings settings;
  EXPECT_EQ(
      LanguageText(settings),
      "hlsl;float_ne=unordered;layout=relaxed;matrix_order=column;shader_model=6.0;sixteen_bit=off;"
      "version=2021;vulkan_registers=direct;");
  settings.include_roots = {"lib", ""};
  settings.defines = {{"A", "1"}};
  EXPECT_EQ(
      LanguageText(settings),
      "hlsl;float_ne=unordered;include_root=3:lib;include_root=0:;layout=relaxed;"
      "matrix_order=column;shader_model=6.0;sixteen_bit=off;version=2021;vulkan_registers=direct;")
      << "defines have a field of their own";
}

TEST(HlslSettings, Shifts_AreOfAClassAndOfASpaceOrAll) {
  Settings settings;
  ASSERT_TRUE(SetSetting("shift.t", "all:16,1:32", settings).ok());
  EXPECT_EQ(ShiftOf(settings, 't', 0), 16U);
  EXPECT_EQ(ShiftOf(settings, 't', 1), 32U);
  EXPECT_EQ(ShiftOf(settings, 's', 1), 0U);
  EXPECT_NE(LanguageText(settings).find(";shift.t=all:16,1:32;sixteen_bit"), std::string::npos);
  ASSERT_TRUE(SetSetting("vulkan_registers", "classes", settings).ok());
  EXPECT_EQ(ShiftOf(settings, 'u', 0), 384U);
  EXPECT_EQ(ShiftOf(settings, 't', 2), 16U) << "what is said of a class counts";
  for (const char* wrong :
       {"", "16", "all", "all:", "x:1", "1:x", "all:16,", "1:-1", "all:99999999"}) {
    EXPECT_FALSE(SetSetting("shift.t", wrong, settings).ok()) << wrong;
  }
  EXPECT_FALSE(SetSetting("shift.c", "all:1", settings).ok());
}

TEST(HlslSettings, WhatIsUnknown_IsRefusedWithWhatIsKnown) {
  Settings settings;
  EXPECT_NE(SetSetting("order", "row", settings).error().context.find("matrix_order"),
            std::string::npos);
  EXPECT_NE(SetSetting("matrix_order", "rows", settings).error().context.find("column, row"),
            std::string::npos);
  for (const char* value : {"", " ", "column row", "column ", "Row"}) {
    EXPECT_FALSE(SetSetting("matrix_order", value, settings).ok()) << value;
  }
  EXPECT_EQ(settings, Settings{});
}

TEST(HlslSettings, Defines_AreParsed) {
  struct Row {
    const char* text;
    const char* name;  // null: refused
    const char* value = "";
  };
  const Row rows[] = {
      {"A", "A", "1"},
      {"A=", "A", ""},
      {"A=2", "A", "2"},
      {"A=b=c", "A", "b=c"},
      {"_a1=x y", "_a1", "x y"},
      {"F(x)=x", "F(x)", "x"},
      {"F(a, b)", "F(a, b)", "1"},
      {"", nullptr},
      {"=1", nullptr},
      {"1A", nullptr},
      {"A B", nullptr},
      {"A-B=1", nullptr},
      {"F(x", nullptr},
      {"F(x)y=1", nullptr},
  };
  for (const Row& row : rows) {
    const Result<Define> define = ParseDefine(row.text);
    ASSERT_EQ(define.ok(), row.name != nullptr) << row.text;
    if (define.ok()) {
      EXPECT_EQ(define->name, row.name) << row.text;
      EXPECT_EQ(define->value, row.value) << row.text;
    }
  }
}

}  // namespace
}  // namespace kiln::hlsl
