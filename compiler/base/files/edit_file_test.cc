// SPDX-License-Identifier: MIT
#include "compiler/base/files/edit_file.h"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "compiler/base/files/file.h"
#include "compiler/base/test_directory.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

class EditedFile : public testing::Test {
 protected:
  void SetUp() override { std::ofstream(path) << "old"; }
  static mode_t ModeOf(const std::string& of) {
    struct stat status {};
    EXPECT_EQ(stat(of.c_str(), &status), 0);
    return status.st_mode & 07777;
  }

  TestDirectory directory;
  const std::string path = directory.path().string() + "/file.rpl";
};

TEST_F(EditedFile, Mode_Stays) {
  for (const mode_t mode : {0600, 0640, 0664, 0755, 0444}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    ASSERT_TRUE(EditFile(path, AsBytes(std::to_string(mode))).ok());
    EXPECT_EQ(ModeOf(path), mode);
    EXPECT_EQ(*ReadFile(path), std::to_string(mode));
  }
}

TEST_F(EditedFile, Link_StaysAndWhatItLeadsToIsChanged) {
  fs::create_directory(directory.path() / "links");
  const std::string link = directory.path().string() + "/links/link.rpl";
  fs::create_symlink("../file.rpl", link);
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  ASSERT_TRUE(EditFile(link, AsBytes("new")).ok());
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(*ReadFile(path), "new");
  EXPECT_EQ(ModeOf(path), 0600u);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path().string() + "/links"), {}), 1);
}

TEST_F(EditedFile, ThatIsNotThereOrNoFile_IsAnError) {
  EXPECT_EQ(EditFile(directory.path().string() + "/none", AsBytes("x")).error().code,
            ErrorCode::kNotFound);
  EXPECT_EQ(EditFile(directory.path(), AsBytes("x")).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(EditFile("/dev/null", AsBytes("x")).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace kiln
