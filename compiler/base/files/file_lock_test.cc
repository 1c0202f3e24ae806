// SPDX-License-Identifier: MIT
#include "compiler/base/files/file_lock.h"

#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

namespace kiln {
namespace {

class FileLocks : public testing::Test {
 protected:
  FileLocks() { (void)::unlink(path_.c_str()); }
  ~FileLocks() override { (void)::unlink(path_.c_str()); }

  // Each call opens the file anew, so each counts as another holder.
  FileLock Open(int flags = O_RDWR) {
    return FileLock(::open(path_.c_str(), flags | O_CREAT | O_CLOEXEC, 0600));
  }
  // Puts a text where the holder writes its number.
  void Write(const std::string& text) {
    const Descriptor file(::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    ASSERT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

 private:
  const std::string path_ = testing::TempDir() + "file_lock_" + std::to_string(::getpid());
};

TEST_F(FileLocks, OneThatIsTaken_IsRefusedToOthers) {
  FileLock first = Open();
  FileLock second = Open();
  EXPECT_TRUE(first.Try());
  EXPECT_FALSE(second.Try());
  EXPECT_EQ(errno, EWOULDBLOCK);
}

TEST_F(FileLocks, OneThatWentWithItsHolder_IsTaken) {
  std::optional<FileLock> first(Open());
  ASSERT_TRUE(first->Wait());
  first.reset();
  EXPECT_TRUE(Open().Try());
}

TEST_F(FileLocks, Move_KeepsIt) {
  FileLock first = Open();
  ASSERT_TRUE(first.Wait());
  const FileLock moved = std::move(first);
  EXPECT_FALSE(Open().Try());
  EXPECT_GE(moved.file(), 0);
}

TEST_F(FileLocks, IsHeld_TakesNothing) {
  FileLock asking = Open();
  FileLock other = Open();
  EXPECT_FALSE(asking.IsHeld());
  EXPECT_TRUE(other.Try());
  EXPECT_TRUE(asking.IsHeld());
}

TEST_F(FileLocks, Holder_IsWhoWroteLast) {
  Write("123456789012345678\n");
  FileLock lock = Open();
  ASSERT_TRUE(lock.Try());
  ASSERT_TRUE(lock.WriteHolder());
  EXPECT_EQ(Open().ReadHolder(), ::getpid());
}

TEST_F(FileLocks, HolderThatIsNoNumber_IsNobody) {
  for (const char* const text : {"", "\n", "kilnd\n", "99999999999999999999\n"}) {
    Write(text);
    EXPECT_FALSE(Open().ReadHolder().has_value()) << text;
  }
}

TEST_F(FileLocks, FileForReading_TakesNoHolder) {
  FileLock lock = Open(O_RDONLY);
  ASSERT_TRUE(lock.Try());
  EXPECT_FALSE(lock.WriteHolder());
}

TEST_F(FileLocks, NoFile_IsNotLocked) {
  FileLock none(-1);
  EXPECT_FALSE(none.Try());
  EXPECT_FALSE(none.Wait());
  EXPECT_EQ(errno, EBADF);
  EXPECT_FALSE(none.IsHeld());
}

}  // namespace
}  // namespace kiln
