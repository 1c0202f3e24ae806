// SPDX-License-Identifier: MIT
#include "compiler/front/wgsl/module/index.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "compiler/base/text/utf8.h"

namespace kiln::wgsl::front {
namespace {

std::string TextOfIndex(const std::string& text) {
  const std::optional<kiln::front::SourceIndex> index = MakeIndex(SourceFile("a.wgsl", text));
  return index.has_value() ? IndexText(*index) : "none";
}

// Each symbol with the bytes where it is declared and mentioned.
TEST(WgslIndex, Names_MeanWhatTheCheckFound) {
  struct Row {
    std::string source;
    std::string index;
  };
  const Row rows[] = {
      {"const a = 1;\nconst b: i32 = a;\n", "constant a @6 @28\nconstant b: i32 @19\n"},
      {"alias t = vec3<f32>;\nvar<private> v: t;\n",
       "alias t: vec3<f32> @6 @37\nvariable v: t @34\n"},
      {"struct s { a: f32, b: u32 }\nfn f(p: s) -> f32 { return p.a; }\n",
       "struct s @7 @36\n  member a: f32 @11 @57\n  member b: u32 @19\n"
       "function f: f32 @31\n  parameter p: s @33 @55\n"},
      {"fn f() { let a = 1; { let a = 2u; _ = a; } _ = a; }\n",
       "function f @3\n  local a: i32 @13 @47\n  local a: u32 @26 @38\n"},
      {"fn g() { f(); }\nfn f() { }\n", "function g @3\nfunction f @9 @19\n"},
      {"override o: bool;\nfn f() { if (o) { } }\n", "option o: bool @9 @31\nfunction f @21\n"},
      // A mistake of types leaves the names of others.
      {"const a = 1;\nfn f() { let b: bool = a; }\n",
       "constant a @6 @36\nfunction f @16\n  local b: bool @26\n"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(TextOfIndex(row.source), row.index) << row.source;
  }
}

TEST(WgslIndex, SyntaxError_HasNone) {
  EXPECT_EQ(TextOfIndex("fn f( { }"), "none");
  EXPECT_EQ(TextOfIndex("const a = 0x;"), "none");
  EXPECT_EQ(TextOfIndex(""), "");
}

// A type that is inferred for a thousand names is kept once.
TEST(WgslIndex, TypeOfManyNames_IsThereOnce) {
  constexpr size_t kCount = 1000;
  std::string type = "f32";
  for (int i = 0; i < 5; ++i) {
    type = "array<" + type + ", 2>";
  }
  std::string text = "fn f(b: " + type + ") {";
  for (size_t i = 0; i < kCount; ++i) {
    text += " let a" + std::to_string(i) + " = b;";
  }
  const std::optional<kiln::front::SourceIndex> index =
      MakeIndex(SourceFile("a.wgsl", text + " }"));
  ASSERT_TRUE(index.has_value());
  EXPECT_EQ(index->symbols.size(), kCount + 2);
  EXPECT_EQ(index->TypeOf(index->symbols.back()), type);
  EXPECT_LE(index->types.size(), 2u);
  EXPECT_LT(index->bytes, kCount * 600);
}

// What is shown of a declaration ends with a whole character.
TEST(WgslIndex, TextOfLongNames_IsCutBetweenCharacters) {
  for (size_t before = 180; before < 210; ++before) {
    std::string name(before, 'a');
    for (int i = 0; i < 40; ++i) {
      name += "\xc3\xa4";
    }
    const std::optional<kiln::front::SourceIndex> index =
        MakeIndex(SourceFile("a.wgsl", "const " + name + " = 1;"));
    ASSERT_TRUE(index.has_value());
    const std::string& text = index->symbols.front().text;
    EXPECT_LE(text.size(), kiln::front::kMostShown);
    EXPECT_EQ(FindInvalidUtf8(text), text.size());
  }
}

TEST(WgslIndex, At_IsTheMentionThatCoversOrEnds) {
  const std::optional<kiln::front::SourceIndex> index =
      MakeIndex(SourceFile("a.wgsl", "const abc = 1;"));
  ASSERT_TRUE(index.has_value());
  for (const uint32_t offset : {6u, 7u, 9u}) {
    EXPECT_NE(index->At(offset), nullptr) << offset;
  }
  for (const uint32_t offset : {0u, 5u, 10u, 99u}) {
    EXPECT_EQ(index->At(offset), nullptr) << offset;
  }
}

TEST(WgslIndex, NamesOfTheLanguage_AreThoseOfTheTables) {
  const auto has = [](const std::vector<std::string_view>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  EXPECT_TRUE(has(Keywords(), "override"));
  EXPECT_TRUE(has(InbuiltFunctions(), "textureSample") && has(InbuiltFunctions(), "abs"));
  EXPECT_FALSE(has(InbuiltFunctions(), "+"));
}

// Each of them is a type to the check: alone, with a scalar, or with what it needs.
TEST(WgslIndex, EveryInbuiltType_IsOne) {
  for (const std::string_view name : InbuiltTypes()) {
    const std::string word(name);
    bool known = false;
    for (const char* arguments : {"", "<f32>", "<i32>", "<f32, 2>", "<function, f32>"}) {
      const std::string text = TextOfIndex("enable f16;\nalias t = " + word + arguments + ";");
      known = known || text.starts_with("alias t: " + word);
    }
    EXPECT_TRUE(known) << word;
  }
}

}  // namespace
}  // namespace kiln::wgsl::front
