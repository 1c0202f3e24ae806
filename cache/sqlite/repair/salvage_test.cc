// SPDX-License-Identifier: MIT
// The process that reads a damaged file: how it is started, and when it does not begin.
#include "cache/sqlite/repair/salvage.h"

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "compiler/base/files/file.h"
#include "compiler/base/test_directory.h"

namespace kiln::cache::sqlite {
namespace {

// Numbers of rows in a damaged file may be the largest that there are.
TEST(Salvage, HolesAtTheLargestNumber_EndThere) {
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  const struct {
    int64_t last;
    int hole;
    std::optional<int64_t> behind;
  } rows[] = {{0, 0, 1},
              {41, 3, 49},
              {-5, 2, -1},
              {kLast - 1, 0, kLast},
              {kLast, 0, std::nullopt},
              {kLast - 1, 1, std::nullopt},
              {0, 62, int64_t{1} << 62},
              {0, 63, std::nullopt},
              {0, 64, std::nullopt}};
  for (const auto& row : rows) {
    EXPECT_EQ(BehindHole(row.last, row.hole), row.behind) << row.last << " " << row.hole;
  }
}

class SalvageChild : public testing::Test {
 protected:
  std::string Path(const std::string& name) const {
    return std::string(folder.path()) + "/" + name;
  }

  // A program that does what the script says with the words of a salvage.
  std::string Program(const std::string& script) const {
    std::string path = Path("program");
    EXPECT_TRUE(WriteFile(path, AsBytes("#!/bin/sh\n" + script)).ok());
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  TestDirectory folder;
};

TEST_F(SalvageChild, IsStartedWithoutEnvironmentSignalsAndDescriptors) {
  (void)::setenv("KILN_SECRET_OF_THE_DAEMON", "1", 1);
  sigset_t some;
  sigset_t before;
  (void)::sigemptyset(&some);
  (void)::sigaddset(&some, SIGTERM);
  (void)::pthread_sigmask(SIG_BLOCK, &some, &before);
  const std::string program = Program(
      "{ echo \"<$KILN_SECRET_OF_THE_DAEMON$HOME>\"; grep SigBlk /proc/self/status;\n"
      "  for i in 3 4 5 6 7 8 9; do test -e /proc/$$/fd/$i && readlink /proc/$$/fd/$i; done\n"
      "  echo \"$1 $2 $3 $4 $5 $6\"; } > '" +
      Path("said") + "'");
  EXPECT_TRUE(StartSalvage(program, "a.db", "b", {}));
  (void)::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(ReadFile(Path("said")).value(),
            "<>\nSigBlk:\t0000000000000000\n"
            "--salvage a.db --into b --with-parent " +
                std::to_string(::getpid()) + "\n");
}

TEST_F(SalvageChild, ThatDies_IsNoSuccess) {
  EXPECT_FALSE(StartSalvage(Program("kill -9 $$"), "a", "b", {}));
  EXPECT_FALSE(StartSalvage(Program("exit 1"), "a", "b", {}));
  EXPECT_FALSE(StartSalvage("/nowhere", "a", "b", {}));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(StartSalvage(Program("while :; do :; done"), "a", "b", stop.get_token()));
}

TEST_F(SalvageChild, WithoutItsParent_ReadsNothingAndSaysWhy) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(SalvageApart(Path("a.db"), Path("into"), ::getpid()));  // nobody is his own parent
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
  EXPECT_EQ(WhyNotSalvaged(Path("into")), "the process that started this one is gone");
  EXPECT_FALSE(std::filesystem::exists(Path("into") + "/cache.db"));
}

}  // namespace
}  // namespace kiln::cache::sqlite
