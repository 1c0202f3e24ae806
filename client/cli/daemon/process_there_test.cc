// SPDX-License-Identifier: MIT
#include "client/cli/daemon/process_there.h"

#include <csignal>
#include <fstream>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
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

// As a daemon whose parent does not wait for it: it holds nothing any more.
TEST(ProcessIsThere, OneThatHasEnded_IsNot) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(0);
  }
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(::kill(child, 0), 0) << "its number is taken";
  EXPECT_FALSE(ProcessIsThere(child));
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
}

// While other threads run, they have what the process has.
TEST(ProcessIsThere, OneWhoseFirstThreadHasEnded_Is) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::thread([told = ends[1]] {
      for (std::string state; state != "Z";) {
        std::ifstream("/proc/self/stat") >> state >> state >> state;  // "1 (name) Z"
      }
      (void)!::write(told, "x", 1);
      ::pause();
    }).detach();
    ::syscall(SYS_exit, 0);  // this thread alone
  }
  (void)::close(ends[1]);
  char said = 0;
  EXPECT_EQ(::read(ends[0], &said, 1), 1);
  EXPECT_TRUE(ProcessIsThere(child));
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(ProcessIsThere(child));
  (void)::close(ends[0]);
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
