// SPDX-License-Identifier: MIT
#include "server/ops/crash_report.h"

#include <csignal>
#include <cstring>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "compiler/base/test_directory.h"

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

TEST(TakeCrashReports, FolderThatIsNotThere_HasNone) {
  EXPECT_FALSE(TakeCrashReports("/nowhere").has_value());
}

}  // namespace
}  // namespace kiln::ops
