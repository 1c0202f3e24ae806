// SPDX-License-Identifier: MIT
#include "client/cli/watch/exec.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "compiler/base/test_directory.h"
#include "compiler/base/threads/thread.h"

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
    EXPECT_EQ(WatchCommand().Run(row.command, {"c", "a/b"}), row.exit) << row.command;
  }
}

// Another thread may read the environment meanwhile, which must not move under it.
TEST(WatchExec, EnvironmentOfThisProcess_StaysAsItIs) {
  ASSERT_EQ(std::getenv("KILN_CHANGED"), nullptr);
  EXPECT_EQ(WatchCommand().Run("test \"$KILN_CHANGED\" = rock", {"rock"}), 0);
  EXPECT_EQ(std::getenv("KILN_CHANGED"), nullptr);
}

// Who runs `kiln watch` from the command of another has that one's variable.
TEST(WatchExec, VariableFromOutside_IsReplaced) {
  ASSERT_EQ(setenv("KILN_CHANGED", "of another", 1), 0);
  EXPECT_EQ(WatchCommand().Run("test \"$KILN_CHANGED\" = rock", {"rock"}), 0);
  EXPECT_STREQ(std::getenv("KILN_CHANGED"), "of another");
  ASSERT_EQ(unsetenv("KILN_CHANGED"), 0);
}

// A pipe by name: it is read to its end when nobody writes to it any more, neither the shell nor
// what it started.
class Fifo {
 public:
  Fifo() : path_((folder_.path() / "fifo").string()) {
    EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  }
  const std::string& path() const { return path_; }
  int Open() const { return ::open(path_.c_str(), O_RDONLY | O_CLOEXEC); }  // waits for a writer

 private:
  TestDirectory folder_;
  std::string path_;
};

TEST(WatchExec, CommandThatDoesNotEnd_EndsWithAllThatItStarted) {
  const Fifo fifo, never;  // nobody writes to the second
  WatchCommand command;
  int exit = 0;
  Thread runs({.name = "command"}, [&](const std::stop_token&) {
    exit =
        command.Run("exec 3>" + fifo.path() + "; echo >&3; cat <>" + never.path() + " & wait", {});
  });
  const int pipe = fifo.Open();
  ASSERT_GE(pipe, 0);
  char byte = 0;
  EXPECT_EQ(::read(pipe, &byte, 1), 1);
  command.End();
  runs.join();
  EXPECT_EQ(exit, 128 + SIGTERM);
  EXPECT_EQ(::read(pipe, &byte, 1), 0);
  (void)::close(pipe);
}

TEST(WatchExec, CommandThatHeedsNoSignal_IsKilled) {
  const Fifo fifo, never;  // nobody writes to the second
  WatchCommand command;
  int exit = 0;
  Thread runs({.name = "command"}, [&](const std::stop_token&) {
    exit = command.Run("trap '' TERM; exec 3>" + fifo.path() + "; echo >&3; cat <>" + never.path(),
                       {});
  });
  const int pipe = fifo.Open();
  ASSERT_GE(pipe, 0);
  char byte = 0;
  EXPECT_EQ(::read(pipe, &byte, 1), 1);
  command.End();
  runs.join();
  EXPECT_EQ(exit, 128 + SIGKILL);
  EXPECT_EQ(::read(pipe, &byte, 1), 0);
  (void)::close(pipe);
}

TEST(WatchExec, BehindTheEnd_NothingIsStarted) {
  WatchCommand command;
  EXPECT_EQ(command.Run("true", {}), 0);
  command.End();
  EXPECT_EQ(command.Run("true", {}), 127);
}

}  // namespace
}  // namespace kiln::cli
