// SPDX-License-Identifier: MIT
// Any text gives tokens with places and messages with places: cut, mutated and random sources.
// Equal inputs give equal outputs.
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "compiler/front/hlsl/preprocess/dump.h"
#include "compiler/front/hlsl/preprocess/test_run.h"

namespace kiln::hlsl {
namespace {

constexpr std::string_view kSource = R"(
#ifndef COMMON
#define COMMON
#define OTHER_FILE "other.h"
#include OTHER_FILE
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define STR(x) #x
#define LOG(fmt, ...) log(fmt, ##__VA_ARGS__)
#define COUNT 4u
#if defined(COUNT) && (COUNT + 1) * 2 == 10 || !OTHER
  float4 CAT(color, __LINE__) = MAX(1.0f, .5) * 1.xxx;
#elif COUNT > 3
  #error "too many"
#else
  LOG("x", 1, (2, 3)) STR(a "b\n" c)
#endif
#pragma pack_matrix(row_major)
#line 40 "gen.hlsl"
[[vk::binding(3, 1)]] Texture2D<float4> t : register(t0); // comment
/* block */ int a = 0x1F << 3, b = a++ + --a;
#undef MAX
#include <other.h>
MAX(1, 2) OTHER_F(x)(y)
#endif
)";
constexpr std::string_view kOther =
    "#pragma once\n#define OTHER 0\n#define OTHER_F(x) [x] OTHER_F\n";

void ExpectAnswer(const std::string& text) {
  Settings settings;
  settings.include_roots = {""};
  const TestFiles files{{"root.hlsl", text}, {"other.h", std::string(kOther)}};
  const TestRun run(files, settings);
  const TokenStream& stream = run.stream();
  uint32_t end = 0;
  for (const ModuleFile& file : stream.files) {
    end = file.first + file.size;
  }
  ASSERT_EQ(stream.tokens.back().kind, TokenKind::kEnd) << text;
  for (const Token& token : stream.tokens) {
    ASSERT_LE(stream.origins.WrittenAt(token.origin).end, end) << text;
    ASSERT_LT(token.symbol, stream.symbols.size()) << text;
    ASSERT_EQ(token.flags & ~Token::kLayout, 0) << text;
    ASSERT_NE(token.kind, TokenKind::kUnknown) << text;
    ASSERT_NE(token.kind, TokenKind::kParameter) << text;
    ASSERT_NE(token.kind, TokenKind::kNothing) << text;
  }
  for (const Diagnostic& d : run.diagnostics()) {
    ASSERT_LE(d.primary.bytes.begin, d.primary.bytes.end) << text;
    ASSERT_LE(d.primary.bytes.end, end) << text;
  }
  const std::string messages = run.Messages();
  const std::string dump = DumpPreprocessed(stream, *run.set().Find("root.hlsl"), run.set());
  const TestRun again(files, settings);
  ASSERT_EQ(again.Messages(), messages);
  ASSERT_EQ(DumpPreprocessed(again.stream(), *again.set().Find("root.hlsl"), again.set()), dump);
}

TEST(PreprocessRobustness, Source_IsSound) {
  Settings settings;
  settings.include_roots = {""};
  const TestRun run({{"root.hlsl", std::string(kSource)}, {"other.h", std::string(kOther)}},
                    settings);
  EXPECT_EQ(run.Messages(), "");
  EXPECT_NE(run.Tokens().find("float4 color13 = ( ( 1.0f ) > ( .5 )"), std::string::npos)
      << run.Tokens();
}

TEST(PreprocessRobustness, CutSources_AreAnswered) {
  for (size_t size = 0; size <= kSource.size(); ++size) {
    ExpectAnswer(std::string(kSource.substr(0, size)));
    ExpectAnswer(std::string(kSource.substr(size)));
  }
}

TEST(PreprocessRobustness, MutatedSources_AreAnswered) {
  const std::string pieces[] = {"(",
                                ")",
                                ",",
                                "#",
                                "##",
                                "\n",
                                "\\\n",
                                "\"",
                                "/*",
                                "*/",
                                "//",
                                "MAX",
                                "CAT(",
                                "STR",
                                "OTHER_F",
                                "__VA_ARGS__",
                                "defined",
                                "#define",
                                "#if ",
                                "#else",
                                "#elif",
                                "#endif",
                                "#include \"root.hlsl\"",
                                "#undef ",
                                "__LINE__",
                                "__FILE__",
                                "#line 3",
                                "...",
                                "@",
                                "\xc3\xa9",
                                "\xff",
                                "1e",
                                " "};
  std::mt19937 random(20261124);
  for (int i = 0; i < 6000; ++i) {
    std::string mutated(kSource);
    for (uint32_t changes = 1 + random() % 3; changes > 0; --changes) {
      const size_t at = random() % mutated.size();
      const std::string& piece = pieces[random() % std::size(pieces)];
      mutated.replace(at, random() % 4, piece);
    }
    ExpectAnswer(mutated);
  }
}

TEST(PreprocessRobustness, RandomPieces_AreAnswered) {
  const std::string pieces[] = {
      "#define ", "A",  "B", "F",          "(",    ")",        ",",           "x",   "##",    "#",
      "\n",       "\n", " ", "#undef A\n", "#if ", "#endif\n", "__VA_ARGS__", "...", "\"s\"", "1"};
  std::mt19937 random(7);
  for (int i = 0; i < 6000; ++i) {
    std::string text;
    for (uint32_t count = random() % 60; count > 0; --count) {
      text += pieces[random() % std::size(pieces)];
    }
    ExpectAnswer(text);
  }
}

}  // namespace
}  // namespace kiln::hlsl
