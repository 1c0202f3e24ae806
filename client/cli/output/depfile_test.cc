// SPDX-License-Identifier: MIT
#include "client/cli/output/depfile.h"

#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

TEST(Depfile, Files_AreSortedDistinctAndEscaped) {
  EXPECT_EQ(DepfileText("out/index.json", {"b.rpl", "a b.rpl", "b.rpl", "c#1.rpl", "$d.rpl"}),
            "out/index.json: \\\n  $$d.rpl \\\n  a\\ b.rpl \\\n  b.rpl \\\n  c\\#1.rpl\n");
}

TEST(Depfile, Colons_AreNoRules) { EXPECT_EQ(DepfileText("a:b", {"c:d"}), "a\\:b: \\\n  c\\:d\n"); }

TEST(Depfile, NoFiles_IsARuleWithoutAny) { EXPECT_EQ(DepfileText("a b", {}), "a\\ b:\n"); }

}  // namespace
}  // namespace kiln::cli
