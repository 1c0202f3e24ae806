// SPDX-License-Identifier: MIT
// What aliases of fields and of scopes may not be, a row each.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/resolve/code_rows.h"

namespace kiln::resolve {
namespace {

TEST(ResolveCodes, FieldAliases_ArePathsThatEnd) {
  CheckRows({
      {"state_container c { f4 a; alias (b, a + a) };",
       "RPL4030 field alias 'b' may use only names and '.'\n",
       "state_container c { f4 a; alias (b, a.xy) };"},
      {"state_container c { f4 a; alias (b, d.x) };",
       "RPL4031 field alias 'b' must start with a field of 'c', found 'd'\n",
       "state_container c { f4 a; f4 d; alias (b, d.x) };"},
      {"state_container c { f4 a; alias (b, b) };",
       "RPL4032 field alias 'b' refers to itself through 'b' -> 'b'\n",
       "state_container c { f4 a; alias (b, a) };"},
      {"state_container c { f4 a; alias (b, d.x) alias (d, b.x) };",
       "RPL4032 field alias 'b' refers to itself through 'b' -> 'd' -> 'b'\n",
       "state_container c { f4 a; alias (b, d.x) alias (d, a) };"},
      {"state_container c { f4 a; alias (b, d) alias (d, e) alias (e, b) };",
       "RPL4032 field alias 'b' refers to itself through 'b' -> 'd' -> 'e' -> 'b'\n",
       "state_container c { alias (b, d) alias (d, e) alias (e, a) f4 a; };"},
  });
}

// Said at the alias, used or not.
TEST(ResolveCodes, FieldAliases_DenoteParts) {
  CheckRows({
      {"state_container c { f3 a; alias (b, a.w) };",
       "RPL6011 'w' in 'w' is out of range for 'f3'\n",
       "state_container c { f3 a; alias (b, a.z) };"},
      {"state_container c { f3 a; alias (b, a.xr) };",
       "RPL6010 'r' in 'xr' is not a component or column\n",
       "state_container c { f3 a; alias (b, a.xyx.z) };"},
      {"state_container c { f1 a; alias (b, a.x) };",
       "RPL6009 'f1' is a scalar and has no component 'x'\n",
       "state_container c { f2 a; alias (b, a.x) };"},
      {"state_container c { f4 a; alias (b, a.xyzwx) };",
       "RPL6012 swizzle 'xyzwx' has more than 4 letters\n",
       "state_container c { f4 a; alias (b, a.xxxx) };"},
      {"state_container c { f4x4 a; alias (b, a.xy) };",
       "RPL6013 'xy' is not a matrix column, use one letter\n",
       "state_container c { f4x4 a; alias (b, a.x.yz) alias (d, b.y) };"},
      {"struct s_t { f4 x; }; set_pass uniform_buffer c { s_t a; alias (b, a.y) };",
       "RPL6007 's_t' has no active field 'y'\n",
       "struct s_t { f4 x; alias (z, x.w) }; set_pass uniform_buffer c { s_t a; alias (b, a.z) };"},
      {"set_pass uniform_buffer c { f4[2] a; alias (b, a.x) };",
       "RPL6008 field 'x' of 'c', which is f4[2] and has none\n",
       "set_pass uniform_buffer c { f4[2] a; alias (b, a) };"},
  });
}

TEST(ResolveCodes, FieldAliases_FormCyclesOfAnyLength) {
  std::string chain;
  for (int i = 0; i < 1000; ++i) {
    chain += "alias (a" + std::to_string(i) + ", a" + std::to_string(i + 1) + ") ";
  }
  const std::string start = "set_pass uniform_buffer b { " + chain;
  EXPECT_EQ(VariantOf({start + "f4 a1000; };"}).Messages(), "");
  const std::string messages = VariantOf({start + "alias (a1000, a0) f4 x; };"}).Messages();
  EXPECT_TRUE(messages.starts_with("RPL4032 field alias 'a0' refers to itself through 'a0' -> "));
  EXPECT_EQ(messages.find('\n'), messages.size() - 1);
}

TEST(ResolveCodes, ScopeAliases_AreExpandedUpToALimit) {
  std::string doubling = "alias (a0, f1 {1.0}) ";
  std::string chain = "alias (a0, f1 {1.0}) ";
  for (int i = 1; i < 300; ++i) {
    const std::string before = "a" + std::to_string(i - 1);
    doubling += i < 40 ? fmt::format("alias (a{}, {} + {}) ", i, before, before) : "";
    chain += fmt::format("alias (a{}, {}) ", i, before);
  }
  EXPECT_EQ(VariantOf({kPosition + doubling + " }"}, "vertex:v").Messages(),
            "LIM1001 function 'v' has too many instructions, the limit is 262144\n");
  EXPECT_TRUE(VariantOf({kPosition + chain + " }"}, "vertex:v")
                  .Messages()
                  .starts_with("RPL1009 'a0' is nested more than 256 levels deep\n"));
}

}  // namespace
}  // namespace kiln::resolve
