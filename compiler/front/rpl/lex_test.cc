// SPDX-License-Identifier: MIT
#include "compiler/front/rpl/lex.h"

#include <string>

#include <gtest/gtest.h>

namespace kiln::rpl {
namespace {

// "kind:text kind:text …" without the end, and " !RPLcode" for each error.
std::string Kinds(std::string_view text) {
  const LexResult lexed = Lex(text, 0);
  std::string out;
  for (const Token& token : lexed.tokens) {
    if (token.kind != TokenKind::kEnd) {
      const std::string_view kind = TokenKindText(token.kind);
      const std::string_view spelled = TextOf(text, token.span());
      out += (out.empty() ? "" : " ") + std::string(kind);
      out += kind == spelled ? "" : ":" + std::string(spelled);
    }
  }
  for (const Diagnostic& d : lexed.diagnostics) {
    out += (out.empty() ? "!" : " !") + std::string(CodeText(d.code));
  }
  return out;
}

TEST(Lex, Texts_GiveTokens) {
  const struct {
    std::string_view text;
    std::string_view tokens;
  } cases[] = {
      {"", ""},
      {" \t\r\n\v\f", ""},
      {"\xef\xbb\xbf x", "identifier:x"},
      {"// only a comment", ""},
      {"a// b\nc", "identifier:a identifier:c"},
      {"// caf\xc3\xa9 \xe2\x82\xac\nx", "identifier:x"},
      {"_ a_1 A9", "identifier:_ identifier:a_1 identifier:A9"},
      {"true false void True", "true false void identifier:True"},
      {"a/b", "identifier:a / identifier:b"},
      {"a.b", "identifier:a . identifier:b"},
      {"a...b", "identifier:a ... identifier:b"},
      {"a..b", "identifier:a . . identifier:b"},
      {"f1...x", "identifier:f1 ... identifier:x"},
      // longest match
      {"a<<=b", "identifier:a <<= identifier:b"},
      {"a<<b", "identifier:a << identifier:b"},
      {"a<=b", "identifier:a <= identifier:b"},
      {"a>>>b", "identifier:a >> > identifier:b"},
      {"a===b", "identifier:a == = identifier:b"},
      {"a&&&b", "identifier:a && & identifier:b"},
      {"a!=!b", "identifier:a != ! identifier:b"},
      {"a--b", "identifier:a - - identifier:b"},
      // a sign is never part of a literal
      {"x-1", "identifier:x - decimal:1"},
      {"x-1.5", "identifier:x - float:1.5"},
      // strings are not unescaped and end on their line
      {R"("a\"b")", R"(string:"a\"b")"},
      {R"("" "//")", R"(string:"" string:"//")"},
      {"\"caf\xc3\xa9\"", "string:\"caf\xc3\xa9\""},
      {R"("\\" x")", R"(string:"\\" x")"},
      {"\"a\r\nb", "string:\"a identifier:b !RPL1003"},
      {"\"", "string:\" !RPL1003"},
      {"\"a\\\"", "string:\"a\\\" !RPL1003"},
      // numbers
      {"0 00012 1u 1s", "decimal:0 decimal:00012 unsigned:1u signed:1s"},
      {"0x1F 0b10 0x1f", "hexadecimal:0x1F binary:0b10 hexadecimal:0x1f"},
      {"1.0 00.5", "float:1.0 float:00.5"},
      {"1u.x", "unsigned:1u . identifier:x"},
      {"1.5.x", "float:1.5 . identifier:x"},
      {"4294967295u 0xFFFFFFFF", "unsigned:4294967295u hexadecimal:0xFFFFFFFF"},
      {"2147483648", "decimal:2147483648"},
      {"4294967296u", "unsigned:4294967296u !RPL1006"},
      {"2147483649", "decimal:2147483649 !RPL1006"},
      {"8589934593s", "signed:8589934593s !RPL1006"},
      {"0x100000000", "hexadecimal:0x100000000 !RPL1006"},
      {"1x", "decimal:1x !RPL1004"},
      {"1_000", "decimal:1_000 !RPL1004"},
      {"1uu", "decimal:1uu !RPL1004"},
      {"0x", "hexadecimal:0x !RPL1004"},
      {"0xG", "hexadecimal:0xG !RPL1004"},
      {"0b102", "binary:0b102 !RPL1004"},
      {"0x1u", "hexadecimal:0x1u !RPL1004"},
      {"1.5f", "float:1.5f !RPL1004"},
      {"1e5", "decimal:1e5 !RPL1004"},
      {"1.2.3.4", "float:1.2.3.4 !RPL1004"},
      {"1.", "float:1. !RPL1005"},
      {"1.e5", "float:1.e5 !RPL1005"},
      {".5", "float:.5 !RPL1005"},
      {"a .5", "identifier:a float:.5 !RPL1005"},
      {"a.5", "identifier:a . decimal:5"},
      {"1...2", "float:1. . float:.2 !RPL1005 !RPL1005"},
      // anything else
      {"a @ b", "identifier:a error:@ identifier:b !RPL1002"},
      {"\xc3\xa9", "!RPL1002"},
      {"a\xc3", "!RPL1001"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Kinds(c.text), c.tokens) << c.text;
  }
}

TEST(Lex, ZeroByte_IsUnexpected) {
  const std::string text("a\0b", 3);
  const LexResult lexed = Lex(text, 0);
  ASSERT_EQ(lexed.diagnostics.size(), 1u);
  EXPECT_EQ(Message(lexed.diagnostics[0]), "unexpected character '\\x00'");
  EXPECT_EQ(lexed.tokens.size(), 3u) << "it is no token";
}

TEST(Lex, Literals_HaveTheirBits) {
  const LexResult lexed = Lex("7 8u 9s 0x1F 0b101 1.5 2147483648", 0);
  const uint32_t values[] = {7, 8, 9, 31, 5, 0x3fc00000u, 0x80000000u};
  for (size_t i = 0; i < std::size(values); ++i) {
    EXPECT_EQ(lexed.tokens[i].value, values[i]) << i;
  }
}

TEST(Lex, EqualSpellings_AreOneSymbol) {
  const std::string text = "abcdefghij abcdefghik abcdefghij \"abcdefghij\" a";
  const LexResult lexed = Lex(text, 0);
  EXPECT_EQ(lexed.tokens[0].value, lexed.tokens[2].value);
  EXPECT_EQ(lexed.tokens[0].value, lexed.tokens[3].value);
  EXPECT_NE(lexed.tokens[0].value, lexed.tokens[1].value);
  EXPECT_EQ(lexed.symbols.size(), 3u);
}

TEST(Lex, ManySymbols_StayDistinct) {
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    text += "name" + std::to_string(i) + " ";
  }
  const LexResult lexed = Lex(text + text, 0);
  ASSERT_EQ(lexed.symbols.size(), 5000u);
  for (uint32_t i = 0; i < 10000; ++i) {
    EXPECT_EQ(lexed.tokens[i].value, i % 5000);
  }
}

TEST(Lex, SizeLimit_IsExact) {
  const uint32_t most = LanguageLimits{}.source_bytes;
  EXPECT_TRUE(Lex(std::string(most, ' '), 0).diagnostics.empty());
  const LexResult large = Lex(std::string(most + 1, ' '), 0);
  ASSERT_EQ(large.diagnostics.size(), 1u);
  EXPECT_EQ(large.diagnostics[0].code, Code::kRpl1008);
  EXPECT_EQ(Message(large.diagnostics[0]), "source has 4194305 bytes, the limit is 4194304");
  EXPECT_EQ(large.tokens.size(), 1u);
}

TEST(LookUpWord, Texts_GiveMeanings) {
  EXPECT_EQ(LookUpWord("conditional").keyword, Keyword::kConditional);
  EXPECT_EQ(LookUpWord("f3x3").type, InbuiltType::kF3x3);
  EXPECT_EQ(LookUpWord("b2").type_version, 2);
  EXPECT_EQ(LookUpWord("sampler").type, InbuiltType::kSampler);
  const struct {
    std::string_view text;
    bool inbuilt;
  } functions[] = {
      {"pi", true},
      {"sample", true},
      {"sample_dref", true},
      {"min_f1", true},
      {"min_u4", true},
      {"min_s2", true},
      {"min_f3x3", false},
      {"min", false},
      {"abs_u1", false},
      {"cross_f3", true},
      {"cross_f2", false},
      {"length_f1", false},
      {"dot_f2", true},
      {"transpose_matrix_f4x4", true},
      {"transpose_matrix_f4", false},
      {"atan2_f1", true},
      {"inverse_sqrt_f1", true},
      {"inverse_f3x3", true},
      {"inverse_f3", false},
      {"fragment_stage_discard", true},
      {"_f1", false},
      {"min_", false},
      {"min__f1", false},
      {"round_even_f2", true},
  };
  for (const auto& c : functions) {
    EXPECT_EQ(LookUpWord(c.text).function.has_value(), c.inbuilt) << c.text;
  }
  EXPECT_EQ(LookUpWord("min_u3").function->suffix, InbuiltType::kU3);
  EXPECT_EQ(LookUpWord("sample_lod").function->version, 2);
}

// Every family exists with every suffix that builtins.def gives it, under the name of spec/rpl 6;
// those of typed modules alone have no name here, so they hide and reserve nothing.
TEST(LookUpWord, EveryFamilyWithEverySuffix_IsFound) {
  for (uint32_t b = 0; b < ir::kBuiltinCount; ++b) {
    const auto builtin = static_cast<ir::Builtin>(b);
    const ir::BuiltinFacts& facts = ir::FactsOf(builtin);
    if (facts.types == ir::BuiltinTypes::kNone) {
      EXPECT_TRUE(LookUpWord(facts.name).function.has_value()) << facts.name;
      continue;
    }
    for (auto type = InbuiltType::kF1; type <= InbuiltType::kF4x4;
         type = static_cast<InbuiltType>(static_cast<int>(type) + 1)) {
      const std::string name = std::string(facts.name) + "_" + std::string(TypeName(type));
      const bool exists =
          !ir::IsOfTypedModules(builtin) && ir::ExistsFor(facts.types, TypeOf(type));
      EXPECT_EQ(LookUpWord(name).function.has_value(), exists) << name;
    }
  }
}

}  // namespace
}  // namespace kiln::rpl
