// SPDX-License-Identifier: MIT
#include "server/ops/crash_report.h"

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "compiler/base/test_directory.h"
#include "compiler/base/threads/thread.h"

namespace kiln::ops {
namespace {

namespace fs = std::filesystem;

class CrashReport : public testing::TestWithParam<int> {
 protected:
  TestDirectory directory;
  std::string folder = directory.path();
};

TEST_P(CrashReport, ProcessThatDies_LeavesOneAndDiesOfTheSameSignal) {
  const pid_t child = fork();
  if (child == 0) {
    InstallCrashReport(folder, "build-7");
    SetCrashTrace("0123abcd");
    (void)raise(GetParam());
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), GetParam());
  const std::optional<std::string> report = TakeCrashReports(folder);
  ASSERT_TRUE(report.has_value());
  EXPECT_NE(report->find("crash-" + std::to_string(child) + ".txt"), std::string::npos);
  EXPECT_NE(report->find("\nbuild build-7\ntrace 0123abcd\n"), std::string::npos) << *report;
  EXPECT_GT(std::count(report->begin(), report->end(), '\n'), 5);  // frames
  EXPECT_FALSE(TakeCrashReports(folder).has_value());              // told once
}

INSTANTIATE_TEST_SUITE_P(Signals, CrashReport, testing::Values(SIGSEGV, SIGABRT, SIGFPE),
                         [](const auto& row) {
                           return "SIG" + std::string(sigabbrev_np(row.param));
                         });

// Deeper than any stack. What it adds up keeps it from being a loop.
int Overflow(int depth) {
  if (depth == INT_MAX) {
    return 0;
  }
  volatile char block[4096] = {};
  block[depth % 4096] = 1;
  return Overflow(depth + 1) + block[(depth + 1) % 4096];
}

struct Overflowing {
  const char* name;
  void (*run)();
};

class StackOverflow : public testing::TestWithParam<Overflowing> {};

TEST_P(StackOverflow, LeavesAReport) {
  const TestDirectory folder;
  const pid_t child = fork();
  if (child == 0) {
    InstallCrashReport(folder.path(), "build-7");
    GetParam().run();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGSEGV);
  const std::optional<std::string> report = TakeCrashReports(folder.path());
  ASSERT_TRUE(report.has_value());
  EXPECT_NE(report->find("kilnd ended by SIGSEGV\nbuild build-7\n"), std::string::npos) << *report;
  EXPECT_GT(std::count(report->begin(), report->end(), '\n'), 20);  // frames
}

INSTANTIATE_TEST_SUITE_P(Threads, StackOverflow,
                         testing::Values(Overflowing{"main", [] { (void)Overflow(0); }},
                                         Overflowing{"of_a_call",
                                                     [] {
                                                       std::thread([] {
                                                         SetCrashTrace("0123abcd");
                                                         (void)Overflow(0);
                                                       }).join();
                                                     }},
                                         Overflowing{"thread_of_kiln",
                                                     [] {
                                                       Thread({.name = "test"}, [](const auto&) {
                                                         (void)Overflow(0);
                                                       }).join();
                                                     }}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(TakeCrashReports, FolderThatIsNotThere_HasNone) {
  EXPECT_FALSE(TakeCrashReports("/nowhere").has_value());
}

}  // namespace
}  // namespace kiln::ops
