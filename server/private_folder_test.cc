// SPDX-License-Identifier: MIT
#include "server/private_folder.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

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

}  // namespace
}  // namespace kiln::server
