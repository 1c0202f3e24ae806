// SPDX-License-Identifier: MIT
#include "compiler/base/files/beneath.h"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "compiler/base/test_directory.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

class Beneath : public testing::Test {
 protected:
  Beneath() {
    root = top / "root";
    fs::create_directories(root / "sub");
    std::ofstream(root / "sub/in.txt") << "inside";
    std::ofstream(top / "out.txt") << "outside";
    fs::create_symlink(top / "out.txt", root / "link.txt");
    fs::create_symlink("sub/in.txt", root / "near.txt");
    fs::create_symlink(top, root / "up");
    (void)mkfifo((root / "pipe").c_str(), 0600);
    fs::create_directory_symlink(root, top / "alias");
  }
  TestDirectory directory;
  fs::path top = directory.path();
  fs::path root;
};

TEST_F(Beneath, PathsInside_AreRead) {
  EXPECT_EQ(*ReadFileBeneath(root, "sub/in.txt"), "inside");
  EXPECT_EQ(*ReadFileBeneath(top / "alias", "sub/in.txt"), "inside");  // the root may be a link
}

TEST_F(Beneath, PathsThatLeadOut_AreRefused) {
  for (const char* path : {"../out.txt", "sub/../../out.txt", "link.txt", "near.txt", "up/out.txt",
                           "/etc/passwd", "pipe", "sub"}) {
    const Result<std::string> text = ReadFileBeneath(root, path);
    ASSERT_FALSE(text.ok()) << path;
    EXPECT_EQ(text.error().reason, "OUTSIDE") << path;
    EXPECT_EQ(text.error().code, ErrorCode::kInvalidArgument) << path;
  }
}

TEST_F(Beneath, ModeOfAnOutput_NeverBecomesWider) {
  ASSERT_TRUE(WriteFileBeneath(root, "mode.txt", AsBytes("one")).ok());
  fs::permissions(root / "mode.txt", fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_TRUE(WriteFileBeneath(root, "mode.txt", AsBytes("two")).ok());
  EXPECT_EQ(fs::status(root / "mode.txt").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Beneath, Written_StaysBelow) {
  ASSERT_TRUE(WriteFileBeneath(top / "alias", "new/a/b.txt", AsBytes("one")).ok());
  EXPECT_EQ(*ReadFileBeneath(root, "new/a/b.txt"), "one");
  ASSERT_TRUE(WriteFileBeneath(root, "link.txt", AsBytes("two")).ok());
  EXPECT_EQ(*ReadFileBeneath(root, "link.txt"), "two") << "the link is replaced";
  ASSERT_TRUE(WriteFileBeneath(top / "fresh/root", "c.txt", AsBytes("three")).ok());
  EXPECT_EQ(*ReadFileBeneath(top / "fresh/root", "c.txt"), "three");
  fs::create_directory_symlink(top, root / "sub/away");
  for (const char* path : {"../x", "up/x", "up/new/x", "sub/away/x", "sub/../../x", "/x", "", "..",
                           "sub/..", "sub/", "new/../../x"}) {
    const Result<void> written = WriteFileBeneath(root, path, AsBytes("x"));
    ASSERT_FALSE(written.ok()) << path;
    EXPECT_EQ(written.error().reason, "OUTSIDE") << path << ": " << written.error().context;
  }
  EXPECT_FALSE(fs::exists(top / "x"));
  EXPECT_FALSE(fs::exists(top / "new"));
  std::ifstream out(top / "out.txt");
  std::string text;
  EXPECT_TRUE(std::getline(out, text));
  EXPECT_EQ(text, "outside");
}

TEST_F(Beneath, WrittenAgainWithTheSameBytes_IsLeftAlone) {
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(root / "sub/in.txt", old);
  ASSERT_TRUE(WriteFileBeneath(root, "sub/in.txt", AsBytes("inside")).ok());
  EXPECT_EQ(fs::last_write_time(root / "sub/in.txt"), old);
}

TEST_F(Beneath, Size_IsLimited) {
  EXPECT_EQ(*ReadFileBeneath(root, "sub/in.txt", 6), "inside");
  EXPECT_EQ(ReadFileBeneath(root, "sub/in.txt", 5).error().code, ErrorCode::kResourceExhausted);
}

TEST_F(Beneath, MissingFile_IsNotFound) {
  EXPECT_EQ(ReadFileBeneath(root, "sub/no.txt").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ReadFileBeneath(top / "no", "x").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace kiln
