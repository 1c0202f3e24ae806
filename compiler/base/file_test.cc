// SPDX-License-Identifier: MIT
#include "compiler/base/file.h"

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "compiler/base/test_directory.h"

namespace kiln {
namespace {

class WholeFile : public testing::Test {
 protected:
  TestDirectory directory;
  std::string folder = directory.path();
};

TEST_F(WholeFile, Written_IsReadBackWithEveryByte) {
  const std::string path = folder + "/a/b/file";
  const std::string text("\0\r\n\xff", 4);
  ASSERT_TRUE(WriteFile(path, AsBytes(text)).ok());
  EXPECT_EQ(ReadFile(path).value(), text);
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
}

TEST_F(WholeFile, SameBytes_LeaveTheFileAlone) {
  const std::string path = folder + "/file";
  ASSERT_TRUE(WriteFile(path, AsBytes("one")).ok());
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  std::filesystem::last_write_time(path, old);
  ASSERT_TRUE(WriteFile(path, AsBytes("one")).ok());
  EXPECT_EQ(std::filesystem::last_write_time(path), old);
  ASSERT_TRUE(WriteFile(path, AsBytes("two")).ok());
  EXPECT_NE(std::filesystem::last_write_time(path), old);
}

TEST_F(WholeFile, PipeOrDevice_IsWrittenAndNotReplaced) {
  const std::string link = folder + "/link";
  std::filesystem::create_symlink("/dev/null", link);
  ASSERT_TRUE(WriteFile(link, AsBytes("gone")).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  const Result<void> full = WriteFile("/dev/full", AsBytes("x"));
  ASSERT_FALSE(full.ok());
  EXPECT_NE(full.error().context.find("No space left"), std::string::npos) << full.error().context;
  EXPECT_EQ(full.error().code, ErrorCode::kFull);
}

TEST_F(WholeFile, WithoutAnEnd_IsRefused) {
  EXPECT_EQ(ReadFile("/dev/zero").error().code, ErrorCode::kResourceExhausted);
}

TEST_F(WholeFile, ThatCannotBeReadOrWritten_IsNamedWithTheCause) {
  const struct {
    std::string path, cause;
  } rows[] = {{folder + "/missing", "No such file"},
              {folder, "Is a directory"},
              {"/proc/self/mem", "Input/output error"}};
  for (const auto& row : rows) {
    const Result<std::string> read = ReadFile(row.path);
    ASSERT_FALSE(read.ok()) << row.path;
    EXPECT_NE(read.error().context.find(row.path), std::string::npos);
    EXPECT_NE(read.error().context.find(row.cause), std::string::npos) << read.error().context;
  }
  const Result<void> written = WriteFile("/proc/nowhere/file", AsBytes("x"));
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().context.find("cannot write '/proc/nowhere/file'"), std::string::npos);
}

}  // namespace
}  // namespace kiln
