// SPDX-License-Identifier: MIT
#include "compiler/source/include_lines.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

// Each line as it names its file, a blank between two.
std::string Named(std::string_view text) {
  std::string named;
  for (const IncludeLine& line : IncludeLinesOf(text)) {
    named +=
        (named.empty() ? "" : " ") + std::string(line.quoted ? "\"" : "<") + std::string(line.path);
  }
  return named;
}

TEST(IncludeLines, OfAText_AreThoseThatNameAFile) {
  struct Row {
    const char* text;
    const char* named;
  };
  const Row rows[] = {
      {"", ""},
      {"#include \"a.h\"", "\"a.h"},
      {"#include <a.h>\n", "<a.h"},
      {"  \t# \tinclude\t\"a.h\" // why\n", "\"a.h"},
      {"#include\"a.h\"\r\n#include<b.h>\r#include \"c.h\"", "\"a.h <b.h \"c.h"},
      {"#include \"a.h\"\n#include \"a.h\"\n", "\"a.h \"a.h"},
      {"#if 0\n#include \"a.h\"\n#endif", "\"a.h"},
      {"#include NAME\n", ""},
      {"#include \"\"\n#include <>\n", ""},
      {"#include \"a.h\n#include <b.h\n", ""},
      {"#included \"a.h\"\n", ""},
      {"x #include \"a.h\"\n", ""},
      {"// #include \"a.h\"\n", ""},
      {"include \"a.h\"\n", ""},
      {"#\n#include", ""},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Named(row.text), row.named) << row.text;
  }
}

TEST(IncludeLines, Places_AreBesideTheFileAndThenInTheRoots) {
  struct Row {
    IncludeLine line;
    const char* including;
    std::vector<std::string> roots;
    std::vector<std::string> places;
  };
  const Row rows[] = {
      {{"a.h", true}, "x/m.hlsl", {"lib", ""}, {"x/a.h", "lib/a.h", "a.h"}},
      {{"a.h", false}, "x/m.hlsl", {"lib", ""}, {"lib/a.h", "a.h"}},
      {{"../a.h", true}, "x/m.hlsl", {"lib/deep"}, {"a.h", "lib/a.h"}},
      {{"../a.h", true}, "m.hlsl", {"lib"}, {"a.h"}},
      {{"/etc/a.h", true}, "x/m.hlsl", {"lib"}, {}},
      {{"b\\a.h", true}, "m.hlsl", {}, {"b/a.h"}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(PlacesOf(row.line, row.including, row.roots), row.places) << row.line.path;
  }
}

}  // namespace
}  // namespace kiln
