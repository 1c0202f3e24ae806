// SPDX-License-Identifier: MIT
// Any text gives a tree that keeps its promises, or errors: cut, mutated and random sources.
#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "compiler/front/hlsl/syntax/dump.h"
#include "compiler/front/hlsl/syntax/parsed_source.h"
#include "compiler/front/hlsl/syntax/tree_check.h"

namespace kiln::hlsl::syntax {
namespace {

constexpr std::string_view kSource = R"(
#define TWICE(x) ((x) * 2)
enum class Tone : uint { warm, cold = 2 };
namespace fog { static const float kDensity = 0.5; struct State { float3 colour; float amount; }; }
[[kiln::option(instance)]] static const Tone kTone = Tone::warm;
struct Lamp { float3 position : POSITION; row_major float4x4 m; float get () { return position.x; } };
cbuffer View : register (b0, space1) { float4x4 to_clip; float4 eye : packoffset (c4.x); }
[[vk::binding(3, 1)]] Texture2D<float4> albedo; SamplerState s; StructuredBuffer<Lamp> lamps;
typedef vector<float, 3> vec; using rows = float[4];
groupshared uint shared_count[64];
float3 tone (float3 c, inout Lamp lamp, out float n) {
  switch (kTone) { case Tone::warm: { float3 k = max (c - 0.004, 0.0); return k / (k + 0.155); } default: break; }
  [unroll(4)] for (uint i = 0, j = 1; i < 4u && j != 7; ++i, j <<= 1) if (i & 1) continue; else n += i;
  do { n -= 1.5e-3f; } while (n > 0 ? true : !false);
  return (float3) c.zyx * TWICE (n) + vec (1, 2, 3) - fog::kDensity;
}
[numthreads(8, 8, 1)] void main (uint3 id : SV_DispatchThreadID) {
  float a[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
  a[id.x & 1][0] = (a[0][1], -a[1][2])++; if (id.x > 0x1F) return; discard;
}
)";

void ExpectAnswer(std::string_view text) {
  const ParsedSource source = ParseSource(text);
  for (const Diagnostic& d : source.parsed.diagnostics) {
    ASSERT_LE(d.primary.bytes.end, text.size() + 1) << text;
    ASSERT_LE(d.primary.bytes.begin, d.primary.bytes.end) << text;
    ASSERT_FALSE(Message(d).empty());
    for (const Label& label : d.labels) {
      ASSERT_FALSE(LabelText(label).empty());
    }
  }
  if (source.ok()) {
    ASSERT_EQ(CheckTree(source.read.stream, source.parsed.ast), "") << text;
    ASSERT_FALSE(DumpAst(source.read.stream, source.parsed.ast).empty() && text.size() > 100);
  }
}

TEST(Robustness, TheSource_IsRight) {
  const ParsedSource source = ParseSource(kSource);
  EXPECT_TRUE(source.ok()) << FoundText(kSource, source.Found());
}

TEST(Robustness, CutSources_AreAnswered) {
  for (size_t size = 0; size < kSource.size(); size += 7) {
    ExpectAnswer(kSource.substr(0, size));
    ExpectAnswer(kSource.substr(size));
  }
}

TEST(Robustness, MutatedSources_AreAnswered) {
  const std::string pieces[] = {"(",    ")",  "{",    "}",       "[",      "]",     ";",
                                ",",    ".",  "::",   "=",       "==",     "-",     "!",
                                "&&",   "1",  "u",    "2.5",     "\"",     "//",    "<",
                                ">",    ">>", "?",    ":",       "+=",     "\n",    "\xc3\xa9",
                                "\xff", "in", "else", "struct ", "float ", "case ", "[["};
  std::mt19937 random(20240711);
  for (int i = 0; i < 3000; ++i) {
    std::string mutated(kSource);
    const size_t at = random() % mutated.size();
    const std::string& piece = pieces[random() % std::size(pieces)];
    if (random() % 2 == 0) {
      mutated.insert(at, piece);
    } else {
      mutated.replace(at, random() % 12, piece);
    }
    ExpectAnswer(mutated);
  }
}

TEST(Robustness, RandomTokens_AreAnswered) {
  const std::string words[] = {"struct",  "float4",   "x",          "{",
                               "}",       "(",        ")",          ";",
                               "vector",  "<",        ">",          ">>",
                               "void",    "y",        "=",          "1.0",
                               "+",       "if",       "else",       "for",
                               "[",       "2u",       "]",          ".",
                               ",",       "cbuffer",  "enum",       "case",
                               ":",       "return",   "-",          "\"s\"",
                               "static",  "using",    "?",          "{ }",
                               "while",   "break;",   "::",         "namespace",
                               "typedef", "T",        "struct T {", "switch (x) {",
                               "do",      "register", "[[",         "]]",
                               "vk",      "template"};
  std::mt19937 random(7);
  for (int i = 0; i < 6000; ++i) {
    std::string text = random() % 2 == 0 ? "void f () { " : "";
    for (uint32_t n = random() % 60; n > 0; --n) {
      text += words[random() % std::size(words)] + " ";
    }
    ExpectAnswer(text);
  }
}

TEST(Robustness, RandomBytes_AreAnswered) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 80, '\0');
    const bool printable = random() % 4 != 0;
    std::ranges::generate(
        text, [&] { return static_cast<char>(printable ? 32 + random() % 95 : random() % 256); });
    ExpectAnswer(text);
  }
}

}  // namespace
}  // namespace kiln::hlsl::syntax
