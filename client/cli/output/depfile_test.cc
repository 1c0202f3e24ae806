// SPDX-License-Identifier: MIT
#include "client/cli/output/depfile.h"

#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

TEST(Depfile, Files_AreSortedDistinctAndEscaped) {
  EXPECT_EQ(*DepfileText("out/index.json", {"b.rpl", "a b.rpl", "b.rpl", "c#1.rpl", "$d.rpl"}),
            "out/index.json: \\\n  $$d.rpl \\\n  a\\ b.rpl \\\n  b.rpl \\\n  c\\#1.rpl\n");
}

TEST(Depfile, Colons_AreNoRules) {
  EXPECT_EQ(*DepfileText("a:b", {"c:d"}), "a\\:b: \\\n  c\\:d\n");
}

TEST(Depfile, NoFiles_IsARuleWithoutAny) { EXPECT_EQ(*DepfileText("a b", {}), "a\\ b:\n"); }

// Every character of ASCII: those that are allowed stand in the text, the others are refused, as a
// file and as a target.
TEST(Depfile, EveryCharacter_IsANameForMakeAndNinjaOrRefused) {
  const std::string allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+,-./@_!{}()~$ #:";
  for (int c = 1; c < 0x80; ++c) {
    const std::string name = std::string("a") + static_cast<char>(c) + "z";
    const bool fits = allowed.find(static_cast<char>(c)) != std::string::npos;
    EXPECT_EQ(DepfileText("out", {name}).ok(), fits) << name;
    EXPECT_EQ(DepfileText(name, {"a.rpl"}).ok(), fits) << name;
  }
  EXPECT_TRUE(DepfileText("out", {"gr\xc3\xbcn.rpl"}).ok());
}

TEST(Depfile, NamesThatMakeOrNinjaWouldRun_AreRefused) {
  for (const char* name : {"z;touch${IFS}pwned;.rpl", "SHELL=./evil.rpl", "a|b", "a`b`",
                           "$(shell x).rpl", "${x}.rpl", "$$(x)", "~root/a.rpl", "lib(member)",
                           "a\nout: b\n\tx", "a\\", "a\tb", "%.rpl", "a*", "[ab]"}) {
    const Result<std::string> text = DepfileText("out", {"a.rpl", name});
    ASSERT_FALSE(text.ok()) << name;
    EXPECT_EQ(text.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(text.error().reason, "USAGE");
  }
  EXPECT_EQ(
      DepfileText("out", {"a;b.rpl"}).error().context,
      "--deps cannot name 'a;b.rpl': Make or Ninja would not take ';' for a part of it; rename "
      "it, or go without --deps");
}

}  // namespace
}  // namespace kiln::cli
