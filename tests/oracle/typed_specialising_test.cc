// SPDX-License-Identifier: MIT
// Typed modules through specialising, layout and emission: what each decision leaves, that what is
// left verifies and is valid, and what is refused.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ir/text/print_specialised.h"
#include "tests/support/built_variant.h"

namespace kiln {
namespace {

using testing::HasSubstr;
using testing::Not;

BuiltVariant Built(const std::string& module, std::vector<std::string> options = {}) {
  return BuiltVariant({.entries = {"compute:main"},
                       .options = std::move(options),
                       .environment = "vulkan1.1",
                       .modules = {module}});
}

// The specialised form of a compute program; fails the test if there is none.
std::string Specialised(const std::string& module, std::vector<std::string> options = {}) {
  const BuiltVariant variant = Built(module, std::move(options));
  EXPECT_TRUE(variant.ok()) << variant.messages() << module;
  return variant.ok() ? ir::Print(variant.specialised()) : "";
}

std::string Messages(const std::string& module, std::vector<std::string> options = {}) {
  const BuiltVariant variant = Built(module, std::move(options));
  EXPECT_FALSE(variant.ok()) << module;
  return variant.messages();
}

constexpr std::string_view kHead = R"(module hlsl 6 typed
option global fog : flag = true
option global count : uint = 3
cexpr ?1 = name "fog"
cexpr ?2 = name "count"
cexpr ?3 = not ?1
cexpr ?4 = literal uint 4294967295
cexpr ?5 = add wrapping ?2, ?4
struct @item {
  a : f4 where ?1
  b : u4
  c : f4
}
buffer read_write_storage shared @memory {
  total : u1
  items : @item[?2]
}
private @seed : u1 = ?5
private @state : @item
function @pick(in $x : u4, in $y : f4 where ?1) -> u1 {
  %1 = param $x : u4
  %2 = extract %1, 1 : u1
  return %2
}
)";

std::string Main(std::string_view body) {
  return std::string(kHead) + "function @main() -> void {\n" + std::string(body) + "}\n";
}

constexpr std::string_view kRoot = R"(  %1 = global none @memory : @memory
  %2 = const u1 0
  %3 = access %1 [%2] : u1
)";

TEST(TypedSpecialising, CompileTimeExpressions_AreConstants) {
  const std::string body = std::string(kRoot) + "  %4 = cexpr ?5 : u1\n  store %3, %4\n";
  EXPECT_THAT(Specialised(Main(body)), HasSubstr("const u1 2\n"));
  EXPECT_THAT(Specialised(Main(body), {"count=7"}), HasSubstr("const u1 6\n"));
  EXPECT_THAT(Messages(Main(std::string(kRoot) + "  %4 = cexpr ?2 : f1\n")),
              HasSubstr("a compile-time expression of another type"));
}

TEST(TypedSpecialising, AChoice_LeavesOneBlockAndTheOtherUnseen) {
  const std::string body = std::string(kRoot) + R"(  %4 = choose ?1 : u1 {
    %5 = const u1 11
    yield %5
  } {
    fault "RPL9001" ["not in clear weather"]
    %6 = const u1 12
    yield %6
  }
  store %3, %4
)";
  const std::string text = Specialised(Main(body));
  EXPECT_THAT(text, HasSubstr("const u1 11"));
  EXPECT_THAT(text, Not(HasSubstr("const u1 12")));
  EXPECT_EQ(Messages(Main(body), {"fog=false"}), "RPL9001 internal error: not in clear weather\n");
}

TEST(TypedSpecialising, AChoiceOfPlaces_IsThePlace) {
  const std::string body = std::string(kRoot) + R"(  %4 = global none @seed : u1
  %5 = choose ?1 : u1 {
    yield %3
  } {
    yield %4
  }
  %6 = const u1 5
  store %5, %6
)";
  EXPECT_THAT(Specialised(Main(body)), HasSubstr("store %3, %"));
  EXPECT_THAT(Specialised(Main(body), {"fog=false"}), HasSubstr("store %4, %"));
}

TEST(TypedSpecialising, AWhenThatIsCut_IsARegionOfItsOwn) {
  const std::string body =
      "  when ?1 {\n" + std::string(kRoot) + "    %4 = const u1 99\n    store %3, %4\n  }\n";
  const std::string text = Specialised(Main(body));
  EXPECT_THAT(text, HasSubstr("insertion_point r1"));
  EXPECT_THAT(text, HasSubstr("const u1 99"));
  EXPECT_THAT(Specialised(Main(body), {"fog=false"}), Not(HasSubstr("const u1 99")));
}

