// SPDX-License-Identifier: MIT
#include "compiler/front/hlsl/macro_axis.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace kiln::hlsl {
namespace {

using Values = std::vector<std::string>;

// The kind of the axis, or what is wrong.
std::string KindOf(const Values& values, const std::string& name = "LIGHTS") {
  const Result<MacroAxis> axis = MakeMacroAxis(name, values);
  if (!axis.ok()) {
    return axis.error().context;
  }
  switch (axis->kind) {
    case ir::OptionKind::kFlag:
      return "flag";
    case ir::OptionKind::kUint:
      return "uint";
    case ir::OptionKind::kSint:
      return "sint";
    default:
      return "enum";
  }
}

TEST(MacroAxis, KindFollowsFromTheValues) {
  EXPECT_EQ(KindOf({"false", "true"}), "flag");
  EXPECT_EQ(KindOf({"true"}), "flag");
  EXPECT_EQ(KindOf({"0", "1", "4294967295"}), "uint");
  EXPECT_EQ(KindOf({"-1", "1", "2147483647"}), "sint");
  EXPECT_EQ(KindOf({"soft", "hard"}), "enum");
}

TEST(MacroAxis, WhatIsNoAxis_IsSaid) {
  const std::string mixed =
      "values of macro 'LIGHTS' must all be flags (false: not defined), whole numbers of 32 bits, "
      "or words";
  EXPECT_EQ(KindOf({}), "macro 'LIGHTS' has 0 values, 1 to 256 are possible");
  EXPECT_EQ(KindOf(Values(257, "a")), "macro 'LIGHTS' has 257 values, 1 to 256 are possible");
  EXPECT_EQ(KindOf({"1", "2", "1"}), "macro 'LIGHTS' has the value '1' twice");
  EXPECT_EQ(KindOf({"1", "soft"}), mixed);
  EXPECT_EQ(KindOf({"true", "1"}), mixed);
  EXPECT_EQ(KindOf({"true", "soft"}), mixed);
  EXPECT_EQ(KindOf({"-1", "4294967295"}), mixed);
  EXPECT_EQ(KindOf({"007"}), mixed);
  EXPECT_EQ(KindOf({"-0"}), mixed);
  EXPECT_EQ(KindOf({"4294967296"}), mixed);
  EXPECT_EQ(KindOf({"two words"}), mixed);
  EXPECT_EQ(KindOf({""}), mixed);
  EXPECT_EQ(KindOf({std::string(257, 'a')}), mixed);
  EXPECT_EQ(KindOf({"1"}, "2X"), "'2X' is not the name of a macro");
  EXPECT_EQ(KindOf({"1"}, "F(x)"), "'F(x)' is not the name of a macro");
  EXPECT_EQ(KindOf({"1"}, "defined"), "'defined' is not the name of a macro");
  EXPECT_EQ(KindOf({"1"}, ""), "'' is not the name of a macro");
}

// "FOG=1 -SNOW": the choices of a value; a minus where nothing is defined.
std::string Choices(const MacroAxis& axis, size_t value) {
  std::vector<MacroChoice> choices;
  AddChoices(axis, value, choices);
  std::string out;
  for (const MacroChoice& choice : choices) {
    out += (out.empty() ? "" : " ") +
           (choice.value.has_value() ? choice.name + "=" + *choice.value : "-" + choice.name);
  }
  return out;
}

TEST(MacroAxis, FlagThatIsFalse_IsNotDefined) {
  const MacroAxis flag = *MakeMacroAxis("FOG", {"false", "true"});
  EXPECT_EQ(Choices(flag, 0), "-FOG");
  EXPECT_EQ(Choices(flag, 1), "FOG=1");
  EXPECT_EQ(Choices(*MakeMacroAxis("LIGHTS", {"0", "4"}), 0), "LIGHTS=0");
  EXPECT_EQ(Choices(*MakeMacroAxis("FILTER", {"soft", "hard"}), 1), "FILTER=hard");
}

TEST(MacroAxis, OneKeyword_IsAFlag) {
  for (const char* none : {"_", "__"}) {
    const MacroAxis axis = *MakeKeywordAxis({none, "FOG"});
    EXPECT_EQ(axis, *MakeMacroAxis("FOG", {"false", "true"}));
  }
  EXPECT_EQ(*MakeKeywordAxis({"FOG", "_"}), *MakeMacroAxis("FOG", {"true", "false"}));
}

TEST(MacroAxis, SeveralKeywords_OneIsDefined) {
  const MacroAxis axis = *MakeKeywordAxis({"_", "LINEAR", "EXP"});
  EXPECT_EQ(axis.name, "LINEAR_EXP");
  EXPECT_EQ(axis.kind, ir::OptionKind::kEnum);
  EXPECT_EQ(Choices(axis, 0), "-LINEAR -EXP");
  EXPECT_EQ(Choices(axis, 2), "-LINEAR EXP=1");
  EXPECT_FALSE(MakeKeywordAxis({"1", "2"}).ok());
  EXPECT_FALSE(MakeKeywordAxis({"A", "A"}).ok());
  EXPECT_FALSE(MakeKeywordAxis({"_"}).ok());
  EXPECT_FALSE(MakeKeywordAxis({}).ok());
  EXPECT_FALSE(MakeKeywordAxis({std::string(200, 'A'), std::string(200, 'B')}).ok());
}

TEST(MacroAxis, BitsAndValues_AreThereAndBack) {
  for (const Values& values :
       {Values{"true", "false"}, Values{"4", "0"}, Values{"-1", "3"}, Values{"soft", "hard"}}) {
    const MacroAxis axis = *MakeMacroAxis("LIGHTS", values);
    EXPECT_EQ(ValueOfBits(axis, BitsOf(axis, 0)), 0u) << values[0];
    EXPECT_EQ(ValueOfBits(axis, BitsOf(axis, 1)), 1u) << values[0];
    EXPECT_EQ(ValueOfBits(axis, 77), std::nullopt) << values[0];
  }
  EXPECT_EQ(BitsOf(*MakeMacroAxis("X", {"-1"}), 0), 0xffffffffu);
}

}  // namespace
}  // namespace kiln::hlsl
