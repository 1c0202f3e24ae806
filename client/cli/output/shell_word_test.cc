// SPDX-License-Identifier: MIT
#include "client/cli/output/shell_word.h"

#include <array>
#include <cstdio>

#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

TEST(ShellWord, Shell_ReadsItAsOneWordAndExpandsNothing) {
  for (const std::string word :
       {"demo.kpack", "rock/forward", "", "a b", "x; touch pwn", "$(id)", "`id`", "it's", "-n", "*",
        "~", "a\"b\\", "a\nb", "gr\xc3\xbcn", "&& false", "#", "!x", "'"}) {
    const std::string command = "printf %s " + ShellWord(word);
    std::FILE* const pipe = ::popen(command.c_str(), "re");
    ASSERT_NE(pipe, nullptr);
    std::array<char, 64> text{};
    const size_t size = std::fread(text.data(), 1, text.size(), pipe);
    EXPECT_EQ(::pclose(pipe), 0) << command;
    EXPECT_EQ(std::string(text.data(), size), word) << command;
  }
}

TEST(ShellWord, OrdinaryWord_StaysAsItIs) {
  for (const char* word : {"demo.kpack", "rock/forward", "a-b_c=d:e@f%g+h,i"}) {
    EXPECT_EQ(ShellWord(word), word);
  }
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
}

}  // namespace
}  // namespace kiln::cli
