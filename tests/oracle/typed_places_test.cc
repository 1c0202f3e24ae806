// SPDX-License-Identifier: MIT
// Parameters that stand for one thing: versions of functions by what calls name. See docs/IR.md,
// "Place parameters".
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ir/text/print_specialised.h"
#include "tests/support/built_variant.h"

namespace kiln {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kHead = R"(module hlsl 6 typed
cexpr ?1 = literal uint 4
buffer read_write_storage shared @a {
  n : u1
  items : u1[?1]
  rows : u1[?1][?1]
}
buffer read_only_storage shared @b {
  items : u1[?1]
}
private @own : u1[?1]
image read_only material @maps : image_color_2d[?1]
sampler material @linear : sampler
function @first(place $items : u1[?1], in $at : u1) -> u1 {
  %1 = local $items : u1[?1]
  %2 = param $at : u1
  %3 = access %1 [%2] : u1
  %4 = load %3 : u1
  return %4
}
function @second(in $at : u1, place $items : u1[?1]) -> u1 {
  %1 = local $items : u1[?1]
  %2 = param $at : u1
  %3 = call @first [%1, %2] : u1
  return %3
}
function @look(place $map : image_color_2d, place $with : sampler) -> f4 {
  %1 = local $map : image_color_2d
  %2 = local $with : sampler
  %3 = const f2 {f1 0.5, f1 0.5}
  %4 = const f1 0.0
  %5 = image sample %1, %2, %3 lod %4 : f4
  return %5
}
)";

BuiltVariant Built(std::string_view body, std::string_view more = "") {
  return BuiltVariant({.entries = {"compute:main"},
                       .environment = "vulkan1.1",
                       .modules = {std::string(kHead) + std::string(more) +
                                   "function @main() -> void {\n" + std::string(body) + "}\n"}});
}

std::string Specialised(std::string_view body, std::string_view more = "") {
  const BuiltVariant variant = Built(body, more);
  EXPECT_TRUE(variant.ok()) << variant.messages() << body;
  return variant.ok() ? ir::Print(variant.specialised()) : "";
}

constexpr std::string_view kRoots = R"(  %1 = global none @a : @a
  %2 = const u1 0
  %3 = const u1 1
  %4 = const u1 2
  %5 = access %1 [%2] : u1
  %6 = access %1 [%3] : u1[?1]
  %7 = access %1 [%4, %3] : u1[?1]
  %8 = global none @b : @b
  %9 = access %8 [%2] : u1[?1]
  %10 = global none @own : u1[?1]
)";

size_t Count(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(TypedPlaces, EachThing_HasAVersion) {
  const std::string text = Specialised(std::string(kRoots) + R"(  %11 = call @first [%6, %2] : u1
  %12 = call @first [%7, %2] : u1
  %13 = call @first [%9, %2] : u1
  %14 = call @first [%10, %2] : u1
  %15 = call @first [%6, %3] : u1
  store %5, %15
)");
  EXPECT_EQ(Count(text, "  function @first"), 4U) << text;
  EXPECT_THAT(text, AllOf(HasSubstr("function @first(in $at : u1) -> u1"),
                          HasSubstr("global none @own : u1[4]"), Not(HasSubstr("$items"))));
}

// A parameter is handed on, and what it stands for with it.
TEST(TypedPlaces, Parameters_AreHandedOn) {
  const std::string text = Specialised(std::string(kRoots) + R"(  %11 = call @second [%2, %7] : u1
  %12 = call @first [%7, %2] : u1
  store %5, %11
)");
  EXPECT_EQ(Count(text, "  function @first"), 1U) << text;
  EXPECT_EQ(Count(text, "  function @second"), 1U) << text;
}

TEST(TypedPlaces, ItemsOfImageArrays_ArePlaces) {
  const BuiltVariant variant =
      Built(std::string(kRoots) + R"(  %11 = global none @maps : image_color_2d[?1]
  %12 = access %11 [%3] : image_color_2d
  %13 = global none @linear : sampler
  %14 = call @look [%12, %13] : f4
  %15 = extract %14, 0 : f1
  %16 = convert %15 : u1
  store %5, %16
)");
  ASSERT_TRUE(variant.ok()) << variant.messages();
  EXPECT_THAT(ir::Print(variant.specialised()), HasSubstr("function @look() -> f4"));
}

TEST(TypedPlaces, WhatIsNotOneThing_IsRefused) {
  for (const auto& [body, expected] :
       {std::pair("  %11 = temp : u1[?1]\n  %12 = call @first [%11, %2] : u1\n",
                  "a place parameter takes what lies outside of functions"),
        std::pair("  %11 = load %5 : u1\n  %12 = access %1 [%4, %11] : u1[?1]\n"
                  "  %13 = call @first [%12, %2] : u1\n",
                  "a place parameter takes constant indices alone"),
        std::pair("  %11 = call @first [%5, %2] : u1\n", "type of an argument")}) {
    const BuiltVariant variant = Built(std::string(kRoots) + body);
    EXPECT_FALSE(variant.ok());
    EXPECT_THAT(variant.messages(), HasSubstr(expected));
  }
  const BuiltVariant entry({.entries = {"compute:first"}, .modules = {std::string(kHead)}});
  EXPECT_THAT(entry.messages(), HasSubstr("HLSL5009 'items' of type 'u1[4]' cannot cross stages"));
}

// Each function calls the one before it with two rows of what it was given.
TEST(TypedPlaces, VersionsAreBounded) {
  std::string more = "cexpr ?2 = literal uint 2\n";
  std::string type = "u1[?2]";
  more += "function @f0(place $x : u1) -> void {\n}\n";
  std::string inner = "u1";
  for (uint32_t i = 1; i <= 16; ++i) {
    const std::string outer = inner + "[?2]";
    const std::string n = std::to_string(i);
    more += "function @f" + n + "(place $x : " + outer + ") -> void {\n  %1 = local $x : " + outer +
            "\n  %2 = const u1 0\n  %3 = const u1 1\n  %4 = access %1 [%2] : " + inner +
            "\n  %5 = access %1 [%3] : " + inner + "\n  %6 = call @f" + std::to_string(i - 1) +
            " [%4] : void\n  %7 = call @f" + std::to_string(i - 1) + " [%5] : void\n}\n";
    inner = outer;
  }
  more += "private @deep : " + inner + "\n";
  const BuiltVariant variant =
      Built("  %1 = global none @deep : " + inner + "\n  %2 = call @f16 [%1] : void\n", more);
  EXPECT_FALSE(variant.ok());
  EXPECT_THAT(variant.messages(), HasSubstr("LIM1001"));
}

}  // namespace
}  // namespace kiln
