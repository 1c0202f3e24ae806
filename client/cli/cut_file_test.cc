// SPDX-License-Identifier: MIT
#include "client/cli/cut_file.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "cache/pack/mapped_file.h"
#include "client/cli/failure.h"
#include "compiler/base/files/file.h"
#include "compiler/base/test_directory.h"

namespace kiln::cli {
namespace {

constexpr size_t kBytes = size_t{1} << 20;

// What the last byte is, of a file that has `left` bytes when it is read.
[[noreturn]] void ReadLastOf(const std::string& path, size_t left) {
  AnswerCutFiles();
  const Result<pack::MappedFile> file = pack::MappedFile::Open(path);
  std::filesystem::resize_file(path, left);
  std::_Exit(file.ok() ? std::to_integer<int>(file->bytes().back()) : EXIT_FAILURE);
}

TEST(CutFile, ThatIsRead_EndsTheCommandWithDataLoss) {
  const TestDirectory folder;
  const std::string path = folder.path().string() + "/a.kpack";
  ASSERT_TRUE(WriteFile(path, AsBytes(std::string(kBytes, 'x'))).ok());
  EXPECT_EXIT(ReadLastOf(path, kBytes), testing::ExitedWithCode('x'), "");
  EXPECT_EXIT(ReadLastOf(path, 10), testing::ExitedWithCode(kIntegrity),
              "became shorter while it was read");
}

TEST(CutFile, OtherFaults_HaveTheirUsualEnd) {
  const auto fault = [] {
    AnswerCutFiles();
    (void)std::raise(SIGBUS);
    (void)std::raise(SIGBUS);
    std::_Exit(EXIT_SUCCESS);
  };
  EXPECT_EXIT(fault(), testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace kiln::cli
