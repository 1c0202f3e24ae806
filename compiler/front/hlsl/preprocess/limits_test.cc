// SPDX-License-Identifier: MIT
// What exceeds a limit is one error, at once, whatever the text tries. The killers of preprocessors
// are here; what they may take is measured by the bench.
#include <string>

#include <gtest/gtest.h>

#include "compiler/front/hlsl/preprocess/state.h"
#include "compiler/front/hlsl/preprocess/test_run.h"

namespace kiln::hlsl {
namespace {

std::string Repeated(std::string_view text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) {
    out += text;
  }
  return out;
}

std::string Doubling(int count) {
  std::string text = "#define D0 x\n";
  for (int i = 1; i <= count; ++i) {
    const std::string before = "D" + std::to_string(i - 1);
    text += "#define D" + std::to_string(i) + " " + before + " " + before + "\n";
  }
  return text + "D" + std::to_string(count) + "\n";
}

// Each file is found in the last of 16 roots, so one include asks for 17 paths.
TEST(Limits, PathsOfIncludes_AreBounded) {
  Settings settings;
  for (int i = 0; i < 16; ++i) {
    settings.include_roots.push_back("r" + std::to_string(i));
  }
  const auto asking = [](size_t count) {
    TestFiles files;
    std::string& text = files["root.hlsl"];
    for (size_t i = 0; i < count; ++i) {
      text += "#include \"" + std::to_string(i) + "\"\n";
      files["r15/" + std::to_string(i)] = "";
    }
    return files;
  };
  const TestRun most(asking(65'536 / 17), settings);
  EXPECT_EQ(most.Codes(), "");
  EXPECT_EQ(most.stream().probes.size(), 65'535u);
  const TestRun run(asking(65'536 / 17 + 1), settings);
  EXPECT_TRUE(run.Codes().starts_with("1007")) << run.Codes();
  EXPECT_EQ(run.stream().probes.size(), 65'536u);
}

// A few bytes of source that name long roots again and again: what is kept of the paths counts.
TEST(Limits, BytesOfPathsOfIncludes_AreBounded) {
  Settings settings;
  for (int i = 0; i < 64; ++i) {
    settings.include_roots.push_back(std::string(1000, 'r') + std::to_string(100 + i));
  }
  // 64 paths of 1,024 bytes each come to 64 KiB.
  const auto asking = [](size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i) {
      text += "#include <" + std::string(17, 'q') + std::to_string(100 + i) + ">\n";
    }
    return text;
  };
  const TestRun most(asking(16), settings);
  EXPECT_EQ(most.Codes().find("1007"), std::string::npos) << most.Codes();
  EXPECT_EQ(most.stream().probes.size(), 16u * 64);
  const TestRun run(asking(17), settings);
  EXPECT_TRUE(run.Codes().ends_with("1007")) << run.Codes();
  EXPECT_EQ(run.stream().probes.size(), 16u * 64) << "nothing is kept beyond it";
  EXPECT_NE(run.Messages().find("too many bytes in paths of includes, the limit is 1048576"),
            std::string::npos)
      << run.Messages();
}

TEST(Limits, DoublingMacros_StopAtTheirTokens) {
  EXPECT_EQ(TestRun(Doubling(10)).stream().tokens.size(), 1025u);
  const TestRun run(Doubling(25));
  ASSERT_EQ(run.Codes(), "1033");
  EXPECT_LE(run.stream().tokens.size(), kFreeTokens + 4096);
  EXPECT_NE(run.Messages().find("macros expand to more than 13"), std::string::npos)
      << run.Messages();
  LanguageLimits limits;
  limits.macro_tokens = 1024;
  EXPECT_EQ(TestRun("#define A x\n" + Repeated("A ", 512), {}, limits).Codes(), "");
  EXPECT_EQ(TestRun("#define A x\n" + Repeated("A ", 513), {}, limits).Codes(), "1033");
}

TEST(Limits, DoublingArguments_StopAtTheirTokens) {
  std::string call = "x";
  for (int i = 0; i < 25; ++i) {
    call = "F(" + call + ")";
  }
  EXPECT_EQ(TestRun("#define F(a) a a\n" + call).Codes(), "1033");
  EXPECT_EQ(TestRun("#define F(a) [a, a]\n" + call).Codes(), "1033");
  EXPECT_EQ(TestRun("#define F(a)\n" + call).Codes(), "") << "what is not used is not made";
}

TEST(Limits, DoublingStrings_StopAtTheirBytes) {
  std::string text = "#define S(x) #x\n#define T(x) S(x)\n";
  std::string call = "\"\\\\\"";
  for (int i = 0; i < 25; ++i) {
    call = "T(" + call + ")";
  }
  EXPECT_EQ(TestRun(text + call).Codes(), "1007");
  EXPECT_EQ(TestRun("#define P(a) Q(a, a)\n#define Q(a, b) a##b\n" + Repeated("P(", 25) +
                    "abcdefgh" + Repeated(")", 25))
                .Codes(),
            "1007");
}

TEST(Limits, MacrosInEachOther_AreCounted) {
  const auto chain = [](int count) {
    std::string text = "#define M0 x\n";
    for (int i = 1; i <= count; ++i) {
      text += "#define M" + std::to_string(i) + " M" + std::to_string(i - 1) + "\n";
    }
    return text + "M" + std::to_string(count);
  };
  EXPECT_EQ(TestRun(chain(255)).Tokens(), "x");
  EXPECT_EQ(TestRun(chain(256)).Codes(), "1008");
  const std::string macro = "#define F(a) a\n";
  EXPECT_EQ(TestRun(macro + Repeated("F(", 250) + "x" + Repeated(")", 250)).Tokens(), "x");
  EXPECT_EQ(TestRun(macro + Repeated("F(", 300) + "x" + Repeated(")", 300)).Codes(), "1008");
  EXPECT_EQ(TestRun(macro + Repeated("F(", 100'000) + "x" + Repeated(")", 100'000)).Codes(), "1033")
      << "each call has all that is inside of it as its argument";
}

TEST(Limits, IncludesInEachOther_AreCounted) {
  const auto chain = [](int count) {
    TestFiles files{{"root.hlsl", "#include \"0.h\"\nx"}};
    for (int i = 0; i < count; ++i) {
      files[std::to_string(i) + ".h"] =
          i + 1 < count ? "#include \"" + std::to_string(i + 1) + ".h\"" : "y";
    }
    return files;
  };
  EXPECT_EQ(TestRun(chain(64)).Tokens(), "y x");
  EXPECT_EQ(TestRun(chain(65)).Codes(), "1012");
}

TEST(Limits, SelfIncludes_StopAtOnce) {
  EXPECT_EQ(TestRun("#include \"root.hlsl\"\n").Codes(), "1012");
  EXPECT_EQ(TestRun(Repeated("#include \"root.hlsl\"\n", 1000)).Codes(), "1012");
  TestFiles files{{"root.hlsl", "#include \"0.h\"\n"}};
  for (int i = 0; i < 60; ++i) {
    const std::string next = "#include \"" + std::to_string(i + 1) + ".h\"\n";
    files[std::to_string(i) + ".h"] = next + next;
  }
  files["60.h"] = "";
  EXPECT_EQ(TestRun(files).Codes(), "1007") << "2^60 inclusions of an empty file";
}

TEST(Limits, FilesIncludedAgain_CountTheirTokens) {
  const TestFiles files{{"root.hlsl", Repeated("#include \"a.h\"\n", 500)},
                        {"a.h", Repeated("x ", 1000)}};
  EXPECT_EQ(TestRun(files).Codes(), "1007");
  const TestFiles skipped{{"root.hlsl", Repeated("#include \"a.h\"\n", 60'000)},
                          {"a.h", "#if 0\n#endif\n" + Repeated("#if 0\nx\n#endif\n", 200)}};
  EXPECT_EQ(TestRun(skipped).Codes(), "1007") << "directives of groups that are skipped";
}

TEST(Limits, LongConditions_AreLoops) {
  EXPECT_EQ(TestRun("#if 0" + Repeated(" + 1", 20'000) + "\nx\n#endif").Tokens(), "x");
  EXPECT_EQ(TestRun("#if 0" + Repeated(" + 1", 65'535) + "\nx\n#endif").Tokens(), "x");
  EXPECT_EQ(TestRun("#if 0" + Repeated(" + 1", 65'536) + "\nx\n#endif").Codes(), "1007");
  EXPECT_EQ(TestRun("#if " + Repeated("!", 100'000) + "0\nx\n#endif").Tokens(), "");
  EXPECT_EQ(
      TestRun("#if " + Repeated("(", 256) + "1" + Repeated(")", 256) + "\nx\n#endif").Tokens(),
      "x");
  EXPECT_EQ(TestRun("#if " + Repeated("(", 257) + "1" + Repeated(")", 257) + "\nx\n#endif").Codes(),
            "1008");
  EXPECT_EQ(TestRun("#if 1" + Repeated(" ? 1 : 1", 20'000) + "\nx\n#endif").Tokens(), "x");
  EXPECT_EQ(TestRun(Repeated("#if 1\n", 50'000) + "x" + Repeated("\n#endif", 50'000)).Tokens(),
            "x");
}

TEST(Limits, Sizes_AreChecked) {
  LanguageLimits limits;
  limits.source_bytes = 1024;
  limits.identifier = 64;
  limits.string = 100;
  EXPECT_EQ(TestRun(std::string(1024, ' '), {}, limits).Codes(), "");
  EXPECT_EQ(TestRun(std::string(1025, ' '), {}, limits).Messages(),
            "HLSL1007 root.hlsl:1:1 'root.hlsl' has 1025 bytes, the limit is 1024\n");
  EXPECT_EQ(TestRun(std::string(64, 'a'), {}, limits).Codes(), "");
  EXPECT_EQ(TestRun(std::string(65, 'a') + " " + std::string(65, 'a'), {}, limits).Codes(), "1007");
  EXPECT_EQ(TestRun("\"" + std::string(100, 'a') + "\"", {}, limits).Codes(), "");
  EXPECT_EQ(TestRun("\"" + std::string(101, 'a') + "\"", {}, limits).Codes(), "1007");
  limits.source_bytes = 4096;
  limits.tokens = 1024;
  EXPECT_EQ(TestRun(Repeated("; ", 1024), {}, limits).Codes(), "");
  EXPECT_EQ(TestRun(Repeated("; ", 1025), {}, limits).Codes(), "1007");
}

TEST(Limits, Files_AreCounted) {
  TestFiles files;
  std::string root;
  for (int i = 0; i < 16; ++i) {
    const std::string name = "f" + std::to_string(i) + ".h";
    files[name] = "x";
    root += "#include \"" + name + "\"\n";
  }
  files["root.hlsl"] = root;
  LanguageLimits limits;
  limits.include_files = 17;
  EXPECT_EQ(TestRun(files, {}, limits).Codes(), "");
  limits.include_files = 16;
  EXPECT_EQ(TestRun(files, {}, limits).Codes(), "1007");
}

TEST(Limits, TextsTogether_AreCounted) {
  LanguageLimits limits;
  limits.source_bytes = 1024;
  TestFiles files;
  std::string root;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "f" + std::to_string(i) + ".h";
    files[name] = std::string(1000, ' ');
    root += "#include \"" + name + "\"\n";
  }
  files["root.hlsl"] = root;
  EXPECT_EQ(TestRun(files, {}, limits).Codes(), "1007");
}

}  // namespace
}  // namespace kiln::hlsl
