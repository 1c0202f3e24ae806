// SPDX-License-Identifier: MIT
#include "compiler/front/hlsl/macro_pragmas.h"

#include <string>

#include <gtest/gtest.h>

#include "compiler/front/hlsl/preprocess/test_run.h"

namespace kiln::hlsl {
namespace {

// "FOG: false true; LIGHTS: 0 1".
std::string Macros(const std::string& text) {
  std::string out;
  for (const MacroAxis& axis : MacrosIn(text)) {
    out += (out.empty() ? "" : "; ") + axis.name + (axis.is_keywords ? " of:" : ":");
    for (const std::string& value : axis.values) {
      out += " " + value;
    }
  }
  return out;
}

TEST(MacroPragmas, SpellingsOfEngines) {
  EXPECT_EQ(Macros("#pragma kiln macro LIGHTS 0 1 2 4"), "LIGHTS: 0 1 2 4");
  EXPECT_EQ(Macros("#pragma kiln macro BIAS -1 0"), "BIAS: -1 0");
  EXPECT_EQ(Macros("#pragma kiln macro FOG false true"), "FOG: false true");
  EXPECT_EQ(Macros("#pragma kiln macro FILTER soft hard"), "FILTER: soft hard");
  EXPECT_EQ(Macros("#pragma multi_compile _ FOG"), "FOG: false true");
  EXPECT_EQ(Macros("#pragma multi_compile __ FOG"), "FOG: false true");
  EXPECT_EQ(Macros("#pragma multi_compile_local _ FOG"), "FOG: false true");
  EXPECT_EQ(Macros("#pragma multi_compile_local_fragment _ FOG"), "FOG: false true");
  EXPECT_EQ(Macros("#pragma multi_compile LINEAR EXP"), "LINEAR_EXP of: LINEAR EXP");
  EXPECT_EQ(Macros("#pragma shader_feature FOG"), "FOG: false true");
  EXPECT_EQ(Macros("#pragma shader_feature_local FOG"), "FOG: false true");
  EXPECT_EQ(Macros("#pragma shader_feature _ A B"), "A_B of: _ A B");
}

TEST(MacroPragmas, LinesOfAFile_AreSortedAndCountOnce) {
  EXPECT_EQ(Macros("#pragma multi_compile _ SNOW\n#pragma shader_feature FOG // and more\n"
                   "#pragma kiln macro FOG 1 2\nfloat x;\n"),
            "FOG: false true; SNOW: false true");
  EXPECT_EQ(Macros("#if 0\n#pragma shader_feature FOG\n#endif"), "FOG: false true");
  EXPECT_EQ(Macros("#pragma shader_feature \\\nFOG"), "FOG: false true");
}

TEST(MacroPragmas, WhatIsNone_IsPassedOver) {
  EXPECT_EQ(Macros(""), "");
  EXPECT_EQ(Macros("#pragma once\n#pragma pack_matrix(row_major)"), "");
  EXPECT_EQ(Macros("// #pragma shader_feature FOG\n\"#pragma shader_feature FOG\""), "");
  EXPECT_EQ(Macros("#pragma kiln macro"), "");
  EXPECT_EQ(Macros("#pragma kiln macro FOG"), "");
  EXPECT_EQ(Macros("#pragma kiln macro FOG 1 soft"), "");
  EXPECT_EQ(Macros("#pragma multi_compile_fog"), "");
  EXPECT_EQ(Macros("#define pragma\n#"), "");
  EXPECT_EQ(Macros("#pragma shader_feature FOG\n\xff"), "");  // no UTF-8: not read at all
  EXPECT_EQ(Macros("\xef\xbb\xbf#pragma shader_feature FOG"), "FOG: false true");
  EXPECT_EQ(
      Macros("#pragma shader_feature FOG\n" + std::string(LanguageLimits{}.source_bytes, ' ')), "");
}

TEST(MacroPragmas, MoreThanAProgramMayHave_AreCut) {
  std::string text;
  for (int i = 0; i < 70; ++i) {
    text += "#pragma shader_feature M" + std::to_string(i) + "\n";
  }
  EXPECT_EQ(MacrosIn(text).size(), kMostMacroAxes);
  // 60 lists of 20 names are more names than all may have.
  text.clear();
  for (int i = 0; i < 60; ++i) {
    text += "#pragma multi_compile";
    for (int k = 0; k < 20; ++k) {
      text += " A" + std::to_string(i) + "B" + std::to_string(k);
    }
    text += "\n";
  }
  EXPECT_EQ(MacrosIn(text).size(), 1024u / 20);
}

TEST(MacroPragmas, InTheModule_RightOnesAreSilentWrongOnesAreNot) {
  EXPECT_EQ(TestRun("#pragma multi_compile _ FOG\nx").Messages(), "");
  EXPECT_EQ(TestRun("#pragma kiln macro LIGHTS 0 1\nx").Messages(), "");
  const std::string wrong = TestRun("#pragma kiln macro LIGHTS 0 soft\nx").Messages();
  EXPECT_NE(wrong.find("HLSL1040 root.hlsl:1:"), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("values of macro 'LIGHTS' must all be"), std::string::npos) << wrong;
}

}  // namespace
}  // namespace kiln::hlsl
