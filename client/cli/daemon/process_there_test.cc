// SPDX-License-Identifier: MIT
#include "client/cli/daemon/process_there.h"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

TEST(ProcessIsThere, OwnChild_UntilItIsGone) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  EXPECT_TRUE(ProcessIsThere(child));
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(ProcessIsThere(child));
}

// The first process is root's; a child that is somebody else may not signal it.
TEST(ProcessIsThere, OneOfAnotherUser_Is) {
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    const bool somebody = ::geteuid() != 0 || ::setuid(kNobody) == 0;
    ::_exit(somebody && ::kill(1, 0) != 0 && ProcessIsThere(1) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace kiln::cli
