// SPDX-License-Identifier: MIT
// Whatever ends a path early, and whoever chooses it, modules are valid: what nothing reaches is
// not in them. KILN_FULL=1 in the environment tries 20,000 programs of each language.
#include <string>

#include <gtest/gtest.h>

#include "tests/integration/full_run.h"
#include "tests/property/ending_program.h"
#include "tests/property/promises.h"

namespace kiln::property {
namespace {

Verdict TryFragment(const std::string& path, const std::string& text) {
  const ShownOnCrash shows(text);
  return Try({.path = path,
              .text = text,
              .entries = {{.stage = ir::Stage::kFragment, .function = "main"}}});
}

// In HLSL the bodies of stages with an option K that is true; in WGSL the same.
std::string HlslOf(const std::string& body) {
  return "[[kiln::option(instance)]] static const bool K = true;\n"
         "[[kiln::option(instance)]] static const uint U = 3;\n"
         "void f(inout float4 p) { for (uint i = 0; i < 4; ++i) { if (K) { discard; } p += 1; } }\n"
         "float4 g(float4 p) { for (uint i = 0; i < 4; ++i) { if (K) { return p; } p += 1; } "
         "return 0; }\n"
         "float4 main(float4 p : SV_Position) : SV_Target { " +
         body + " }\n";
}
std::string WgslOf(const std::string& body) {
  return "override K : bool = true;\n@fragment fn main(@builtin(position) p : vec4f) -> "
         "@location(0) vec4f { var q = p; " +
         body + " }\n";
}

constexpr const char* kHlslBodies[] = {
    // discards that an option chooses
    "if (K) { discard; } p += 1; return p;",
    "if (p.x > 1) { if (K) { discard; } p += 1; } return p;",
    "for (uint i = 0; i < 4; ++i) { if (K) { discard; } } return p;",
    "for (uint i = 0; i < 4; ++i) { if (p.x > i) { if (K) { discard; } p += 1; } } return p;",
    "while (true) { if (K) { discard; } p += 1; if (p.x > 9) break; } return p;",
    "[unroll] for (uint i = 0; i < 4; ++i) { if (K) { discard; } p += 1; } return p;",
    "f(p); return p;",
    "discard; if (K) { p += 1; } return p;",
    "if (p.x > 2) { discard; if (K) { p += 1; } } if (K) { p += 2; } return p;",
    // ends that an option chooses
    "for (uint i = 0; i < 4; ++i) { if (K) { return p; } p += 1; } return 0;",
    "for (uint i = 0; i < 4; ++i) { if (K) { break; } p += 1; } return p;",
    "while (p.x > 0) { if (K) { return p; } p -= 1; } return 0;",
    "do { if (K) { return p; } p -= 1; } while (p.x > 0); return 0;",
    "do { if (K) continue; p -= 1; } while (p.x > 0); return 0;",
    "for (uint i = 0; i < 4; ++i) { for (uint j = 0; j < 4; ++j) { if (K) { return p; } p += 1; } "
    "} return 0;",
    "for (uint i = 0; i < 4; ++i) { switch (i) { case 0: if (K) { return p; } p += 1; break; "
    "default: p += 2; } } return 0;",
    "for (uint i = 0; i < 4; ++i) { if (K) { return p; } else { p += 2; } p += 1; } return 0;",
    "for (uint i = 0; i < 4; ++i) { if (U > 2) { return p; } p += 1; } return 0;",
    "for (uint i = 0; i < 3; ++i) { switch (K ? 1 : 2) { case 1: return p; default: p -= 1; break; "
    "} p += 1; } return 0;",
    "return g(p);",
    // a return from a loop that an option chooses, which stores what the stage puts out
    "if (K) { while (p.x > 2) { if (p.y > 1) { return p * 8; } p += 4; } } return p;",
    // ends that nothing chooses
    "for (uint i = 0; i < 4; ++i) { discard; p += 1; } return p;",
    "while (p.x > 1) { if (p.y > 2) { discard; } else { return p; } p += 1; } return p;",
    "while (p.x > 1) { if (p.y > 2) { discard; } else { break; } p += 1; } return p;",
    // a discard in what leads back to the head of a loop, and in half an operator
    "for (int i = 0; i < 4; clip(p.x), ++i) { p += 1; } return p;",
    "bool b = p.x > 1 && (clip(p.y), true); return b ? p : p.yxzw;",
};

constexpr const char* kWgslBodies[] = {
    "if K { discard; } q += 1; return q;",
    "for (var i = 0; i < 4; i++) { discard; q += 1; } return q;",
    "loop { if q.x > 1 { return q; } else { break; } q += 1; } return q;",
    "loop { { break; } q += 1; } return q;",
    "loop { if K { return q; } q += 1; continuing { q += 2; break if q.x > 9; } } return q;",
    "loop { q += 1; continuing { discard; break if q.x > 9; } } return q;",
    "loop { q += 1; continuing { if q.x > 1 { discard; } break if q.x > 9; } } return q;",
    "loop { q += 1; continuing { if K { if q.x > 1 { discard; } } break if q.x > 9; } } return q;",
};

TEST(EarlyEnds, EveryForm_IsValid) {
  for (const char* body : kHlslBodies) {
    const Verdict verdict = TryFragment("case.hlsl", HlslOf(body));
    EXPECT_TRUE(verdict.compiled) << body;
    EXPECT_EQ(verdict.broken, "") << body;
  }
  for (const char* body : kWgslBodies) {
    const Verdict verdict = TryFragment("case.wgsl", WgslOf(body));
    EXPECT_TRUE(verdict.compiled) << body;
    EXPECT_EQ(verdict.broken, "") << body;
  }
}

TEST(EarlyEnds, RandomPrograms_AreValid) {
  const uint32_t count = tests::FullRun() ? 20'000 : 400;
  for (const ir::Language language : {ir::Language::kHlsl, ir::Language::kWgsl}) {
    uint32_t compiled = 0;
    const char* path = language == ir::Language::kHlsl ? "case.hlsl" : "case.wgsl";
    for (uint32_t seed = 1; seed <= count; ++seed) {
      const std::string text = EndingProgram(language, seed);
      const Verdict verdict = TryFragment(path, text);
      ASSERT_EQ(verdict.broken, "") << path << " seed " << seed << "\n" << text;
      compiled += verdict.compiled ? 1 : 0;
    }
    // Some are refused: a loop that cannot be left is an error in WGSL.
    EXPECT_GT(compiled, count * 3 / 4) << path;
  }
}

}  // namespace
}  // namespace kiln::property
