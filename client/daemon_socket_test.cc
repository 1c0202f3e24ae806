// SPDX-License-Identifier: MIT
#include "client/daemon_socket.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/base/files/own_folder.h"
#include "compiler/base/test_directory.h"

namespace kiln::client {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kStranger = 65'534;

// Somebody who listens at a path for as long as this lives.
class Listener {
 public:
  explicit Listener(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0) << path;
    EXPECT_EQ(::listen(fd_, 8), 0);
  }
  ~Listener() {
    for (const int fd : waiting_) {
      (void)::close(fd);
    }
    (void)::close(fd_);
  }
  // Nobody is taken in until there is no room for another one.
  void Fill() const {
    sockaddr_un address{};
    socklen_t size = sizeof address;
    ASSERT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    int result = 0;
    while (result == 0) {
      waiting_.push_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
      result = ::connect(waiting_.back(), reinterpret_cast<const sockaddr*>(&address), size);
    }
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

 private:
  int fd_;
  mutable std::vector<int> waiting_;
};

class OwnTargetTest : public testing::Test {
 protected:
  OwnTargetTest() { MakeFolder(); }

  // Of this user alone, whatever the umask.
  void MakeFolder() const {
    fs::create_directory(folder);
    fs::permissions(folder, fs::perms::owner_all);
  }

  // The code and the reason of the refusal.
  std::pair<ErrorCode, std::string> Refusal() const {
    const Result<std::string> target = OwnTarget(socket);
    EXPECT_FALSE(target.ok());
    return target.ok() ? std::pair(ErrorCode::kInternal, *target)
                       : std::pair(target.error().code, target.error().reason);
  }

  TestDirectory directory;
  fs::path folder = directory.path() / "kiln";
  std::string socket = folder / "kilnd.sock";
  const std::pair<ErrorCode, std::string> foreign{ErrorCode::kPermissionDenied, kForeignSocket};
  const std::pair<ErrorCode, std::string> not_own{ErrorCode::kPermissionDenied, kNotOwn};
};

TEST_F(OwnTargetTest, OwnFolder_LeadsToWhatIsInItNowOrLater) {
  const Result<std::string> target = OwnTarget(socket);
  ASSERT_TRUE(target.ok()) << target.error().context;
  EXPECT_EQ(ListenerAt(target->substr(5)), std::nullopt) << "nobody is there yet";
  const Listener listener(socket);
  EXPECT_EQ(ListenerAt(target->substr(5)), geteuid());
  EXPECT_EQ(OwnTarget(socket).value(), *target) << "the same name for the same folder";
}

TEST_F(OwnTargetTest, NoFolder_IsNoDaemon) {
  fs::remove(folder);
  EXPECT_EQ(Refusal().first, ErrorCode::kUnavailable);
}

TEST_F(OwnTargetTest, OwnersSocketBesideASharedOne_IsTakenFirst) {
  fs::permissions(folder, static_cast<fs::perms>(0711));
  const Listener shared(socket);
  const std::string before = OwnTarget(socket).value();
  const fs::path own = folder / "own";
  fs::create_directory(own);
  fs::permissions(own, fs::perms::owner_all);
  EXPECT_EQ(OwnTarget(socket).value(), before) << "nobody listens there";
  const Listener owners(own / "kilnd.sock");
  const std::optional<std::string> target = OwnersTarget(socket);
  ASSERT_TRUE(target.has_value());
  EXPECT_EQ(OwnTarget(socket).value(), *target);
  EXPECT_NE(*target, before);
  shared.Fill();
  EXPECT_EQ(OwnTarget(socket).value(), *target) << "others are at another door";
  fs::permissions(own, static_cast<fs::perms>(0777));
  EXPECT_EQ(OwnersTarget(socket), std::nullopt) << "others could have put it there";
}

TEST_F(OwnTargetTest, Door_TellsAFullQueueFromNobody) {
  EXPECT_EQ(DoorAt(socket), Door::kNobody);
  EXPECT_EQ(DoorAt(std::string(200, 'x')), Door::kNobody);
  {
    const Listener listener(socket);
    EXPECT_EQ(DoorAt(socket), Door::kAnswers);
    listener.Fill();
    EXPECT_EQ(DoorAt(socket), Door::kFull);
  }
  EXPECT_EQ(DoorAt(socket), Door::kNobody) << "nobody listens any more";
}

TEST(OrAgain, FirstAnswer_IsTriedAgainOnlyWhereSomebodyIs) {
  const Result<int> unreached = Error{.code = ErrorCode::kUnavailable, .context = {}, .reason = {}};
  const Result<int> starting =
      Error{.code = ErrorCode::kUnavailable, .context = {}, .reason = "STARTING"};
  const Result<int> denied =
      Error{.code = ErrorCode::kPermissionDenied, .context = {}, .reason = {}};
  const struct {
    const char* what;
    Result<int> first;
    Door door;
    bool again;
  } rows[] = {{"answered", 1, Door::kAnswers, false},
              {"nobody is there", unreached, Door::kNobody, false},
              {"the queue is full", unreached, Door::kFull, true},
              {"there is room by now", unreached, Door::kAnswers, true},
              {"the daemon said so", starting, Door::kAnswers, false},
              {"not let in", denied, Door::kAnswers, false}};
  for (const auto& row : rows) {
    std::optional<Door> found;
    const Result<int> answer = OrAgain(
        row.first, [&] { return row.door; },
        [&](Door door) {
          found = door;
          return Result<int>(2);
        });
    EXPECT_EQ(found.has_value(), row.again) << row.what;
    EXPECT_EQ(answer.ok(), row.first.ok() || row.again) << row.what;
    EXPECT_EQ(found.value_or(row.door), row.door) << row.what;
  }
}

TEST_F(OwnTargetTest, FolderThatIsReplaced_IsNotFollowed) {
  const Result<std::string> target = OwnTarget(socket);
  ASSERT_TRUE(target.ok());
  fs::rename(folder, directory.path() / "gone");
  MakeFolder();
  const Listener stranger(socket);
  EXPECT_NE(ListenerAt(socket), std::nullopt);
  EXPECT_EQ(ListenerAt(target->substr(5)), std::nullopt);
  EXPECT_NE(OwnTarget(socket).value(), *target) << "another folder has another name";
}

TEST_F(OwnTargetTest, FolderOfOthers_IsRefused) {
  fs::permissions(folder, fs::perms::all);
  EXPECT_EQ(Refusal(), not_own);
  fs::permissions(folder, fs::perms::owner_all);
  fs::rename(folder, directory.path() / "real");
  fs::create_directory_symlink(directory.path() / "real", folder);
  EXPECT_EQ(Refusal(), not_own);
}

TEST_F(OwnTargetTest, WhatIsNoSocketOfThisUser_IsRefused) {
  std::ofstream(socket) << "x";
  EXPECT_EQ(Refusal(), foreign);
  fs::remove(socket);
  const std::string elsewhere = directory.path() / "other.sock";
  const Listener listener(elsewhere);
  fs::create_symlink(elsewhere, socket);
  EXPECT_EQ(Refusal(), foreign);
  fs::remove(socket);
  if (geteuid() == 0) {
    const Listener own(socket);
    ASSERT_EQ(chown(socket.c_str(), kStranger, kStranger), 0);
    EXPECT_EQ(Refusal(), foreign);
  }
}

TEST(ListenerAt, PathThatNoSocketCanHave_IsNobodys) {
  EXPECT_EQ(ListenerAt("/" + std::string(200, 'x')), std::nullopt);
  EXPECT_EQ(ListenerAt(""), std::nullopt);
}

}  // namespace
}  // namespace kiln::client
