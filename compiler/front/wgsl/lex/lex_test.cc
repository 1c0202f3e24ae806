// SPDX-License-Identifier: MIT
#include "compiler/front/wgsl/lex/lex.h"

#include <string>

#include <gtest/gtest.h>

namespace kiln::wgsl::front {
namespace {

// Texts of tokens; those of template lists as ⟨ and ⟩.
std::string TokensOf(std::string_view text) {
  const LexResult read = Lex(text, 0);
  std::string out;
  for (uint32_t i = 0; i + 1 < read.stream.tokens.size(); ++i) {
    const TokenKind kind = read.stream.KindOf(i);
    out += (out.empty() ? "" : " ") + (kind == TokenKind::kTemplateOpen ? std::string("⟨")
                                       : kind == TokenKind::kTemplateClose
                                           ? std::string("⟩")
                                           : std::string(read.stream.Text(i)));
  }
  return out;
}
std::string ErrorOf(std::string_view text) {
  const LexResult read = Lex(text, 0);
  return read.diagnostics.empty() ? "" : std::string(CodeText(read.diagnostics[0].code));
}

TEST(WgslLex, TemplateLists_AreFoundByBrackets) {
  const struct {
    std::string_view text, tokens;
  } kRows[] = {
      {"array<f32>", "array ⟨ f32 ⟩"},
      {"array<vec2<f32>>", "array ⟨ vec2 ⟨ f32 ⟩ ⟩"},
      {"a < b", "a < b"},
      {"a<b", "a < b"},
      {"a < b && c > d", "a < b && c > d"},
      {"a < b || c > d", "a < b || c > d"},
      {"a<b>c", "a ⟨ b ⟩ c"},
      {"f(a<b, c>d)", "f ( a ⟨ b , c ⟩ d )"},
      {"f(a<b, (c>d))", "f ( a < b , ( c > d ) )"},
      {"a<b; c>d", "a < b ; c > d"},
      {"a<b = c>d", "a < b = c > d"},
      {"a<b == c>", "a ⟨ b == c ⟩"},
      {"a<(b>c)>", "a ⟨ ( b > c ) ⟩"},
      {"a[b<c]>d", "a [ b < c ] > d"},
      {"a << b", "a << b"},
      {"a <= b", "a <= b"},
      {"a >> b", "a >> b"},
      {"a >>= b", "a >>= b"},
      {"a >= b", "a >= b"},
      {"array<f32,4>=x", "array ⟨ f32 , 4 ⟩ = x"},
      {"var<storage, read_write> x", "var ⟨ storage , read_write ⟩ x"},
      {"1 < 2 > 3", "1 < 2 > 3"},
      {"a<b<c>>>d", "a ⟨ b ⟨ c ⟩ ⟩ > d"},
      {"if a < b { c > d }", "if a < b { c > d }"},
      {"a:b<c>", "a : b ⟨ c ⟩"},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(TokensOf(row.text), row.tokens) << row.text;
  }
}

TEST(WgslLex, Numbers_AreWholeOrWrong) {
  for (const std::string_view text :
       {"0", "7", "10u", "0i", "0x1F", "0XffU", "1.5", ".5", "1.", "1e5", "1E-5f", "0f", "3h",
        "0x1p4", "0x1.8p-1f", "0x.8", "1.5h", "2e+3"}) {
    const bool upper = text == "0XffU";
    EXPECT_EQ(ErrorOf(text), upper ? "WGSL1002" : "") << text;
  }
  for (const std::string_view text :
       {"012", "1uu", "0x", "1.5i", "1e", "1.5g", "0b1", "00", "1u2", "0x1p", "1.5.5"}) {
    EXPECT_EQ(ErrorOf(text), "WGSL1002") << text;
  }
  EXPECT_EQ(TokensOf("a.x1e5"), "a . x1e5");
  EXPECT_EQ(TokensOf("1+2-3.5e-1"), "1 + 2 - 3.5e-1");
}

TEST(WgslLex, Names_AreOfUnicode) {
  EXPECT_EQ(TokensOf("Δέλτα réflexion _a a_1 _"), "Δέλτα réflexion _a a_1 _");
  EXPECT_EQ(ErrorOf("Δέλτα"), "");
  EXPECT_EQ(ErrorOf("__a"), "WGSL1003");
  EXPECT_EQ(ErrorOf("enum"), "WGSL1003");
  EXPECT_EQ(ErrorOf("\xff"), "WGSL1001");
}

TEST(WgslLex, Comments_NestAndEnd) {
  EXPECT_EQ(TokensOf("a /* b /* c */ d */ e // f\ng"), "a e g");
  EXPECT_EQ(TokensOf("a // b\xe2\x80\xa8 c"), "a c");
  EXPECT_EQ(ErrorOf("a /* b /* c */"), "WGSL1001");
}

TEST(WgslLex, Limits_AreTold) {
  LanguageLimits limits;
  limits.tokens = 3;
  EXPECT_TRUE(Lex("a b c", 0, limits).diagnostics.empty());
  EXPECT_EQ(Lex("a b c d", 0, limits).diagnostics[0].code, Code::kWgsl1007);
  limits.identifier = 4;
  EXPECT_TRUE(Lex("abcd", 0, limits).diagnostics.empty());
  EXPECT_EQ(Lex("abcde", 0, limits).diagnostics[0].code, Code::kWgsl1007);
}

}  // namespace
}  // namespace kiln::wgsl::front
