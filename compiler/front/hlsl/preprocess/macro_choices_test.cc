// SPDX-License-Identifier: MIT
// Which of the macros that a request chooses a source asks for, and that no other is noted.
#include <string>

#include <gtest/gtest.h>

#include "compiler/front/hlsl/preprocess/test_run.h"
#include "compiler/source/macro_path.h"

namespace kiln::hlsl {
namespace {

const Settings kChoices{.macros = {{.name = "FOG", .value = "1"},
                                   {.name = "LIGHTS", .value = "4"},
                                   {.name = "SHADOWS", .value = std::nullopt}}};

// "FOG=1 -SHADOWS": what was asked for, in order; a minus where nothing is defined.
std::string Reads(const std::string& text, const Settings& settings = kChoices) {
  const TestRun run(TestFiles{{"root.hlsl", text}, {"fog.hlsli", "FOG"}}, settings);
  std::string out;
  for (const Probe& probe : run.stream().probes) {
    const std::string name(IsMacroPath(probe.path) ? MacroOfPath(probe.path) : probe.path);
    out += (out.empty() ? "" : " ") + std::string(probe.present ? "" : "-") + name;
  }
  return out;
}

TEST(MacroChoices, EachWayToAsk_IsNoted) {
  EXPECT_EQ(Reads("#ifdef FOG\n#endif"), "FOG");
  EXPECT_EQ(Reads("#ifndef SHADOWS\n#endif"), "-SHADOWS");
  EXPECT_EQ(Reads("#if defined(FOG) && defined SHADOWS\n#endif"), "FOG -SHADOWS");
  EXPECT_EQ(Reads("#if LIGHTS > 2\n#endif"), "LIGHTS");
  EXPECT_EQ(Reads("#if SHADOWS\n#endif"), "-SHADOWS");
  EXPECT_EQ(Reads("int x = LIGHTS;"), "LIGHTS");
  EXPECT_EQ(Reads("int SHADOWS;"), "-SHADOWS");
  EXPECT_EQ(Reads("#undef FOG"), "FOG");
  EXPECT_EQ(Reads("#define FOG 1"), "FOG");
  EXPECT_EQ(Reads("#define F(x) x\nF(LIGHTS)"), "LIGHTS");
  EXPECT_EQ(Reads("#define A LIGHTS\nA"), "LIGHTS");
  EXPECT_EQ(Reads("#define A(x, y) x##y\nA(LIG, HTS)"), "LIGHTS");
  EXPECT_EQ(Reads("#include \"fog.hlsli\""), "fog.hlsli FOG");
}

TEST(MacroChoices, WhatIsNotAsked_IsNotNoted) {
  EXPECT_EQ(Reads("int x;"), "");
  EXPECT_EQ(Reads("#define A FOG"), "");                              // never used
  EXPECT_EQ(Reads("// FOG\n\"FOG\""), "");                            // no tokens
  EXPECT_EQ(Reads("#if 0\nFOG\n#ifdef LIGHTS\n#endif\n#endif"), "");  // skipped
  EXPECT_EQ(Reads("#ifdef FOG\n#else\nLIGHTS\n#endif"), "FOG");
}

TEST(MacroChoices, AskedTwice_IsNotedOnce) {
  EXPECT_EQ(Reads("FOG FOG\n#ifdef FOG\n#endif"), "FOG");
}

TEST(MacroChoices, NoChoices_NothingIsNoted) { EXPECT_EQ(Reads("FOG", {}), ""); }

TEST(MacroChoices, ValuesAreDefined) {
  EXPECT_EQ(TestRun("FOG LIGHTS SHADOWS", kChoices).Tokens(), "1 4 SHADOWS");
}

TEST(MacroChoices, ProbeHasTheValue) {
  const TestRun run("LIGHTS", kChoices);
  ASSERT_EQ(run.stream().probes.size(), 1u);
  EXPECT_EQ(run.stream().probes[0].digest, DigestOf(std::string_view("4")));
}

TEST(MacroChoices, KeywordMayBeAMacro) {
  const Settings keyword{.macros = {{.name = "inline", .value = "static"}}};
  EXPECT_EQ(Reads("inline int x;", keyword), "inline");
  EXPECT_EQ(TestRun("inline int x;", keyword).Tokens(), "static int x ;");
}

TEST(MacroChoices, UndefinedChoice_IsNoNameThatCountsAsZero) {
  const TestRun run("#if SHADOWS + OTHER\n#endif", kChoices);
  ASSERT_EQ(run.stream().undefined_names.size(), 1u);
  EXPECT_EQ(run.stream().symbols.Text(run.stream().undefined_names[0].symbol), "OTHER");
}

TEST(MacroChoices, FindMacro_ByName) {
  EXPECT_EQ(FindMacro(kChoices.macros, "LIGHTS")->value, "4");
  EXPECT_EQ(FindMacro(kChoices.macros, "LIGHT"), nullptr);
  EXPECT_EQ(FindMacro({}, "LIGHTS"), nullptr);
}

}  // namespace
}  // namespace kiln::hlsl
