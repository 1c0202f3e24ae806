// SPDX-License-Identifier: MIT
#include "compiler/base/text/entry_words.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(EntryMeantBy, Table) {
  struct Row {
    const char* text;
    const char* meant;
  };
  for (const Row& row : {Row{"fragment:main", "fragment=main"},
                         {"fragment main", "fragment=main"},
                         {"fragment: main", "fragment=main"},
                         {"fragment==main", "fragment=main"},
                         {"fragmnet=main", "fragment=main"},
                         {"vertx:main", "vertex=main"},
                         {"Compute=blur", "compute=blur"},
                         {"pixel=main", "fragment=main"},
                         {"PS:main", "fragment=main"},
                         {"vs=main", "vertex=main"},
                         {"kernel=blur", "compute=blur"},
                         {"main=fragment", "fragment=main"},
                         {"main:frag", "fragment=main"},
                         {"fragment", "fragment=FUNCTION"},
                         {"fragment=", "fragment=FUNCTION"},
                         {"rock_fragment", "fragment=rock_fragment"},
                         {"geometry=main", ""},
                         {"main", ""},
                         {"=main", ""},
                         {"=", ""},
                         {"", ""}}) {
    EXPECT_EQ(EntryMeantBy(row.text), row.meant) << row.text;
  }
}

}  // namespace
}  // namespace kiln
