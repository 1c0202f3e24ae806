// SPDX-License-Identifier: MIT
#include "cache/pack/write/file_writer.h"

#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "compiler/base/files/file.h"
#include "compiler/base/test_directory.h"

namespace kiln::pack {
namespace {

size_t FilesIn(const std::filesystem::path& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

// Not every file system has files without a name; where there are none, a kill leaves one.
size_t LeftByAKill(const std::filesystem::path& folder) {
  const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  (void)(file < 0 ? 0 : ::close(file));
  return file < 0 ? 1 : 0;
}

TEST(FileWriter, OfAKilledProcess_NothingIsLeft) {
  const TestDirectory folder;
  const std::string path = (folder.path() / "a.kpack").string();
  const pid_t child = ::fork();
  if (child == 0) {
    Result<FileWriter> file = FileWriter::Create(path);
    const bool written = file.ok() && file->Write(AsBytes(std::string_view("half"))).ok();
    ::_exit(written ? 0 : 1);  // no destructor runs, as when it is killed
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(FilesIn(folder.path()), LeftByAKill(folder.path()));
}

TEST(FileWriter, Published_ReplacesWhatWasThere) {
  const TestDirectory folder;
  const std::string path = (folder.path() / "a.kpack").string();
  for (const std::string text : {"one", "another"}) {
    Result<FileWriter> file = FileWriter::Create(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Write(AsBytes(text)).ok());
    EXPECT_EQ(file->size(), text.size());
    FileWriter moved = std::move(file).value();
    ASSERT_TRUE(moved.Publish().ok());
    EXPECT_EQ(*ReadFile(path), text);
    EXPECT_EQ(FilesIn(folder.path()), 1u);
  }
}

TEST(FileWriter, Unpublished_CanBeReadAndLeavesNothing) {
  const TestDirectory folder;
  {
    Result<FileWriter> file = FileWriter::Create((folder.path() / "a.kpack").string());
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Write(AsBytes(std::string_view("text"))).ok());
    EXPECT_EQ(*ReadFile(file->ReadableAs()), "text");
  }
  EXPECT_EQ(FilesIn(folder.path()), 0u);
}

TEST(FileWriter, WithoutAFolder_IsAnError) {
  const TestDirectory folder;
  EXPECT_FALSE(FileWriter::Create((folder.path() / "none" / "a.kpack").string()).ok());
}

}  // namespace
}  // namespace kiln::pack
