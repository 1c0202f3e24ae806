// SPDX-License-Identifier: MIT
#include "compiler/base/beneath.h"

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
