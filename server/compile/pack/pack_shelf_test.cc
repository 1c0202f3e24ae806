// SPDX-License-Identifier: MIT
// Which packs stay. What is in a pack is for its reader to check; here files of any bytes do.
#include "server/compile/pack/pack_shelf.h"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "compiler/base/test_directory.h"

namespace kiln::compile {
namespace {

Hash128 Id(const std::string& name) { return HashBytes(AsBytes(name)); }

class PackShelfTest : public testing::Test {
 protected:
  // The reason of the error, or nothing.
  std::string Keep(const std::string& name, const std::string& owner, size_t bytes = 1) {
    const std::string file = *shelf.NewFile();
    std::ofstream(file) << std::string(bytes, 'p');
    // Two files of one instant have no order but that of their names.
    const Result<void> kept = shelf.Keep(file, Id(name), owner);
    if (kept.ok()) {
      Age(name);
    }
    return kept.ok() ? "" : kept.error().reason;
  }
  // What is kept now was kept long ago, and before what comes next.
  void Age(const std::string& name) {
    namespace fs = std::filesystem;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
      if (entry.path().stem() == Id(name).hex()) {
        fs::last_write_time(entry.path(),
                            fs::file_time_type::clock::now() - std::chrono::hours(1000 - ++kept_));
      }
    }
  }
  std::string There(const std::string& names) {
    std::string there;
    for (const char name : names) {
      there += shelf.HasInstead(*shelf.NewFile(), Id(std::string(1, name))) ? name : '-';
    }
    return there;
  }

  TestDirectory folder;
  PackShelf shelf{std::filesystem::path(folder.path()) / "packs",
                  {.max_packs = 3, .max_bytes = 1000}};

 private:
  int kept_ = 0;
};

TEST_F(PackShelfTest, ManyOfOne_DropHisOldest) {
  for (const char* const name : {"a", "b"}) {
    EXPECT_EQ(Keep(name, "tenant:a"), "");
  }
  EXPECT_EQ(Keep("o", "owner"), "");
  for (const char* const name : {"p", "q", "r", "s"}) {
    EXPECT_EQ(Keep(name, "tenant:b"), "");
  }
  EXPECT_EQ(There("abopqrs"), "abo-qrs");
}

// A pack that two have built is there as long as one of them keeps it.
TEST_F(PackShelfTest, OneOfTwo_IsThereUntilBothHaveDroppedIt) {
  EXPECT_EQ(Keep("x", "tenant:a"), "");
  EXPECT_EQ(Keep("x", "tenant:b"), "");
  for (const char* const name : {"p", "q", "r"}) {
    EXPECT_EQ(Keep(name, "tenant:b"), "");
  }
  EXPECT_EQ(There("x"), "x");
  for (const char* const name : {"s", "t", "u"}) {
    EXPECT_EQ(Keep(name, "tenant:a"), "");
  }
  EXPECT_EQ(There("x"), "-");
}

TEST_F(PackShelfTest, BytesOfAll_AreDivided) {
  EXPECT_EQ(Keep("o", "owner", 250), "");
  EXPECT_EQ(Keep("a", "tenant:a", 300), "");
  EXPECT_EQ(Keep("b", "tenant:a", 200), "");
  EXPECT_EQ(Keep("c", "tenant:b", 250), "");
  EXPECT_EQ(There("oabc"), "oabc");
  EXPECT_EQ(Keep("d", "tenant:b", 100), "");
  EXPECT_EQ(There("oabcd"), "o-bcd") << "tenant:a had most";
  EXPECT_EQ(Keep("e", "tenant:a", 501), "LIMIT_EXCEEDED");
  EXPECT_EQ(There("oabcde"), "o-bcd-") << "nothing makes room for what has none";
  EXPECT_EQ(Keep("e", "tenant:a", 400), "");
  EXPECT_EQ(There("oabcde"), "o--cde");
  EXPECT_EQ(Keep("f", "owner", 1000), "");
  EXPECT_EQ(There("oabcdef"), "------f") << "all that is there may be the owner's";
}

// Packs of a daemon that had one folder for all are the owner's, and what was half done is gone.
TEST_F(PackShelfTest, NextDaemon_FindsThemAndDropsWhatIsHalfDone) {
  EXPECT_EQ(Keep("a", "tenant:a"), "");
  EXPECT_EQ(Keep("o", "owner"), "");
  const std::string half = *shelf.NewFile();
  std::ofstream(half) << "half";
  PackShelf next(std::filesystem::path(folder.path()) / "packs", {});
  EXPECT_FALSE(std::filesystem::exists(half));
  EXPECT_TRUE(next.HasInstead(*next.NewFile(), Id("a")));
  EXPECT_TRUE(next.HasInstead(*next.NewFile(), Id("o")));
  EXPECT_EQ(next.Open(Id("none"), {}).error().reason, "UNKNOWN_PACK");
  EXPECT_EQ(next.Open(Id("a"), {}).error().reason, "DAMAGED");
}

TEST_F(PackShelfTest, DamagedPack_IsToldWithoutWhereItLies) {
  EXPECT_EQ(Keep("a", "tenant:a"), "");
  EXPECT_EQ(Keep("o", "owner"), "");
  for (const char* const name : {"a", "o"}) {
    const Error error = shelf.Open(Id(name), {}).error();
    EXPECT_EQ(error.reason, "DAMAGED");
    EXPECT_EQ(error.context.find(folder.path()), std::string::npos) << error.context;
    EXPECT_NE(error.context.find(Id(name).hex()), std::string::npos) << error.context;
    const Result<std::unique_ptr<pack::Pack>> opened = shelf.OpenPack(Id(name));
    EXPECT_EQ(opened.error().context.find(folder.path()), std::string::npos)
        << opened.error().context;
  }
}

// Only the daemon's user can put a link there, and even then nothing else is read through it.
TEST_F(PackShelfTest, Links_AreNotFollowed) {
  EXPECT_EQ(Keep("a", "owner"), "");
  const std::filesystem::path packs = std::filesystem::path(folder.path()) / "packs";
  std::filesystem::create_symlink(packs / (Id("a").hex() + ".kpack"),
                                  packs / (Id("b").hex() + ".kpack"));
  std::filesystem::create_directories(std::filesystem::path(folder.path()) / "else");
  std::ofstream(std::filesystem::path(folder.path()) / "else" / (Id("c").hex() + ".kpack")) << "c";
  std::filesystem::create_symlink(std::filesystem::path(folder.path()) / "else",
                                  packs / "of-others");
  for (const char* const name : {"b", "c"}) {
    EXPECT_EQ(shelf.Open(Id(name), {}).error().reason, "UNKNOWN_PACK") << name;
    EXPECT_EQ(shelf.OpenPack(Id(name)).error().reason, "UNKNOWN_PACK") << name;
  }
}

}  // namespace
}  // namespace kiln::compile
