// SPDX-License-Identifier: MIT
#include "compiler/front/hlsl/module/index.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace kiln::hlsl {
namespace {

std::string TextOfIndex(const std::string& text, const std::string& included = {}) {
  SourceSet files;
  files.Add(SourceFile("i.hlsli", included));
  const std::optional<front::SourceIndex> index = MakeIndex(SourceFile("a.hlsl", text), files, {});
  return index.has_value() ? IndexText(*index) : "none";
}

// Each symbol with the bytes where it is declared and mentioned.
TEST(HlslIndex, Names_MeanWhatTheCheckFound) {
  struct Row {
    std::string source;
    std::string index;
  };
  const Row rows[] = {
      {"static const float a = 1;\nfloat f() { return a; }\n",
       "constant a: static const float @19 @45\nfunction f: float @32\n"},
      {"struct S { float3 n; float2 u; };\nfloat f(S s) { return s.n.x; }\n",
       "struct S @7 @42\n  member n: float3 @18 @58\n  member u: float2 @28\n"
       "function f: float @40\n  parameter s: S @44 @56\n"},
      {"cbuffer B { float4 t; };\nfloat4 f() { return t; }\n",
       "block B @8\n  member t: float4 @19 @45\nfunction f: float4 @32\n"},
      {"float g(int a) { return 1; }\nfloat g(float a) { return 2; }\nfloat f() { return g(1.0); "
       "}\n",
       "function g: float @6\n  parameter a: int @12\nfunction g: float @35 @79\n"
       "  parameter a: float @43\nfunction f: float @66\n"},
      {"namespace n { static const int c = 1; }\nint f() { int x = n::c; return x; }\n",
       "namespace n @10 @58\n  constant c: static const int @31 @61\nfunction f: int @44\n"
       "  local x: int @54 @71\n"},
      {"enum E { A, B };\nE f() { return B; }\n",
       "enum E @5 @17\n  enumerator A @9\n  enumerator B @12 @32\nfunction f: E @19\n"},
      // What a macro makes is no mention, what it is given is one.
      {"#define TWICE(x) (x + x)\nfloat f(float a) { return TWICE(a); }\n",
       "function f: float @31\n  parameter a: float @39 @57\n"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(TextOfIndex(row.source), row.index) << row.source;
  }
}

// A type of long text is kept once for all that is declared with it.
TEST(HlslIndex, TypeOfManyDeclarators_IsThereOnce) {
  constexpr size_t kCount = 2000;
  const std::string type(1000, 'L');
  std::string text = "typedef float " + type + ";\nstatic " + type + " a0";
  for (size_t i = 1; i < kCount; ++i) {
    text += ",a" + std::to_string(i);
  }
  text += ";\nstruct S { " + type + " b; };\n";
  SourceSet files;
  const std::optional<front::SourceIndex> index = MakeIndex(SourceFile("a.hlsl", text), files, {});
  ASSERT_TRUE(index.has_value());
  EXPECT_LE(index->types.size(), 4u);
  size_t shown = 0;
  for (const front::IndexedSymbol& symbol : index->symbols) {
    shown = std::max(shown, symbol.text.size());
  }
  EXPECT_LE(shown, front::kMostShown);
  EXPECT_LT(index->bytes, kCount * 800);
}

// Bytes go on in the files that are included.
TEST(HlslIndex, IncludedName_IsWhereItsFileIs) {
  const std::string root = "#include \"i.hlsli\"\nfloat f() { return a; }\n";
  const std::string at = std::to_string(root.size() + 1 + 19);
  EXPECT_EQ(TextOfIndex(root, "static const float a = 1;"),
            "constant a: static const float @38 @" + at + "\nfunction f: float @25\n");
}

TEST(HlslIndex, SyntaxErrorOrMissingFile_HasNone) {
  EXPECT_EQ(TextOfIndex("float f( { }"), "none");
  EXPECT_EQ(TextOfIndex("#include \"gone.hlsli\"\nstatic const int a = 1;"), "none");
  EXPECT_EQ(TextOfIndex(""), "");
}

TEST(HlslIndex, NamesOfTheLanguage_AreThoseOfTheTables) {
  const auto has = [](const std::vector<std::string>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  EXPECT_TRUE(has(Keywords(), "cbuffer"));
  EXPECT_TRUE(has(InbuiltTypes(), "Texture2D") && has(InbuiltTypes(), "float4x4"));
  EXPECT_TRUE(has(InbuiltFunctions(), "saturate"));
  EXPECT_FALSE(has(Keywords(), "("));
}

}  // namespace
}  // namespace kiln::hlsl
