// SPDX-License-Identifier: MIT
#include "server/ops/machine.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace kiln::ops {
namespace {

// In a process of its own: a hard limit that was lowered stays.
TEST(Machine, DescriptorLimit_RisesToWhatTheSystemAllowsAndNeverFalls) {
  struct Row {
    rlim_t soft, hard, wanted, got;
  };
  for (const Row& row : {Row{64, 256, 128, 128}, Row{64, 256, 1000, 256}, Row{64, 256, 32, 64}}) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      rlimit limit{.rlim_cur = row.soft, .rlim_max = row.hard};
      const bool set = setrlimit(RLIMIT_NOFILE, &limit) == 0;
      const uint64_t told = RaiseDescriptorLimit(row.wanted);
      const bool found = getrlimit(RLIMIT_NOFILE, &limit) == 0;
      _exit(set && found && told == row.got && limit.rlim_cur == row.got ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << row.wanted;
  }
}

}  // namespace
}  // namespace kiln::ops