TEST(TypedSpecialising, AWhenThatUsesValues_StaysInItsRegion) {
  const std::string body =
      std::string(kRoot) + "  %4 = const u1 99\n  when ?1 {\n    store %3, %4\n  }\n";
  EXPECT_THAT(Specialised(Main(body)),
              testing::AllOf(HasSubstr("store"), Not(HasSubstr("insertion_point"))));
  EXPECT_THAT(Specialised(Main(body), {"fog=false"}), Not(HasSubstr("store")));
}

// The second field of a struct is its first where the first is gone.
TEST(TypedSpecialising, MembersMoveUp_WhereOthersAreGone) {
  const std::string body = R"(  %1 = global none @memory : @memory
  %2 = const u1 1
  %3 = access %1 [%2, %2, %2] : u4
  %4 = load %3 : u4
  %5 = global none @state : @item
  %6 = load %5 : @item
  %7 = insert %6, %4 [1] : @item
  %8 = extract %7, 1 : u4
  %9 = extract %7, 2 : f4
  %10 = construct [%9, %8, %9] : @item
  store %5, %10
  %11 = call @pick [%8, %9] : u1
)";
  const std::string with = Specialised(Main(body));
  EXPECT_THAT(with, HasSubstr("insert %6, %4 [1] : item"));
  EXPECT_THAT(with, HasSubstr("construct [%9, %8, %9] : item"));
  EXPECT_THAT(with, HasSubstr("call @pick [%8, %9] : u1"));
  const std::string without = Specialised(Main(body), {"fog=false"});
  EXPECT_THAT(without, HasSubstr("[0] : item"));
  EXPECT_THAT(without, HasSubstr("in $x : u4) -> u1"));
  const std::string dead = std::string(kRoot) +
                           "  %4 = access %1 [%2] : u1\n  %5 = const u1 1\n"
                           "  %6 = access %1 [%5, %5, %2] : f4\n";
  EXPECT_THAT(Messages(Main(dead), {"fog=false"}), HasSubstr("a member that is not there"));
}

TEST(TypedSpecialising, PrivateVariables_AreListedWhereTheyAreUsed) {
  const std::string text =
      Specialised(Main("  %1 = global none @seed : u1\n  %2 = load %1 : u1\n"));
  EXPECT_THAT(text, HasSubstr("private @seed : u1 = u1 2"));
  EXPECT_THAT(text, Not(HasSubstr("@state")));
}

// Nothing that breaks a rule of the specialised form gets past specialising.
TEST(TypedSpecialising, WhatIsIllTyped_IsRefused) {
  for (const std::string_view body :
       {"  %1 = const u1 0\n  %2 = const f1 1.0\n  %3 = binary add %1, %2 : u1\n",
        "  %1 = const u1 0\n  store %1, %1\n", "  %1 = const u1 0\n  %2 = load %1 : u1\n",
        "  %1 = const f2 {f1 1.0}\n", "  %1 = const f2 {f1 1.0, u1 2}\n",
        "  %1 = call @pick [] : u1\n", "  %1 = temp : sampler\n",
        "  %1 = const u1 0\n  if %1 { }\n"}) {
    EXPECT_THAT(Messages(Main(body)), HasSubstr("RPL9001")) << body;
  }
}

TEST(TypedSpecialising, AttributesReachTheClosedForm) {
  const std::string text = Specialised(R"(module hlsl 6 typed
buffer uniform pass @frame register("b1", 2) binding(7, 0) {
  a : f4
  b : f4x4 offset 64 row_major
}
function @main() -> void {
  %1 = global none @frame : @frame
  %2 = const u1 1
  %3 = access %1 [%2] : f4x4
  %4 = load %3 : f4x4
}
)");
  EXPECT_THAT(text, HasSubstr("@frame register(\"b1\", 2) binding(7, 0) {"));
  EXPECT_THAT(text, HasSubstr("b : f4x4 offset 64 row_major"));
}

// The rules of RPL are those of modules that have them.
TEST(TypedSpecialising, RulesAreAskedOfModulesThatHaveThem) {
  const std::string vertex = "function @main() -> void {\n}\n";
  const auto messages = [&](std::string_view header) {
    return BuiltVariant({.entries = {"vertex:main"}, .modules = {std::string(header) + vertex}})
        .messages();
  };
  EXPECT_THAT(messages("module hlsl 6 typed rules [vertex_writes_position]\n"),
              HasSubstr("RPL5009"));
  EXPECT_THAT(messages("module hlsl 6 typed\n"), Not(HasSubstr("RPL5009")));
}

}  // namespace
}  // namespace kiln
