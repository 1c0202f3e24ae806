// SPDX-License-Identifier: MIT
#include "compiler/source/include_paths.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(IncludePaths, Folders_AreWhatIsBeforeTheLastSlash) {
  EXPECT_EQ(FolderOf("a/b/c.hlsl"), "a/b");
  EXPECT_EQ(FolderOf("c.hlsl"), "");
  EXPECT_EQ(FolderOf("/c.hlsl"), "");
}

TEST(IncludePaths, Segments_AreFolded) {
  struct Row {
    const char* folder;
    const char* path;
    const char* folded;  // null: leaves the root
  };
  const Row rows[] = {
      {"", "a.h", "a.h"},
      {"x", "a.h", "x/a.h"},
      {"x/y", "../a.h", "x/a.h"},
      {"x/y", "../../a.h", "a.h"},
      {"x/y", "../../../a.h", nullptr},
      {"x", "./b/./a.h", "x/b/a.h"},
      {"x", "b\\a.h", "x/b/a.h"},
      {"x", "b//a.h", "x/b/a.h"},
      {"x", "b/../a.h", "x/a.h"},
      {"", "b/../../a.h", nullptr},
      {"x", "/a.h", nullptr},
      {"x", "\\a.h", nullptr},
      {"x", "", nullptr},
      {"..", "a.h", "../a.h"},
      {"..", "../a.h", nullptr},
      {"../x", "../a.h", "../a.h"},
      {"/x", "../a.h", "/a.h"},
      {"/x", "../../a.h", nullptr},
  };
  for (const Row& row : rows) {
    const std::optional<std::string> folded = FoldPath(row.folder, row.path);
    EXPECT_EQ(folded.value_or("leaves"), row.folded == nullptr ? "leaves" : row.folded)
        << row.folder << " " << row.path;
  }
}

}  // namespace
}  // namespace kiln
