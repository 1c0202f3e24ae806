// SPDX-License-Identifier: MIT
// Includes: what is found where, what is probed, and files that are there twice.
#include <string>

#include <gtest/gtest.h>

#include "compiler/front/hlsl/preprocess/test_run.h"

namespace kiln::hlsl {
namespace {

Settings Roots(std::vector<std::string> roots) {
  Settings settings;
  settings.include_roots = std::move(roots);
  return settings;
}

// "a.h x/a.h!": those with a mark are there.
std::string Probes(const TestRun& run) {
  std::string out;
  for (const Probe& probe : run.stream().probes) {
    out += (out.empty() ? "" : " ") + probe.path + (probe.present ? "!" : "");
  }
  return out;
}

TEST(Includes, Quoted_AreLookedForBesideTheFileThenInTheRoots) {
  const TestFiles files{{"root.hlsl", "#include \"a.h\"\nroot"},
                        {"lib/a.h", "a\n#include \"b.h\""},
                        {"lib/b.h", "b"},
                        {"other/a.h", "wrong"}};
  const TestRun run(files, Roots({"none", "lib", "other"}));
  EXPECT_EQ(run.Tokens(), "a b root");
  EXPECT_EQ(Probes(run), "a.h none/a.h lib/a.h! lib/b.h!");
  EXPECT_EQ(run.Messages(), "");
}

TEST(Includes, Angled_AreLookedForInTheRootsOnly) {
  const TestFiles files{{"root.hlsl", "#include <a.h>\nroot"}, {"a.h", "wrong"}, {"lib/a.h", "a"}};
  const TestRun run(files, Roots({"lib"}));
  EXPECT_EQ(run.Tokens(), "a root");
  EXPECT_EQ(Probes(run), "lib/a.h!");
}

TEST(Includes, Paths_AreFoldedAsText) {
  const TestFiles files{{"root.hlsl",
                         "#include \"x/../a.h\"\n#include \".\\a.h\"\n#include \"x/b.h\"\n"
                         "#include <a//b.h>"},
                        {"a.h", "a"},
                        {"x/b.h", "#include \"../a.h\"\nb"},
                        {"a/b.h", "c"}};
  const TestRun run(files, Roots({""}));
  EXPECT_EQ(run.Tokens(), "a a a b c");
  EXPECT_EQ(Probes(run), "a.h! x/b.h! a/b.h!") << "each path once";
}

TEST(Includes, MacroArguments_AreExpanded) {
  const TestFiles files{{"root.hlsl",
                         "#define A \"a.h\"\n#include A\n#define NAME b\n#define B <x/NAME.h>\n"
                         "#include B\n"},
                        {"a.h", "a"},
                        {"x/b.h", "b"}};
  EXPECT_EQ(TestRun(files, Roots({""})).Tokens(), "a b");
}

TEST(Includes, TextBehindThePath_IsNotLookedAt) {
  const TestFiles files{{"root.hlsl", "#include \"a.h\" // here\n#include <a.h> x\n"},
                        {"a.h", "a"}};
  EXPECT_EQ(TestRun(files, Roots({""})).Tokens(), "a a");
}

TEST(Includes, WhatIsNotThere_IsReportedWithThePlaces) {
  const TestFiles files{{"root.hlsl", "#include \"a.h\"\n#include <b.h>\n#include \"A.H\"\nx"},
                        {"sub/a.h", ""},
                        {"a.H", ""}};
  const TestRun run(files, Roots({"lib"}));
  EXPECT_EQ(run.Messages(),
            "HLSL1010 root.hlsl:1:10 'a.h' is not in the source set (tried: a.h, lib/a.h)\n"
            "HLSL1010 root.hlsl:2:10 'b.h' is not in the source set (tried: lib/b.h)\n"
            "HLSL1010 root.hlsl:3:10 'A.H' is not in the source set (tried: A.H, lib/A.H)\n");
  EXPECT_EQ(run.Tokens(), "x");
  EXPECT_EQ(TestRun("#include <a.h>").Messages(),
            "HLSL1010 root.hlsl:1:10 'a.h' is not in the source set\n")
      << "there is no root";
}

TEST(Includes, WithoutAFile_TheStreamIsNotWhole) {
  EXPECT_TRUE(TestRun("a").is_whole());
  EXPECT_TRUE(TestRun("@ 1x #\n#error no\n#if 1").is_whole()) << "errors, but nothing is missing";
  EXPECT_FALSE(TestRun("#include \"b.h\"").is_whole());
  EXPECT_FALSE(TestRun("#include \"../b.h\"").is_whole());
  EXPECT_FALSE(TestRun("#include b.h").is_whole());
  EXPECT_FALSE(TestRun("#include \"root.hlsl\"").is_whole()) << "too deep";
  EXPECT_FALSE(TestRun("\xff").is_whole());
}

TEST(Includes, LeavingTheRoot_IsAnErrorUnlessAnotherRootHasIt) {
  EXPECT_EQ(TestRun("#include \"../a.h\"").Codes(), "1011");
  EXPECT_EQ(TestRun("#include \"/a.h\"").Codes(), "1011");
  EXPECT_EQ(TestRun("#include \"x\\..\\..\\a.h\"").Codes(), "1011");
  const TestRun run(TestFiles{{"root.hlsl", "#include \"../a.h\""}, {"lib/a.h", "a"}},
                    Roots({"lib/x"}));
  EXPECT_EQ(run.Tokens(), "a");
  EXPECT_EQ(run.Codes(), "");
}

TEST(Includes, WithoutAPath_AreErrors) {
  for (const char* argument : {"", " a.h", " <a.h", " 1", " A", " \"\"", " <>", " E"}) {
    EXPECT_EQ(TestRun("#define A b\n#define E\n#include" + std::string(argument)).Codes(), "1013")
        << argument;
  }
  EXPECT_EQ(TestRun("#include \"a.h").Codes(), "1013");
}

TEST(Includes, Once_CountsForTheFile) {
  const TestFiles files{{"root.hlsl", "#include \"a.h\"\n#include \"x/../a.h\"\n"},
                        {"a.h", "#pragma once\na"}};
  EXPECT_EQ(TestRun(files).Tokens(), "a");
}

TEST(Includes, Guards_AreObeyed) {
  for (const char* guard : {"#ifndef A\n#define A\na\n#endif\n",
                            "// text\n#if !defined(A)\n#define A 1\na\n#endif // A\n",
                            "#if !defined A\n#define A 1\na\n#endif",
                            "#ifndef A\n#define A\na\n#if 0\n#else\n#endif\n#endif"}) {
    const TestFiles files{
        {"root.hlsl", "#include \"a.h\"\n#include \"a.h\"\n#undef A\n#include \"a.h\""},
        {"a.h", guard}};
    const TestRun run(files);
    EXPECT_EQ(run.Tokens(), "a a") << guard;
    EXPECT_EQ(run.Messages(), "") << guard;
  }
}

// Files that look guarded and are not: something stands outside, or there is another group.
TEST(Includes, HalfGuards_AreNone) {
  for (const char* text :
       {"#ifndef A\n#define A\na\n#endif\nb", "b\n#ifndef A\n#define A\na\n#endif",
        "#ifndef A\n#define A\na\n#else\nb\n#endif",
        "#ifndef A\n#define A\na\n#endif\n#ifdef B\n#endif\nb"}) {
    const TestFiles files{{"root.hlsl", "#include \"a.h\"\n[\n#include \"a.h\"\n"}, {"a.h", text}};
    const std::string tokens = TestRun(files).Tokens();
    EXPECT_NE(tokens.find("b", tokens.find('[')), std::string::npos) << text << "\n" << tokens;
  }
}

TEST(Includes, Twice_IsReadTwiceAndListedOnce) {
  const TestFiles files{
      {"root.hlsl",
       "#define X(n) n +\n#include \"a.h\"\n#undef X\n#define X(n) n *\n#include \"a.h\""},
      {"a.h", "X(1) X(2)"}};
  const TestRun run(files);
  EXPECT_EQ(run.Tokens(), "1 + 2 + 1 * 2 *");
  ASSERT_EQ(run.stream().files.size(), 2u);
  EXPECT_EQ(run.stream().files[1].path, "a.h");
}

TEST(Includes, Conditionals_EndWithTheirFile) {
  const TestFiles files{{"root.hlsl", "#if 1\n#include \"a.h\"\n#endif\nx"},
                        {"a.h", "#endif\n#if 1\na"}};
  const TestRun run(files);
  EXPECT_EQ(run.Tokens(), "a x");
  EXPECT_EQ(run.Messages(),
            "HLSL1021 a.h:1:2 '#endif' without '#if' [root.hlsl:2:10 'a.h' is included here]\n"
            "HLSL1022 a.h:2:2 '#if' is not closed [root.hlsl:2:10 'a.h' is included here]\n");
}

TEST(Includes, ACall_DoesNotGoOnInAnotherFile) {
  const TestFiles files{
      {"root.hlsl", "#define F(x) [x]\n#include \"a.h\"\n(1)\nF(\n#include \"b.h\"\n)"},
      {"a.h", "F"},
      {"b.h", "2"}};
  const TestRun run(files);
  EXPECT_EQ(run.Tokens(), "F ( 1 ) F )");
  EXPECT_EQ(run.Codes(), "1003");
}

TEST(Includes, TheRoot_MayIncludeItselfUntilItStops) {
  const TestRun run("#ifndef N\n#define N\n#include \"root.hlsl\"\na\n#else\nb\n#endif");
  EXPECT_EQ(run.Tokens(), "b a");
  EXPECT_EQ(Probes(run), "root.hlsl!");
}

// Whoever gives the root may have another copy of it in the set.
TEST(Includes, TheRoot_IsKnownByItsPath) {
  SourceSet files;
  files.Add({"root.hlsl", "#pragma once\n#include \"root.hlsl\"\na"});
  const SourceFile root = *files.Find("root.hlsl");
  const PreprocessResult read = Preprocess(root, files, {}, 0);
  EXPECT_TRUE(read.diagnostics.empty());
  EXPECT_EQ(read.stream.files.size(), 1u);
  EXPECT_EQ(read.stream.tokens.size(), 2u);
}

TEST(Includes, FileNames_AreThoseOfTheIncludedFile) {
  const TestFiles files{{"root.hlsl", "#include \"x/a.h\"\n__FILE__"},
                        {"x/a.h", "\n__FILE__ __LINE__"}};
  EXPECT_EQ(TestRun(files).Tokens(), "\"x/a.h\" 2 \"root.hlsl\"");
}

TEST(Includes, Digests_AreInFilesAndProbes) {
  const TestFiles files{{"root.hlsl", "#include \"a.h\"\n"}, {"a.h", "a"}};
  const TestRun run(files);
  EXPECT_EQ(run.stream().files[0].digest, DigestOf(std::string_view("#include \"a.h\"\n")));
  EXPECT_EQ(run.stream().files[1].digest, DigestOf(std::string_view("a")));
  EXPECT_EQ(run.stream().probes[0].digest, DigestOf(std::string_view("a")));
}

}  // namespace
}  // namespace kiln::hlsl
