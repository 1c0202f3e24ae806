// SPDX-License-Identifier: MIT
#include "compiler/base/files/file.h"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

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
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder + "/a/b"),
                          std::filesystem::directory_iterator()),
            1);
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

TEST_F(WholeFile, ModeOfAnOutput_NeverBecomesWider) {
  const std::string path = folder + "/file";
  const struct {
    mode_t before, after;
  } table[] = {{0600, 0600}, {0640, 0640}, {0644, 0644}, {0666, 0644}, {0755, 0644}};
  for (const auto& row : table) {
    const std::string text = std::to_string(row.before);
    std::ofstream(path) << "old";
    ASSERT_EQ(chmod(path.c_str(), row.before), 0);
    const mode_t umask_before = umask(022);
    ASSERT_TRUE(WriteFile(path, AsBytes(text)).ok());
    (void)umask(umask_before);
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, row.after);
  }
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

TEST_F(WholeFile, PipeOrDevice_IsNotReadAndNotWaitedFor) {
  const std::string pipe = folder + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {std::string("/dev/zero"), std::string("/dev/null"), pipe}) {
    const Result<std::string> read = ReadFile(path);
    ASSERT_FALSE(read.ok()) << path;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument) << path;
    EXPECT_EQ(read.error().context,
              "cannot read '" + path + "': it is a pipe, a device or a socket, not a file");
  }
  EXPECT_FALSE(WriteFile(pipe, AsBytes("x")).ok()) << "nobody reads";
}

TEST_F(WholeFile, PipeWithAReader_IsWritten) {
  const std::string pipe = folder + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  ASSERT_TRUE(WriteFile(pipe, AsBytes("through")).ok());
  char text[16] = {};
  EXPECT_EQ(read(reader, text, sizeof text), 7);
  EXPECT_STREQ(text, "through");
  (void)close(reader);
}

TEST_F(WholeFile, Size_IsLimitedBeforeAnythingIsRead) {
  const std::string path = folder + "/file";
  std::ofstream(path) << "four";
  EXPECT_EQ(*ReadFile(path, 4), "four");
  EXPECT_EQ(ReadFile(path, 3).error().code, ErrorCode::kResourceExhausted);
  ASSERT_EQ(truncate(path.c_str(), off_t{5} << 30), 0);  // sparse: costs no disk
  rusage before{};
  rusage after{};
  (void)getrusage(RUSAGE_SELF, &before);
  const Result<std::string> read = ReadFile(path);
  (void)getrusage(RUSAGE_SELF, &after);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(read.error().reason, "LIMIT_EXCEEDED");
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 16 << 10) << "KiB";
}

TEST_F(WholeFile, PreparedTemporaryFile_IsNotFollowed) {
  const std::string victim = folder + "/victim";
  std::ofstream(victim) << "mine";
  std::filesystem::create_symlink(victim, folder + "/file.part");
  ASSERT_TRUE(WriteFile(folder + "/file", AsBytes("new")).ok());
  EXPECT_EQ(*ReadFile(victim), "mine");
}

TEST_F(WholeFile, ManyWritersOfOneFile_LeaveOneWhole) {
  const std::string path = folder + "/file";
  std::vector<std::thread> writers;
  for (char c = 'a'; c < 'i'; ++c) {
    writers.emplace_back([&, c] {
      for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(WriteFile(path, AsBytes(std::string(10'000 + i, c))).ok());
      }
    });
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  const std::string text = *ReadFile(path);
  EXPECT_EQ(text, std::string(text.size(), text.front()));
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
