// SPDX-License-Identifier: MIT
#include "client/project/watch.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "client/project/limits.h"
#include "compiler/base/test_directory.h"

namespace kiln::project {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
constexpr auto kWhole = Debounce::ChangeKind::kWhole;
constexpr auto kPart = Debounce::ChangeKind::kPart;

struct Touch {
  milliseconds at;
  Debounce::ChangeKind what;
};

milliseconds DueAfter(const std::vector<Touch>& touches) {
  Debounce debounce(milliseconds(50));
  for (const Touch& touch : touches) {
    debounce.Touch(touch.at, touch.what);
  }
  return std::chrono::duration_cast<milliseconds>(*debounce.Due());
}

TEST(Debounce, DueTimes_Table) {
  using ms = milliseconds;
  EXPECT_EQ(DueAfter({{ms(1000), kWhole}}), ms(1002)) << "the first event: at once";
  EXPECT_EQ(DueAfter({{ms(1000), kWhole}, {ms(1001), kWhole}}), ms(1002)) << "gathered with it";
  EXPECT_EQ(DueAfter({{ms(1000), kPart}}), ms(1050)) << "about to change again";
  EXPECT_EQ(DueAfter({{ms(1000), kPart}, {ms(1010), kWhole}}), ms(1012)) << "and it did";
  EXPECT_EQ(DueAfter({{ms(1000), kPart}, {ms(1040), kPart}, {ms(1080), kPart}}), ms(1130));
}

TEST(Debounce, Burst_WaitsForQuietButNotForEver) {
  Debounce debounce(milliseconds(50));
  debounce.Touch(milliseconds(1000), kWhole);
  debounce.Pushed();
  EXPECT_FALSE(debounce.Due().has_value());
  debounce.Touch(milliseconds(1010), kWhole);
  EXPECT_EQ(debounce.Due(), milliseconds(1060));
  for (int at = 1020; at <= 1250; at += 10) {
    debounce.Touch(milliseconds(at), kWhole);
  }
  EXPECT_EQ(debounce.Due(), milliseconds(1260));
  debounce.Pushed();
  debounce.Touch(milliseconds(1600), kWhole);
  EXPECT_EQ(debounce.Due(), milliseconds(1602)) << "calm again";
}

void Write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

class WatcherTest : public testing::Test {
 protected:
  WatcherTest() {
    fs::create_directory(root / "materials");
    Write(root / "pass.rpl", "pass");
    Write(root / "materials/rock.rpl", "rock");
  }
  void Start(bool poll_only = false) {
    auto started = Watcher::Start({.root = root.string(), .poll_only = poll_only}, clock);
    ASSERT_TRUE(started.ok());
    watcher = std::move(started).value();
    std::vector<Watcher::KnownFile> files;
    for (const auto& [path, text] :
         {std::pair("pass.rpl", "pass"), std::pair("materials/rock.rpl", "rock"),
          std::pair("later/deep/new.rpl", "")}) {
      files.push_back({.path = path, .digest = DigestOf(std::string_view(text))});
    }
    watcher->SetFiles(files);
    // What is not there is told once; the rest is as it was given.
    const std::optional<FileChanges> first = watcher->Wait(std::chrono::seconds(10));
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->removed, (std::vector<std::string>{"later/deep/new.rpl"}));
    EXPECT_TRUE(first->changed.empty());
  }

  // "path=text" of the next push, "-path" for removed files; empty: nothing within the time.
  std::string Next(milliseconds timeout = std::chrono::seconds(10)) {
    const std::optional<FileChanges> changes = watcher->Wait(timeout);
    std::string text;
    if (changes.has_value()) {
      for (const ChangedFile& file : changes->changed) {
        EXPECT_EQ(file.digest, DigestOf(std::string_view(file.text)));
        text += (text.empty() ? "" : " ") + file.path + "=" + file.text;
      }
      for (const std::string& path : changes->removed) {
        text += (text.empty() ? "-" : " -") + path;
      }
    }
    return text;
  }

  void ExpectRootLost() {
    for (;;) {
      const std::optional<FileChanges> changes = watcher->Wait(std::chrono::seconds(10));
      ASSERT_TRUE(changes.has_value());
      if (changes->root_lost) {
        return;
      }
    }
  }

  SystemClock clock;
  TestDirectory directory;
  fs::path root = directory.path();
  std::unique_ptr<Watcher> watcher;
};

TEST_F(WatcherTest, EveryWayToSave_IsOnePushWithTheNewContent) {
  Start();
  struct Row {
    const char* what;
    std::function<void(const fs::path&, const std::string&)> save;
  };
  const std::vector<Row> rows = {
      {"truncate and write",
       [](const fs::path& path, const std::string& text) { Write(path, text); }},
      {"rename over",
       [](const fs::path& path, const std::string& text) {
         Write(path.string() + ".tmp", text);
         fs::rename(path.string() + ".tmp", path);
       }},
      {"keep a backup",
       [](const fs::path& path, const std::string& text) {
         fs::rename(path, path.string() + "~");
         Write(path, text);
       }},
      {"delete and create",
       [](const fs::path& path, const std::string& text) {
         fs::remove(path);
         Write(path, text);
       }},
      {"hard link",
       [](const fs::path& path, const std::string& text) {
         Write(path.string() + ".new", text);
         fs::remove(path);
         fs::create_hard_link(path.string() + ".new", path);
         fs::remove(path.string() + ".new");
       }},
      {"move from another folder", [](const fs::path& path, const std::string& text) {
         const fs::path other = path.parent_path().parent_path() / "elsewhere";
         Write(other, text);
         fs::rename(other, path);
       }}};
  int number = 0;
  for (const Row& row : rows) {
    const std::string text = "rock " + std::to_string(++number);
    row.save(root / "materials/rock.rpl", text);
    EXPECT_EQ(Next(), "materials/rock.rpl=" + text) << row.what;
  }
  EXPECT_EQ(Next(milliseconds(150)), "") << "and nothing else";
}

