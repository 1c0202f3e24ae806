// SPDX-License-Identifier: MIT
#include "compiler/base/threads/child_process.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/base/files/file.h"
#include "compiler/base/test_directory.h"

namespace kiln {
namespace {

int StatusOf(pid_t pid) {
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return status;
}

// What a shell script that is started as a child writes to a file of ours.
std::string SaidBy(const std::string& script) {
  TestDirectory folder;
  const std::string path = std::string(folder.path()) + "/said";
  const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  const Result<pid_t> pid = StartChild({.path = "/bin/sh",
                                        .words = {"sh", "-c", script},
                                        .descriptors = {{.from = file, .to = STDOUT_FILENO}}});
  (void)::close(file);
  EXPECT_TRUE(pid.ok());
  EXPECT_EQ(StatusOf(*pid), 0);
  return ReadFile(path).value();
}

TEST(StartChild, Child_HasNoEnvironment) {
  (void)::setenv("KILN_SECRET_OF_THE_DAEMON", "1", 1);
  EXPECT_EQ(SaidBy("echo \"<$KILN_SECRET_OF_THE_DAEMON$HOME$LD_PRELOAD>\""), "<>\n");
}

TEST(StartChild, Child_HasItsDescriptorsAlone) {
  const int surplus = ::open("/dev/null", O_RDONLY);  // without close-on-exec
  EXPECT_EQ(SaidBy("cd /proc/self/fd; for i in 0 2 3 4 5 6 7 8 9; do test -e $i && echo $i; done; "
                   "test -z \"$(readlink /proc/$$/fd/0 | grep -v /dev/null)\""),
            "0\n2\n");
  (void)::close(surplus);
}

TEST(StartChild, BlockedAndIgnoredSignals_AreTheParentsAlone) {
  sigset_t some;
  sigset_t before;
  (void)::sigemptyset(&some);
  (void)::sigaddset(&some, SIGTERM);
  (void)::pthread_sigmask(SIG_BLOCK, &some, &before);
  const auto handler = ::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(SaidBy("grep SigBlk /proc/self/status"), "SigBlk:\t0000000000000000\n");
  EXPECT_EQ(SaidBy("trap 'exit 0' TERM; kill -TERM $$; echo it is still here"), "");
  EXPECT_EQ(SaidBy("sh -c 'kill -PIPE $$; echo it is still here'; true"), "");
  (void)::signal(SIGPIPE, handler);
  (void)::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(StartChild, ProgramThatIsNotThere_IsUnavailable) {
  const Result<pid_t> pid = StartChild({.path = "/nowhere", .words = {"x"}, .descriptors = {}});
  ASSERT_FALSE(pid.ok());
  EXPECT_EQ(pid.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(pid.error().context, testing::HasSubstr("'/nowhere'"));
}

// Whether that holds in a process that is confined.
template <class Holds>
bool InConfined(const ProcessLimits& limits, const Holds& holds) {
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::_exit(ConfineProcess(limits, parent).ok() && holds() ? 0 : 1);
  }
  return StatusOf(pid) == 0;
}

struct LimitRow {
  const char* name;
  __rlimit_resource what;
  ProcessLimits limits;
  rlim_t most;
};

class EveryLimit : public testing::TestWithParam<LimitRow> {};

TEST_P(EveryLimit, IsSoftAndHard) {
  EXPECT_TRUE(InConfined(GetParam().limits, [] {
    rlimit limit{};
    return ::getrlimit(GetParam().what, &limit) == 0 && limit.rlim_cur == GetParam().most &&
           limit.rlim_max == GetParam().most;
  }));
}

INSTANTIATE_TEST_SUITE_P(Table, EveryLimit,
                         testing::Values(LimitRow{"core", RLIMIT_CORE, {}, 0},
                                         LimitRow{"cpu", RLIMIT_CPU, {.cpu_seconds = 7}, 7},
                                         LimitRow{"file", RLIMIT_FSIZE, {.file_bytes = 4096}, 4096},
                                         LimitRow{"files", RLIMIT_NOFILE, {.open_files = 16}, 16},
                                         LimitRow{"processes", RLIMIT_NPROC, {.processes = 0}, 0}),
                         [](const auto& row) { return std::string(row.param.name); });

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(ConfineProcess, Memory_IsLimitedHard) {
  EXPECT_TRUE(InConfined({.memory_bytes = uint64_t{1} << 30}, [] {
    rlimit limit{};
    return ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_max == rlim_t{1} << 30 &&
           ::malloc(size_t{1} << 30) == nullptr;
  }));
}
#endif

TEST(ConfineProcess, Process_GainsNoPrivilegesAndDiesWithItsParent) {
  EXPECT_TRUE(InConfined({}, [] {
    int on_death = 0;
    return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 &&
           ::prctl(PR_GET_PDEATHSIG, &on_death) == 0 && on_death == SIGKILL;
  }));
}

TEST(ConfineProcess, ParentThatIsGone_IsAnError) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    const Result<void> confined = ConfineProcess({}, ::getpid());  // nobody is his own parent
    ::_exit(!confined.ok() && confined.error().code == ErrorCode::kFailedPrecondition ? 0 : 1);
  }
  EXPECT_EQ(StatusOf(pid), 0);
}

}  // namespace
}  // namespace kiln
