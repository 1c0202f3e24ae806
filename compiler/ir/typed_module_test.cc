// SPDX-License-Identifier: MIT
// Typed modules in the generic form: everything a text may say comes back, survives being saved,
// and what breaks a rule of the form is refused.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ir/module.h"
#include "compiler/ir/text/parse_generic.h"
#include "compiler/ir/text/print_generic.h"
#include "compiler/ir/verify/verify.h"

namespace kiln::ir {
namespace {

using testing::HasSubstr;

constexpr std::string_view kModule = R"(module hlsl 6 typed rules [vertex_writes_position]
option global fog : flag = true id 4
option instance quality : enum = ["low", "high"] default 1
cexpr ?1 = name "fog"
cexpr ?2 = literal uint 4
cexpr ?3 = add wrapping ?2, ?2
struct @Surface {
  color : f4
  world : f4x4 offset 64 row_major stride 16 where ?1
}
struct @Outer {
  inner : @Surface[?2]
}
buffer uniform material @lights : @Surface[?2] binding(3, 1)
buffer read_write_storage pass @memory register("u1", 0) counter(4) {
  count : u1
  items : @Outer...
}
sampler material @smp : sampler[?2] location(2)
image read_only material @tex : image(2d array ms) u1 format(r32_uint)
private @seed : u1 = ?3
private @zero : f4
function @helper(in $x : f4 semantic("TEXCOORD", 1) interpolation(flat), in $i : u1 where ?1) -> f4 location(0) {
  exit $exit
  leave $leave
  var $y : f4
  %1 = param $x : f4
  variable $y, %1
  when ?1 {
    %2 = param $x : f4
    %3 = local $y : f4
    store %3, %2
  }
  %4 = const u1 1
  switch %4 $leave {
    case u1 0, u1 1, default through {
      demote
    }
    case u1 2 {
      break $leave
    }
  }
  loop $exit unroll(4) {
  } {
    break $exit
  } {
    %5 = flag true : bool
    yield %5
  }
  return %1
}
function @"main"() -> void {
  %1 = cexpr ?3 : u1
  %2 = global none @memory : @memory
  %3 = access %2 [%1] : u1
  %4 = atomic add %3, %1 device relaxed : u1
  %5 = choose ?1 : u1 {
    yield %4
  } {
    fault "HLSL4001" ["now", "wet"]
    yield %1
  }
  %6 = const f4 {f1 1.0, f1 2.0, f1 3.0, f1 4.0}
  %7 = call @helper [%6, %5] : f4
  %8 = insert %7, %6 [1, 2] : f4
  barrier workgroup memory(workgroup, image) device
  unreachable
}
setting @"main" "cull_mode" = ?2
entry @"main" vertex where ?1
)";

TEST(TypedModule, WhatATextSays_ComesBackAndIsSaved) {
  // names that are words lose their quotes
  std::string expected(kModule);
  for (size_t at = expected.find("\"main\""); at != std::string::npos;
       at = expected.find("\"main\"")) {
    expected.replace(at, 6, "main");
  }
  const Result<Module> module = ParseModule(kModule);
  ASSERT_TRUE(module.ok()) << module.error().context;
  const Result<void> verdict = VerifyIds(module->view());
  ASSERT_TRUE(verdict.ok()) << verdict.error().context;
  const std::string text = Print(module->view());
  const Result<Module> again = ParseModule(text);
  ASSERT_TRUE(again.ok()) << again.error().context << text;
  EXPECT_EQ(Print(again->view()), text);
  const std::vector<std::byte> copy(module->image().begin(), module->image().end());
  const Result<ModuleView> opened = ModuleView::Open(copy, {});
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(Print(*opened), text);
  for (const std::string_view part :
       {"typed rules [vertex_writes_position]", "= true id 4", "default 1", "add wrapping ?2, ?2",
        "offset 64 row_major stride 16 where ?1", "@lights : @Surface[?2] binding(3, 1)",
        "register(\"u1\", 0) counter(4) {", "@smp : sampler[?2] location(2)",
        "image(2d array ms) u1 format(r32_uint)", "private @seed : u1 = ?3",
        "semantic(\"TEXCOORD\", 1) interpolation(flat)", "-> f4 location(0) {",
        "case u1 0, u1 1, default through {", "loop $exit unroll(4) {",
        "setting @main \"cull_mode\" = ?2", "entry @main vertex where ?1",
        "fault \"HLSL4001\" [\"now\", \"wet\"]", "insert %7, %6 [1, 2] : f4"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

// A `when` is cut out if it uses no value of the blocks around it, and only then.
TEST(TypedModule, AWhen_IsCutIfItUsesNoOuterValue) {
  const auto regions = [](std::string_view inside) {
    const std::string text =
        "module hlsl 1 typed\noption global fog : flag = true\n"
        "cexpr ?1 = name \"fog\"\nfunction @f(in $x : f1) -> void {\n"
        "  var $y : f1\n  variable $y, _\n  %1 = param $x : f1\n"
        "  when ?1 {\n" +
        std::string(inside) + "  }\n}\n";
    const Result<Module> module = ParseModule(text);
    EXPECT_TRUE(module.ok()) << module.error().context;
    EXPECT_TRUE(VerifyIds(module->view()).ok());
    return module->view().regions.size();
  };
  EXPECT_EQ(regions("    %2 = local $y : f1\n    store %2, %1\n"), 1u);
  EXPECT_EQ(regions("    scope {\n      %2 = local $y : f1\n      store %2, %1\n    }\n"), 1u);
  EXPECT_EQ(regions("    %2 = local $y : f1\n    %3 = const f1 1.0\n    store %2, %3\n"), 2u);
  EXPECT_EQ(regions("    return _\n"), 1u);
}

// A function without parameters whose body is `body`, behind `decls`.
std::string Function(std::string_view decls, std::string_view body) {
  return "module hlsl 1 typed\n" + std::string(decls) + "function @f() -> void {\n" +
         std::string(body) + "}\n";
}

TEST(TypedModule, WhatBreaksTheForm_IsRefusedWhenRead) {
  const struct {
    std::string text, error;
  } rows[] = {
      {Function("", "  %1 = name_ref \"x\" [] : f1\n"), "not an instruction of this form"},
      {Function("", "  %1 = io 0 : f1\n"), "not an instruction of this form"},
      {"module rpl 1\nfunction @f() -> void {\n  demote\n}\n", "not an instruction of this form"},
      {"module rpl 1\nstruct @s {\n  x : f1 offset 4\n}\n", "an attribute of an untyped module"},
      {"module rpl 1\ncexpr ?1 = literal uint 1\ncexpr ?2 = add wrapping ?1, ?1\n", "cannot wrap"},
      {Function("", "  %1 = call @g [] : void\n"), "no such declaration above"},
      {Function("private @x : @s\n", ""), "no such declaration above"},
      {Function("private @x : f1\nprivate @x : f1\n", ""), "this name is taken"},
      {Function("", "  exit $e\n  loop $e unroll(0) { } { } { }\n"), "1 to 255"},
  };
  for (const auto& row : rows) {
    const Result<Module> module = ParseModule(row.text);
    ASSERT_FALSE(module.ok()) << row.text;
    EXPECT_THAT(module.error().context, HasSubstr(row.error)) << row.text;
  }
}

TEST(TypedModule, WhatBreaksTheForm_IsRefusedWhenVerified) {
  const struct {
    std::string text, error;
  } rows[] = {
      {"module rpl 1\nprivate @x : f1\n", "a declaration of typed modules"},
      {Function("buffer uniform pass @b : f4\n", ""), "type of a declaration"},
      {Function("buffer uniform pass @b\n", ""), "type of a declaration"},
      {Function("sampler pass @s : f4\n", ""), "type of a declaration"},
      {Function("struct @s {\n  x : f1 binding(1, 1)\n}\n", ""), "value of an attribute"},
      {Function("private @x : f1 row_major\n", ""), "value of an attribute"},
      {Function("struct @s {\n  x : f1\n}\n", "  %1 = global none @s : @s\n"), "operand"},
      {Function("private @x : f1\n", "  %1 = call @x [] : f1\n"), "operand"},
      {Function("", "  %1 = const u1 0\n  %2 = insert %1, %1 [0] : u1\n"), ""},
      {Function("", "  %1 = const u1 0\n  continue _\n"), ""},
  };
  for (const auto& row : rows) {
    const Result<Module> module = ParseModule(row.text);
    ASSERT_TRUE(module.ok()) << module.error().context << row.text;
    const Result<void> verdict = VerifyIds(module->view());
    EXPECT_EQ(verdict.ok(), row.error.empty()) << row.text;
    if (!verdict.ok()) {
      EXPECT_THAT(verdict.error().context, HasSubstr(row.error)) << row.text;
    }
  }
}

// Dependencies of values have any length; only blocks are nesting.
TEST(TypedModule, LongChainsOfValues_AreNoNesting) {
  std::string body = "  %1 = const u1 1\n";
  for (uint32_t i = 2; i < 4000; ++i) {
    body += "  %" + std::to_string(i) + " = binary add %1, %" + std::to_string(i - 1) + " : u1\n";
  }
  const Result<Module> module = ParseModule(Function("", body));
  ASSERT_TRUE(module.ok()) << module.error().context;
  EXPECT_TRUE(VerifyIds(module->view()).ok());
}

}  // namespace
}  // namespace kiln::ir
