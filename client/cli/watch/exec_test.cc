// SPDX-License-Identifier: MIT
#include "client/cli/watch/exec.h"

#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

TEST(WatchExec, ExitCodeTable) {
  const struct {
    const char* command;
    int exit;
  } rows[] = {
      {"true", 0},
      {"exit 7", 7},
      {"kill -TERM $$", 128 + SIGTERM},
      {"no-such-command-of-anybody 2>&-", 127},
      {"test \"$KILN_CHANGED\" = 'a/b c'", 0},
      {"test -n \"$PATH\"", 0},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(RunCommand(row.command, {"c", "a/b"}), row.exit) << row.command;
  }
}

// Another thread may read the environment meanwhile, which must not move under it.
TEST(WatchExec, EnvironmentOfThisProcess_StaysAsItIs) {
  ASSERT_EQ(std::getenv("KILN_CHANGED"), nullptr);
  EXPECT_EQ(RunCommand("test \"$KILN_CHANGED\" = rock", {"rock"}), 0);
  EXPECT_EQ(std::getenv("KILN_CHANGED"), nullptr);
}

// Who runs `kiln watch` from the command of another has that one's variable.
TEST(WatchExec, VariableFromOutside_IsReplaced) {
  ASSERT_EQ(setenv("KILN_CHANGED", "of another", 1), 0);
  EXPECT_EQ(RunCommand("test \"$KILN_CHANGED\" = rock", {"rock"}), 0);
  EXPECT_STREQ(std::getenv("KILN_CHANGED"), "of another");
  ASSERT_EQ(unsetenv("KILN_CHANGED"), 0);
}

}  // namespace
}  // namespace kiln::cli
