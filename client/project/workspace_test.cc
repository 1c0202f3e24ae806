// SPDX-License-Identifier: MIT
#include "client/project/workspace.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include <gtest/gtest.h>

#include "compiler/base/test_directory.h"

namespace kiln::project {
namespace {

namespace fs = std::filesystem;

TEST(WorkspaceTest, FolderHasOneName_HoweverItIsReached) {
  const TestDirectory folder;
  const fs::path top = folder.path();
  fs::create_directories(top / "one/sub");
  fs::create_directories(top / "two");
  fs::create_directory_symlink(top / "one", top / "link");
  const std::string one = WorkspaceId((top / "one").string());
  EXPECT_EQ(one.size(), 32u);
  EXPECT_TRUE(std::ranges::all_of(one, [](char c) { return std::isxdigit(c) != 0; })) << one;
  for (const char* const same : {"one/", "one/sub/..", "link", "two/../link/."}) {
    EXPECT_EQ(WorkspaceId((top / same).string()), one) << same;
  }
  for (const char* const other : {"two", "one/sub", "", "not there"}) {
    EXPECT_NE(WorkspaceId((top / other).string()), one) << other;
  }
}

}  // namespace
}  // namespace kiln::project