TEST_F(WatcherTest, SameContent_IsNoChange) {
  Start();
  Write(root / "pass.rpl", "pass");
  fs::last_write_time(root / "pass.rpl", fs::file_time_type::clock::now());
  EXPECT_EQ(Next(milliseconds(150)), "");
}

TEST_F(WatcherTest, OtherFiles_AreNoChange) {
  Start();
  Write(root / "notes.txt", "x");
  Write(root / "materials/rock.rpl.swp", "x");
  EXPECT_EQ(Next(milliseconds(150)), "");
}

TEST_F(WatcherTest, SeveralFilesAtOnce_AreOnePush) {
  Start();
  Write(root / "pass.rpl", "a");
  Write(root / "materials/rock.rpl", "b");
  EXPECT_EQ(Next(), "materials/rock.rpl=b pass.rpl=a");
}

TEST_F(WatcherTest, RemovedFile_IsToldAndComesBack) {
  Start();
  fs::remove(root / "pass.rpl");
  EXPECT_EQ(Next(), "-pass.rpl");
  Write(root / "pass.rpl", "pass");
  EXPECT_EQ(Next(), "pass.rpl=pass") << "the same content as before";
}

TEST_F(WatcherTest, FileThatIsMissingFromTheBeginning_IsToldWhenItComes) {
  Start();
  watcher->SetFiles({{.path = "new.rpl", .digest = {}, .missing = true}});
  EXPECT_EQ(Next(milliseconds(200)), "") << "that it is not there is nothing new";
  Write(root / "new.rpl", "one");
  EXPECT_EQ(Next(), "new.rpl=one");
}

// What a source became while it is watched must not get further than when it was read first.
TEST_F(WatcherTest, SourceThatBecomesALinkOrTooLarge_IsNotThere) {
  Start();
  const TestDirectory elsewhere;
  Write(elsewhere.path() / "secret", "secret");
  fs::remove(root / "materials/rock.rpl");
  fs::create_symlink(elsewhere.path() / "secret", root / "materials/rock.rpl");
  EXPECT_EQ(Next(), "-materials/rock.rpl");
  Write(root / "pass.rpl", std::string(kMaxSource + 1, ' '));
  EXPECT_EQ(Next(), "-pass.rpl");
  fs::remove(root / "materials/rock.rpl");
  Write(root / "materials/rock.rpl", "again");
  EXPECT_EQ(Next(), "materials/rock.rpl=again");
}

TEST_F(WatcherTest, ManifestThatIsALink_IsRead) {
  Start();
  const TestDirectory elsewhere;
  Write(elsewhere.path() / "shared.toml", "one");
  fs::create_symlink(elsewhere.path() / "shared.toml", root / "kiln.toml");
  watcher->SetFiles({{.path = "kiln.toml", .digest = {}, .may_be_link = true}});
  EXPECT_EQ(Next(), "kiln.toml=one");
}

TEST_F(WatcherTest, FolderCreatedLater_IsWatched) {
  Start();
  fs::create_directories(root / "later/deep");
  Write(root / "later/deep/new.rpl", "one");
  EXPECT_EQ(Next(), "later/deep/new.rpl=one");
  Write(root / "later/deep/new.rpl", "two");
  EXPECT_EQ(Next(), "later/deep/new.rpl=two");
}

TEST_F(WatcherTest, FolderThatIsReplaced_IsWatchedAgain) {
  Start();
  fs::rename(root / "materials", root / "old");
  fs::create_directory(root / "materials");
  Write(root / "materials/rock.rpl", "new");
  EXPECT_EQ(Next(), "materials/rock.rpl=new");
  Write(root / "old/rock.rpl", "nobody's");
  EXPECT_EQ(Next(milliseconds(150)), "");
  Write(root / "materials/rock.rpl", "newer");
  EXPECT_EQ(Next(), "materials/rock.rpl=newer");
}

TEST_F(WatcherTest, Polling_SeesChanges) {
  Start(/*poll_only=*/true);
  EXPECT_FALSE(watcher->degraded().empty());
  Write(root / "pass.rpl", "polled");
  EXPECT_EQ(Next(), "pass.rpl=polled");
}

TEST_F(WatcherTest, LostRoot_IsTold) {
  Start();
  fs::remove_all(root);
  ExpectRootLost();
}

TEST_F(WatcherTest, LostRootThatSomebodyIsIn_IsTold) {
  const fs::path before = fs::current_path();
  fs::current_path(root);
  root = ".";
  Start();
  fs::remove_all(directory.path());
  ExpectRootLost();
  fs::current_path(before);
}

TEST_F(WatcherTest, Wake_EndsWaiting) {
  Start();
  watcher->Wake();
  EXPECT_EQ(Next(), "");
}

TEST(Watcher, NoFolder_IsNotFound) {
  SystemClock clock;
  const auto started = Watcher::Start({.root = "/nowhere/at/all"}, clock);
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace kiln::project
