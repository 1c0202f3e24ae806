// SPDX-License-Identifier: MIT
#include "compiler/base/text/file_name.h"

#include <set>

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(FileNameOf, OrdinaryName_StaysReadable) {
  const std::pair<std::string, std::string> rows[] = {
      {"rock", "rock"},
      {"rock/forward", "rock.forward"},
      {"a-b_c.d/E9", "a-b_c.d.E9"},
      {std::string(128, 'a'), std::string(128, 'a')}};
  for (const auto& [name, file] : rows) {
    EXPECT_EQ(FileNameOf(name), file);
  }
}

TEST(FileNameOf, HostileName_IsOneVisiblePartOfItsOwn) {
  const std::string rows[] = {"",
                              ".",
                              "..",
                              "/",
                              "../..",
                              "x/../../../pwned/t",
                              "/etc/passwd",
                              ".bashrc",
                              "a\\b",
                              "a b",
                              "a\nb",
                              "a\tb",
                              "a\x1b[31m",
                              "a\x7f",
                              std::string("a\0b", 3),
                              "gr\xc3\xbcn",
                              "gr\xc3\xb6n",
                              "\xff\xfe",
                              "$(touch pwn)",
                              "-rf;",
                              "a:b",
                              "a*",
                              std::string(129, 'a'),
                              std::string(130, 'a'),
                              std::string(100'000, '/'),
                              std::string(4096, 'x') + "/.."};
  std::set<std::string> files;
  for (const std::string& name : rows) {
    const std::string file = FileNameOf(name);
    EXPECT_TRUE(files.insert(file).second) << file;
    EXPECT_NE(file.front(), '.') << file;
    EXPECT_LE(file.size(), 136u) << file;
    for (const char c : file) {
      EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                  std::string_view("._-~").find(c) != std::string_view::npos)
          << file;
    }
    EXPECT_EQ(file, FileNameOf(name)) << "the same at every time";
    EXPECT_FALSE(IsTargetName(name)) << name;
  }
}

TEST(TargetName, Rule_IsThatOfItsText) {
  for (const char* name : {"vk", "web-2", "a.b", "A_9", "-"}) {
    EXPECT_TRUE(IsTargetName(name)) << name;
    EXPECT_EQ(FileNameOf(name), name);
  }
  for (const char* name : {"", ".", "..", ".a", "a/b", "a~b", "a b", "a\n", "\xc3\xbc"}) {
    EXPECT_FALSE(IsTargetName(name)) << name;
  }
  EXPECT_TRUE(IsTargetName(std::string(kMaxTargetName, 'a')));
  EXPECT_FALSE(IsTargetName(std::string(kMaxTargetName + 1, 'a')));
}

}  // namespace
}  // namespace kiln
