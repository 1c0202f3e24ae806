// SPDX-License-Identifier: MIT
#include "compiler/base/files/own_folder.h"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "compiler/base/test_directory.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kStranger = 65'534;

class OwnFolderTest : public testing::Test {
 protected:
  // A folder with that mode, whatever the umask.
  std::string Folder(const std::string& name, mode_t mode) {
    const std::string path = directory.path() / name;
    fs::create_directory(path);
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }
  TestDirectory directory;
};

TEST_F(OwnFolderTest, OfThisUserAlone_IsOpened) {
  for (const mode_t mode : {0700, 0711, 0755}) {
    const Result<OwnFolder> folder = OwnFolder::Open(Folder(std::to_string(mode), mode));
    ASSERT_TRUE(folder.ok()) << folder.error().context;
    EXPECT_EQ(folder->mode(), mode);
  }
}

TEST_F(OwnFolderTest, WhatOthersCanChange_IsRefusedByName) {
  const std::string own = Folder("own", 0700);
  const std::string link = directory.path() / "link";
  fs::create_directory_symlink(own, link);
  std::ofstream(directory.path() / "file") << "x";
  const struct {
    std::string path, cause;
  } rows[] = {{Folder("group", 0770), "may be written by others"},
              {Folder("all", 0777), "may be written by others"},
              {Folder("sticky", 01777), "may be written by others"},
              {link, "is a link"},
              {link + "/", "is a link"},
              {link + "/.", "is a link"},
              {directory.path() / "file", "no folder"}};
  for (const auto& row : rows) {
    const Result<OwnFolder> folder = OwnFolder::Make(row.path);
    ASSERT_FALSE(folder.ok()) << row.path;
    EXPECT_EQ(folder.error().code, ErrorCode::kPermissionDenied) << row.path;
    EXPECT_EQ(folder.error().reason, kNotOwn);
    EXPECT_NE(folder.error().context.find(row.path), std::string::npos) << folder.error().context;
    EXPECT_NE(folder.error().context.find(row.cause), std::string::npos) << folder.error().context;
  }
}

// As root a folder is given away; else the root of the file system is another's.
TEST_F(OwnFolderTest, OfAnotherUser_IsRefused) {
  std::string path = "/";
  if (geteuid() == 0) {
    path = Folder("strange", 0700);
    ASSERT_EQ(chown(path.c_str(), kStranger, kStranger), 0);
  }
  const Result<OwnFolder> folder = OwnFolder::Open(path);
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().reason, kNotOwn);
  EXPECT_NE(folder.error().context.find("belongs to user"), std::string::npos)
      << folder.error().context;
}

TEST_F(OwnFolderTest, Missing_IsNotFoundOrMadeWithAllAboveIt) {
  const std::string path = directory.path() / "a/b/c";
  EXPECT_EQ(OwnFolder::Open(path).error().code, ErrorCode::kNotFound);
  const mode_t before = umask(0);
  const Result<OwnFolder> made = OwnFolder::Make(path);
  (void)umask(before);
  ASSERT_TRUE(made.ok()) << made.error().context;
  for (const char* part : {"a", "a/b", "a/b/c"}) {
    struct stat found {};
    ASSERT_EQ(stat((directory.path() / part).c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777, 0700u) << part;
  }
}

TEST_F(OwnFolderTest, Renamed_StaysTheOneThatWasOpened) {
  const std::string path = Folder("now", 0700);
  const Result<OwnFolder> folder = OwnFolder::Open(path);
  ASSERT_TRUE(folder.ok());
  fs::rename(path, directory.path() / "then");
  fs::create_directory(path);
  const Result<int> file = folder->OpenFile("f", O_RDWR | O_CREAT);
  ASSERT_TRUE(file.ok());
  (void)close(*file);
  EXPECT_TRUE(fs::exists(directory.path() / "then/f"));
  EXPECT_FALSE(fs::exists(path + "/f"));
}

TEST_F(OwnFolderTest, File_IsMadeForThisUserAlone) {
  const std::string path = Folder("own", 0700);
  const mode_t before = umask(0);
  const Result<int> file = OwnFolder::Open(path)->OpenFile("f", O_RDWR | O_CREAT);
  (void)umask(before);
  ASSERT_TRUE(file.ok()) << file.error().context;
  struct stat found {};
  ASSERT_EQ(fstat(*file, &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0600u);
  EXPECT_NE(fcntl(*file, F_GETFD) & FD_CLOEXEC, 0);
  (void)close(*file);
}

TEST_F(OwnFolderTest, PreparedFile_IsRefusedAtOnceAndStaysAsItWas) {
  const std::string path = Folder("own", 0700);
  const std::string victim = directory.path() / "victim";
  std::ofstream(victim) << "mine";
  fs::create_symlink(victim, path + "/link");
  fs::create_symlink(directory.path() / "new", path + "/dangling");
  fs::create_hard_link(victim, path + "/twin");
  ASSERT_EQ(mkfifo((path + "/pipe").c_str(), 0600), 0);
  fs::create_directory(path + "/folder");
  std::ofstream(path + "/open") << "x";
  ASSERT_EQ(chmod((path + "/open").c_str(), 0666), 0);
  const Result<OwnFolder> folder = OwnFolder::Open(path);
  ASSERT_TRUE(folder.ok());
  for (const char* name : {"link", "dangling", "twin", "pipe", "open", "../victim"}) {
    for (const int flags : {O_WRONLY | O_APPEND | O_CREAT, O_RDWR | O_CREAT, O_RDONLY}) {
      const Result<int> file = folder->OpenFile(name, flags);
      ASSERT_FALSE(file.ok()) << name;
      EXPECT_EQ(file.error().reason, kNotOwn) << name << ": " << file.error().context;
    }
  }
  EXPECT_FALSE(folder->OpenFile("folder", O_RDWR).ok());
  EXPECT_FALSE(fs::exists(directory.path() / "new"));
  if (geteuid() == 0) {
    std::ofstream(path + "/strange") << "x";
    ASSERT_EQ(chown((path + "/strange").c_str(), kStranger, kStranger), 0);
    EXPECT_EQ(folder->OpenFile("strange", O_RDWR).error().reason, kNotOwn);
  }
}

}  // namespace
}  // namespace kiln
