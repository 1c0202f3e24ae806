// SPDX-License-Identifier: MIT
#include "server/private_folder.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "compiler/base/test_directory.h"

namespace kiln::server {
namespace {

namespace fs = std::filesystem;

class PrivateFolder : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder / "cache");
    fs::permissions(folder, fs::perms::owner_all);
    std::ofstream(folder / "kilnd.log") << "a line";
    std::ofstream(folder / "cache/cache.db") << "rows";
  }

  TestDirectory directory;
  const fs::path folder = directory.path() / "kiln-abcdef";
};

TEST_F(PrivateFolder, IsMadeForThisUserAlone) {
  const std::string pattern = directory.path().string() + "/kiln-XXXXXX";
  const Result<std::string> made = MakePrivateFolder(pattern);
  ASSERT_TRUE(made.ok()) << made.error().context;
  EXPECT_NE(*made, pattern);
  EXPECT_EQ(fs::status(*made).permissions(), fs::perms::owner_all);
  RemovePrivateFolder(*made);
  EXPECT_FALSE(fs::exists(*made));
  for (const std::string& wrong :
       {std::string("/nowhere/kiln-XXXXXX"), directory.path().string() + "/kiln"}) {
    EXPECT_FALSE(MakePrivateFolder(wrong).ok());
  }
}

TEST_F(PrivateFolder, GoesWithAllThatIsInIt) {
  RemovePrivateFolder(folder.string());
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_TRUE(fs::exists(directory.path()));
}

// As a daemon that is killed while it starts.
TEST_F(PrivateFolder, InWhichFilesAreMade_GoesAllTheSame) {
  std::atomic<bool> over = false;
  std::thread makes([&] {
    for (int i = 0; i < 8; ++i) {
      std::ofstream(folder / std::to_string(i)) << "a line";
    }
    over = true;
  });
  while (!over) {
    RemovePrivateFolder(folder.string());
  }
  makes.join();
  RemovePrivateFolder(folder.string());
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(PrivateFolder, ThatOthersMayWriteOrThatIsALink_Stays) {
  fs::permissions(folder, fs::perms::all);
  RemovePrivateFolder(folder.string());
  EXPECT_TRUE(fs::exists(folder / "kilnd.log"));
  fs::permissions(folder, fs::perms::owner_all);
  fs::create_directory_symlink(folder, directory.path() / "link");
  RemovePrivateFolder((directory.path() / "link").string());
  EXPECT_TRUE(fs::exists(folder / "kilnd.log"));
  RemovePrivateFolder("");
  RemovePrivateFolder((directory.path() / "nowhere").string());
}

// How a process ended that leaves the folder.
int CodeOf(const std::string& program, const fs::path& folder, bool makes_it_again) {
  const pid_t child = fork();
  if (child == 0) {
    std::thread makes([&] {
      while (makes_it_again) {
        (void)mkdir(folder.c_str(), 0700);
      }
    });
    LeavePrivateFolder(program, folder.string(), 7);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// As a daemon that is told to end while it makes the folder of its socket.
TEST_F(PrivateFolder, ThatAnotherThreadMakesAgain_IsGoneWithTheProcess) {
  const std::string program = (directory.path() / "program").string();
  std::ofstream(program) << "#!/bin/sh\n[ \"$1\" = " << kRemoveAfter
                         << " ] && rm -r \"$2\"\nexit \"$3\"\n";
  fs::permissions(program, fs::perms::owner_all);
  EXPECT_EQ(CodeOf(program, folder, true), 7);
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(PrivateFolder, WithoutAProgram_IsRemovedByTheProcessItself) {
  EXPECT_EQ(CodeOf("/nowhere/kilnd", folder, false), 7);
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_EQ(CodeOf("/nowhere/kilnd", {}, false), 7);
}

TEST_F(PrivateFolder, IsRemovedAfter_ByItsNameOnly) {
  EXPECT_EQ(RemoveAfter(folder.string(), "7"), 7);
  EXPECT_FALSE(fs::exists(folder));
  for (const char* other : {"kiln-abcde", "kiln-abcdefg", "kiln-abc.ef", "Kiln-abcdef", "home"}) {
    const fs::path kept = directory.path() / other;
    fs::create_directory(kept);
    fs::permissions(kept, fs::perms::owner_all);
    EXPECT_EQ(RemoveAfter(kept.string(), "0"), 0);
    EXPECT_TRUE(fs::exists(kept)) << other;
  }
  EXPECT_EQ(RemoveAfter("", "143"), 143);
}

}  // namespace
}  // namespace kiln::server
