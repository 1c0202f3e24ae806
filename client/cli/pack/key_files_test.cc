// SPDX-License-Identifier: MIT
#include "client/cli/pack/key_files.h"

#include <csignal>
#include <filesystem>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "compiler/base/files/file.h"
#include "compiler/base/test_directory.h"

namespace kiln::cli {
namespace {

class KeyFiles : public testing::Test {
 protected:
  Result<void> Write() const { return WriteKeyPair(secret.string(), open.string(), *key); }

  TestDirectory directory;
  std::filesystem::path secret = directory.path() / "release.key";
  std::filesystem::path open = directory.path() / "release.pub";
  Result<pack::SigningKey> key = pack::SigningKey::Generate();
};

TEST_F(KeyFiles, ThatAreNotThere_AreWrittenForTheirOwner) {
  ASSERT_TRUE(Write().ok());
  EXPECT_EQ(ReadFile(secret.string()).value(), key->Pem());
  EXPECT_EQ(ReadFile(open.string()).value(), key->public_key().Pem());
  EXPECT_EQ(std::filesystem::status(secret).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(KeyFiles, SecretThatIsThere_IsNeverReplacedOrRemoved) {
  ASSERT_TRUE(WriteFile(secret.string(), AsBytes("old")).ok());
  EXPECT_FALSE(Write().ok());
  EXPECT_EQ(ReadFile(secret.string()).value(), "old");
}

TEST_F(KeyFiles, PublicHalfThatCannotBeWritten_LeavesNoSecret) {
  std::filesystem::create_directory(open);
  EXPECT_FALSE(Write().ok());
  EXPECT_FALSE(std::filesystem::exists(secret));
  std::filesystem::remove(open);
  EXPECT_TRUE(Write().ok()) << "the next attempt";
}

// As on a full disk: the first bytes go out, the rest does not. In a process of its own, because
// the limit is one of the process.
TEST_F(KeyFiles, SecretThatIsCutShort_IsNotLeft) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit small{.rlim_cur = 20, .rlim_max = 20};
    (void)::signal(SIGXFSZ, SIG_IGN);
    (void)::setrlimit(RLIMIT_FSIZE, &small);
    const Result<void> written = Write();
    ::_exit(!written.ok() && written.error().context.find("File too large") != std::string::npos
                ? 0
                : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_FALSE(std::filesystem::exists(secret));
}

}  // namespace
}  // namespace kiln::cli
