// SPDX-License-Identifier: MIT
#include "compiler/base/files/new_file.h"

#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

#include "compiler/base/files/file.h"
#include "compiler/base/test_directory.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

class NewFileTest : public testing::Test {
 protected:
  Result<NewFile> Make() { return NewFile::Create(AT_FDCWD, path, path); }
  size_t FilesInFolder() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(directory.path()), fs::directory_iterator()));
  }
  TestDirectory directory;
  std::string path = directory.path() / "file";
};

TEST_F(NewFileTest, TwoWriters_DoNotMeet) {
  Result<NewFile> first = Make();
  Result<NewFile> second = Make();
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_TRUE(first->Write(AsBytes("first of two")).ok());
  ASSERT_TRUE(second->Write(AsBytes("second")).ok());
  ASSERT_TRUE(second->Publish().ok());
  EXPECT_EQ(*ReadFile(path), "second");
  ASSERT_TRUE(first->Publish().ok());
  EXPECT_EQ(*ReadFile(path), "first of two");
  EXPECT_EQ(FilesInFolder(), 1u);
}

TEST_F(NewFileTest, NotPublished_LeavesNothing) {
  {
    Result<NewFile> file = Make();
    ASSERT_TRUE(file.ok() && file->Write(AsBytes("x")).ok());
  }
  EXPECT_EQ(FilesInFolder(), 0u);
}

TEST_F(NewFileTest, Link_IsReplacedAndNotFollowed) {
  const std::string victim = directory.path() / "victim";
  ASSERT_TRUE(WriteFile(victim, AsBytes("mine")).ok());
  fs::create_symlink(victim, path);
  Result<NewFile> file = Make();
  ASSERT_TRUE(file.ok() && file->Write(AsBytes("x")).ok() && file->Publish().ok());
  EXPECT_EQ(*ReadFile(victim), "mine");
  EXPECT_FALSE(fs::is_symlink(path));
}

TEST_F(NewFileTest, Mode_IsNeverForOthersToWrite) {
  const mode_t before = umask(0);
  Result<NewFile> file = Make();
  (void)umask(before);
  ASSERT_TRUE(file.ok() && file->Publish().ok());
  struct stat found {};
  ASSERT_EQ(stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0644u);
}

TEST_F(NewFileTest, LongestName_IsWritten) {
  path = directory.path() / std::string(255, 'x');
  Result<NewFile> file = Make();
  ASSERT_TRUE(file.ok() && file->Publish().ok());
  EXPECT_TRUE(fs::exists(path));
}

class DurableFile : public NewFileTest {};

// Not every file system has files without a name; where there are none, a kill leaves one.
size_t LeftByAKill(const fs::path& folder) {
  const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  (void)(file < 0 ? 0 : ::close(file));
  return file < 0 ? 1 : 0;
}

template <class MakeFile>
int WriteAndBeKilled(const MakeFile& make) {
  const pid_t child = ::fork();
  if (child == 0) {
    Result<NewFile> file = make();
    const bool written = file.ok() && file->Write(AsBytes(std::string_view("half"))).ok();
    ::_exit(written ? 0 : 1);  // no destructor runs, as when it is killed
  }
  int status = -1;
  return ::waitpid(child, &status, 0) == child ? status : -1;
}

TEST_F(NewFileTest, OfAKilledProcess_NothingIsLeft) {
  EXPECT_EQ(WriteAndBeKilled([this] { return Make(); }), 0);
  EXPECT_EQ(FilesInFolder(), LeftByAKill(directory.path()));
}

TEST_F(DurableFile, OfAKilledProcess_NothingIsLeft) {
  EXPECT_EQ(WriteAndBeKilled([this] { return NewFile::CreateDurable(path); }), 0);
  EXPECT_EQ(FilesInFolder(), LeftByAKill(directory.path()));
}

TEST_F(DurableFile, Mode_IsWhatWasAskedFor) {
  Result<NewFile> file = NewFile::CreateDurable(path, 0600);
  ASSERT_TRUE(file.ok() && file->Publish().ok());
  struct stat found {};
  ASSERT_EQ(stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0600u);
}

TEST_F(DurableFile, Published_ReplacesWhatWasThere) {
  for (const std::string text : {"one", "another"}) {
    Result<NewFile> file = NewFile::CreateDurable(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Write(AsBytes(text)).ok());
    EXPECT_EQ(file->size(), text.size());
    NewFile moved = std::move(file).value();
    ASSERT_TRUE(moved.Publish().ok());
    EXPECT_EQ(*ReadFile(path), text);
    EXPECT_EQ(FilesInFolder(), 1u);
  }
}

TEST_F(DurableFile, Unpublished_CanBeReadAndLeavesNothing) {
  {
    Result<NewFile> file = NewFile::CreateDurable(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Write(AsBytes(std::string_view("text"))).ok());
    EXPECT_EQ(*ReadFile(file->ReadableAs()), "text");
  }
  EXPECT_EQ(FilesInFolder(), 0u);
}

TEST_F(DurableFile, WithoutAFolder_IsAnError) {
  EXPECT_FALSE(NewFile::CreateDurable((directory.path() / "none" / "a.kpack").string()).ok());
}

}  // namespace
}  // namespace kiln
