// SPDX-License-Identifier: MIT
// What few words of a source can make much of, at the limit and above it; that what is kept is
// charged; that long lists end.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/base/clock.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/check/check.h"
#include "compiler/front/hlsl/preprocess/preprocess.h"
#include "compiler/front/hlsl/syntax/parse.h"
#include "compiler/source/source_file.h"

namespace kiln::hlsl {
namespace {

CheckResult CheckOf(std::string_view text) {
  const SourceFile root("test.hlsl", std::string(text));
  const Settings settings;
  const PreprocessResult read = Preprocess(root, SourceSet(), settings, 0);
  const std::string_view texts[] = {root.text};
  const syntax::ParseResult parsed = syntax::Parse(read.stream, texts, settings.version);
  EXPECT_FALSE(HasErrors(parsed.diagnostics)) << text.substr(0, 200);
  return Check(read.stream, parsed.ast, settings);
}

// Errors, each on a line.
std::string ErrorsOf(std::string_view text) {
  std::string all;
  for (const Diagnostic& found : CheckOf(text).diagnostics) {
    if (CodeSeverity(found.code) == Severity::kError) {
      all += std::string(CodeText(found.code)) + ": " + Message(found) + "\n";
    }
  }
  return all;
}

std::string Times(size_t count, std::string_view text) {
  std::string all;
  for (size_t i = 0; i < count; ++i) {
    all += text;
  }
  return all;
}

std::string Body(std::string_view declarations, std::string_view statements) {
  return std::string(declarations) + " void f (int x) { " + std::string(statements) + " }";
}

// 64 copies of 16,384 items are 2^20.
TEST(CheckLimits, LargeValues_AreLimitedTogether) {
  constexpr std::string_view kStruct =
      "struct S { int a[16384]; }; struct T { int b[16384]; }; void g (S s) {}";
  constexpr std::string_view kOfStructs =
      "struct E { int a; int b; int c; }; struct S { E e[16384]; }; void g (S s) {}";
  constexpr std::string_view kEmpty = "struct N {}; struct S { N n[32768]; int a; };";
  const auto limit_said = [](uint64_t items) {
    return "HLSL1007: source has " + std::to_string(items) +
           " items of large values, the limit is 1048576\n";
  };
  const struct {
    std::string_view statement;
    size_t most;
    uint64_t each;
  } rows[] = {
      // A scalar that is known when it runs; its leaves, each out of two levels, in another struct.
      {"g ((S) x); ", 64, 16384},
      {"g ((S) (T) x); ", 21, 3 * 16384},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(ErrorsOf(Body(kStruct, Times(row.most, row.statement))), "") << row.statement;
    // Once, however many there are.
    EXPECT_EQ(ErrorsOf(Body(kStruct, Times(row.most + 4, row.statement))),
              limit_said((row.most + 1) * row.each))
        << row.statement;
  }
  // Constants, each another one.
  std::string others;
  for (int i = 0; i < 64; ++i) {
    others += "g ((S) " + std::to_string(i) + "); ";
  }
  EXPECT_EQ(ErrorsOf(Body(kStruct, others)), "");
  EXPECT_EQ(ErrorsOf(Body(kStruct, others + "g ((S) 64); ")), limit_said(65 * 16384));
  // One constant that is mentioned again and again is kept once, but what is put together from
  // structs is instructions each time.
  EXPECT_EQ(ErrorsOf(Body(kStruct, Times(1000, "g ((S) 0); "))), "");
  EXPECT_EQ(ErrorsOf(Body(kOfStructs, Times(8, "g ((S) 0); "))), "");
  EXPECT_EQ(ErrorsOf(Body(kOfStructs, Times(20, "g ((S) 0); "))).substr(0, 8), "HLSL1007");
  // A struct of nothing has no leaves and is instructions all the same.
  EXPECT_EQ(ErrorsOf(Body(kEmpty, Times(4, "S s = (S) x; s.a = 1; { } "))).find("HLSL1007"),
            std::string::npos);
  EXPECT_EQ(ErrorsOf(Body(kEmpty, Times(40, "{ S s = (S) x; } "))).substr(0, 8), "HLSL1007");
}

// Structs that hold two of the one before have no leaves, however many parts.
TEST(CheckLimits, StructsOfNothing_AreNotCountedOut) {
  std::string nested = "struct S0 {};";
  for (int i = 1; i < 200; ++i) {
    const std::string before = "S" + std::to_string(i - 1);
    nested += "struct S" + std::to_string(i) + " { " + before + " a; " + before + " b; };";
  }
  nested += "struct L { S199 a; int b; };";
  EXPECT_EQ(ErrorsOf(Body(nested, "L l = (L) 0;")).substr(0, 8), "HLSL1007");
  EXPECT_EQ(ErrorsOf(Body(nested, "L l; l.b = 1;")), "");
}

// A table is cut without being copied: 2,000 names of 16,384 items.
TEST(CheckLimits, PartsOfConstants_AreNotCopied) {
  constexpr std::string_view kTable =
      "struct S { int a[16384]; }; static const S t = (S) 1; static int k;";
  const CheckResult checked = CheckOf(Body(kTable, Times(2000, "k += t.a[x] + t.a[3]; ")));
  EXPECT_FALSE(HasErrors(checked.diagnostics));
  EXPECT_LT(checked.unit.scalars.size(), 40'000u);
}

// What a name of a compile-time value stands for is lowered wherever it is mentioned: 1,000 terms
// 2,097 times are within 2^21.
TEST(CheckLimits, NamesOfCompileTimeValues_AreLimitedTogether) {
  std::string declarations =
      "[[kiln::option (global)]] static const int k = 1; static const int n = k";
  declarations += Times(499, " + k") + "; static int s;";
  const CheckResult one = CheckOf(Body(declarations, "s += n;"));
  ASSERT_FALSE(HasErrors(one.diagnostics));
  // 500 names and 499 sums.
  EXPECT_EQ(ErrorsOf(Body(declarations, Times(2099, "s += n; "))), "");
  EXPECT_EQ(ErrorsOf(Body(declarations, Times(2100, "s += n; "))),
            "HLSL1007: source has 2097900 terms in names of compile-time values, the limit is "
            "2097152\n");
  // A default value is mentioned by each call that leaves it out.
  declarations += " void g (int a = n) {}";
  EXPECT_EQ(ErrorsOf(Body(declarations, Times(2098, "g (); "))), "");
  EXPECT_EQ(ErrorsOf(Body(declarations, Times(2100, "g (); "))).substr(0, 8), "HLSL1007");
}

// Each function calls the one before it twice in its default value, which each call lowers again:
// forty lines would be 2^40 instructions.
TEST(CheckLimits, DefaultValues_AreLimitedTogether) {
  const auto chain = [](int links) {
    std::string text = "float f0 (float a = 1) { return a; }\n";
    for (int i = 1; i <= links; ++i) {
      const std::string before = "f" + std::to_string(i - 1) + " ()";
      text += "float f" + std::to_string(i) + " (float a = " + before + " + " + before +
              ") { return a; }\n";
    }
    return text;
  };
  EXPECT_EQ(ErrorsOf(chain(10)), "");
  EXPECT_EQ(ErrorsOf(chain(40)).substr(0, 8), "HLSL1007");
  EXPECT_NE(ErrorsOf(chain(40)).find("terms in default values"), std::string::npos);
}

// Choosing among some of the overloads could choose another one than the rules do.
TEST(CheckLimits, Overloads_AreNotLeftOut) {
  const auto source = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      const std::string number = std::to_string(i);
      text += "struct S" + number + " { int a; }; int g (S" + number + " s) { return 1; } ";
    }
    return text + "int h (S0 s) { return g (s); }";
  };
  EXPECT_EQ(ErrorsOf(source(4096)), "");
  EXPECT_EQ(ErrorsOf(source(4097)), "HLSL1007: name 'g' has 4097 overloads, the limit is 4096\n");
}

// Why a check was stopped within so many bytes; nothing if it ended.
std::optional<Stopped::Why> WhyStopped(std::string_view text, uint64_t bytes) {
  FakeClock clock;
  const StopScope scope({.bytes = bytes}, clock);
  try {
    CheckOf(text);
  } catch (const Stopped& stopped) {
    return stopped.why();
  }
  return std::nullopt;
}

TEST(CheckLimits, Tables_AreCharged) {
  const std::string rows = Body("static int s;", Times(1000, "s = s + x; "));
  const std::string fills = Body("struct S { int a[16384]; }; void g (S s) {}",
                                 "g ((S) 1); g ((S) 2); g ((S) 3); g ((S) 4);");
  for (const std::string& text : {rows, fills}) {
    EXPECT_EQ(WhyStopped(text, 2u << 20), std::nullopt) << text.substr(0, 60);
    EXPECT_EQ(WhyStopped(text, 1u << 18), Stopped::Why::kMemory) << text.substr(0, 60);
  }
}

// A chain of calls that hands a resource on, in the order that was worst and with prototypes in the
// other one.
TEST(CheckLimits, FactsOfHandles_FlowThroughChains) {
  constexpr int kCalls = 2000;
  const auto head = [](int i) {
    return "float4 f" + std::to_string(i) + " (Texture2D t, SamplerComparisonState c, uint i)";
  };
  const std::string last = " { return t.SampleCmp (c, float2 (0, 0), 0); } ";
  std::string callees_first = head(0) + last;
  std::string prototypes;
  std::string callers_first;
  for (int i = 1; i < kCalls; ++i) {
    const std::string body = " { return f" + std::to_string(i - 1) + " (t, c, i); } ";
    callees_first += head(i) + body;
    callers_first = head(i) + body + callers_first;
  }
  for (int i = 0; i < kCalls; ++i) {
    prototypes += head(i) + "; ";
  }
  const std::string use =
      " Texture2D all[4]; SamplerComparisonState s; float4 g (uint i) { return "
      "f1999 (all[i], s, i); }";
  for (const std::string& text : {callees_first, prototypes + callers_first + head(0) + last}) {
    const CheckResult checked = CheckOf(text + use);
    ASSERT_FALSE(HasErrors(checked.diagnostics));
    size_t picked = 0;
    size_t compared = 0;
    for (const Local& local : checked.unit.locals) {
      picked += local.picked ? 1 : 0;
      compared += local.compared ? 1 : 0;
    }
    EXPECT_EQ(picked, size_t{kCalls});
    EXPECT_EQ(compared, size_t{kCalls});
    size_t globals = 0;
    for (const Global& global : checked.unit.globals) {
      globals += global.compared ? 1 : 0;
    }
    EXPECT_EQ(globals, 1u);
  }
}

}  // namespace
}  // namespace kiln::hlsl
