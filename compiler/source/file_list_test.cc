// SPDX-License-Identifier: MIT
#include "compiler/source/file_list.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

ListedFile File(std::string path, std::string_view text) {
  return {.path = std::move(path), .digest = DigestOf(text)};
}

const std::string kId(32, 'a');

TEST(FileList, InAnyOrder_IsTheSameTextAndDigest) {
  const FileList list = *FileList::Of({File("b.h", "two"), File("a/x.h", "one")});
  const FileList other = *FileList::Of({File("a/x.h", "one"), File("b.h", "two")});
  EXPECT_EQ(list.Text(), other.Text());
  EXPECT_EQ(list.digest(), other.digest());
  EXPECT_EQ(list.digest(), DigestOf(list.Text()));
  EXPECT_EQ(list.Find("b.h")->digest, DigestOf(std::string_view("two")));
  EXPECT_EQ(list.Find("a"), nullptr);
  EXPECT_EQ(list.Find("a/x.h"), list.files().data());
}

TEST(FileList, OfNothing_HasADigestToo) {
  EXPECT_EQ(FileList().digest(), FileList::Of({})->digest());
  EXPECT_EQ(FileList().digest(), DigestOf(FileList().Text()));
  EXPECT_TRUE(FileList().empty());
}

TEST(FileList, TextThatItWrote_IsRead) {
  const FileList list = *FileList::Of({File("b c.h", ""), File("a.h", "one")});
  const Result<FileList> read = FileList::Read(list.Text());
  ASSERT_TRUE(read.ok()) << read.error().context;
  EXPECT_EQ(read->digest(), list.digest());
  EXPECT_TRUE(std::ranges::equal(read->files(), list.files()));
}

TEST(FileList, Paths_AreLogicalAndThereOnce) {
  for (const char* path :
       {"", "/a", "../a", "a/../b", "a//b", "./a", "a\\b", "a\nb", "a\x01", "\xff"}) {
    EXPECT_FALSE(FileList::Of({File(path, "")}).ok()) << path;
  }
  EXPECT_FALSE(FileList::Of({File(std::string("a\0b", 3), "")}).ok());
  EXPECT_FALSE(FileList::Of({File("a", ""), File("a", "x")}).ok());
  EXPECT_TRUE(FileList::Of({File("a", ""), File("a.h", "")}).ok());
}

TEST(FileList, OtherTexts_AreRefused) {
  const std::string head = "kiln.files.1\n";
  EXPECT_TRUE(FileList::Read(head + kId + " 3 a\n").ok());
  const std::string wrong[] = {
      "",
      "kiln.files.1",
      "kiln.files.2\n",
      head + "\n",
      head + kId + " 3 a",      // no end
      head + kId + " 3 a\n\n",  // a line too many
      head + kId + " 03 a\n",   // another text of 3
      head + kId + " +3 a\n",
      head + kId + "  a\n",
      head + kId + " 99999999999999999999 a\n",
      head + kId + " 3\n",
      head + kId.substr(1) + " 3 a\n",
      head + "A" + kId.substr(1) + " 3 a\n",  // large digits
      head + kId + " 3 ../a\n",
      head + kId + " 3 b\n" + kId + " 3 a\n",  // out of order
      head + kId + " 3 a\n" + kId + " 3 a\n",
  };
  for (const std::string& text : wrong) {
    EXPECT_FALSE(FileList::Read(text).ok()) << text;
  }
}

TEST(FileList, Limits_AreExact) {
  const auto many = [](size_t count) {
    std::vector<ListedFile> files;
    for (size_t i = 0; i < count; ++i) {
      files.push_back(File(std::to_string(i), ""));
    }
    return files;
  };
  EXPECT_TRUE(FileList::Of(many(FileList::kMost)).ok());
  EXPECT_EQ(FileList::Of(many(FileList::kMost + 1)).error().reason, "LIMIT_EXCEEDED");
  ListedFile large = File("a", "");
  large.digest.size = FileList::kMostBytes;
  EXPECT_TRUE(FileList::Of({large}).ok());
  ListedFile more = File("b", "x");
  EXPECT_EQ(FileList::Of({large, more}).error().reason, "LIMIT_EXCEEDED");
  EXPECT_EQ(FileList::Read(std::string(FileList::kMostText + 1, 'a')).error().reason,
            "LIMIT_EXCEEDED");
}

}  // namespace
}  // namespace kiln
