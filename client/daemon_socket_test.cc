// SPDX-License-Identifier: MIT
#include "client/daemon_socket.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "compiler/base/own_folder.h"
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
  ~Listener() { (void)::close(fd_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

 private:
  int fd_;
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
