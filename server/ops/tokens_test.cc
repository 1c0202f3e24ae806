// SPDX-License-Identifier: MIT
#include "server/ops/tokens.h"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "compiler/base/test_directory.h"

namespace kiln::ops {
namespace {

std::array<uint8_t, kTokenRandomBytes> Random(uint8_t seed) {
  std::array<uint8_t, kTokenRandomBytes> bytes{};
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<uint8_t>(seed + 7 * i);
  }
  return bytes;
}

class Tokens : public testing::Test {
 protected:
  TestDirectory directory;
  std::string folder = directory.path();
  std::string path = folder + "/sub/tokens.toml";
  FakeClock clock;
};

TEST_F(Tokens, Written_AreReadBack) {
  NewToken made = MakeToken(Random(1));
  made.token.scope = Scope::kWrite;
  made.token.tenant = "studio";
  made.token.spaces = {"game", "tools"};
  made.token.expires_s = 17;
  made.token.note = "CI \"main\"\n";
  ASSERT_TRUE(WriteTokens(path, {{made.token}}).ok());
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  const Result<std::vector<Token>> read = ReadTokens(path);
  ASSERT_TRUE(read.ok()) << read.error().context;
  ASSERT_EQ(read->size(), 1u);
  const Token& token = read->front();
  EXPECT_EQ(token.id, made.token.id);
  EXPECT_EQ(token.secret, made.token.secret);
  EXPECT_EQ(token.scope, Scope::kWrite);
  EXPECT_EQ(token.tenant, "studio");
  EXPECT_EQ(token.spaces, (std::vector<std::string>{"game", "tools"}));
  EXPECT_EQ(token.expires_s, 17);
  EXPECT_EQ(token.note, "CI \"main\"\n");
}

TEST_F(Tokens, Secret_IsNowhereInTheFile) {
  const NewToken made = MakeToken(Random(1));
  ASSERT_TRUE(WriteTokens(path, {{made.token}}).ok());
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text.find(made.text.substr(made.text.rfind('_') + 1)), std::string::npos);
}

TEST_F(Tokens, WrongFiles_AreRefusedWithTheirLine) {
  struct Row {
    const char* text;
    const char* expected;
  };
  const std::string hash(64, 'a');
  const std::string no_scope = "[[token]]\nid = \"0123456789abcdef\"\nsha256 = \"" + hash + "\"\n";
  const Row rows[] = {{"[[token]\n", ":1:"},
                      {"[[token]]\nid = \"x\"\n", ":1: a token has an id"},
                      {no_scope.c_str(), "a scope of read, write or admin"},
                      {"token = [ 1 ]\n", "a token is a table"}};
  std::filesystem::create_directories(folder + "/sub");
  for (const Row& row : rows) {
    std::ofstream(path) << row.text;
    std::filesystem::permissions(path, std::filesystem::perms(0600));
    const Result<std::vector<Token>> read = ReadTokens(path);
    ASSERT_FALSE(read.ok()) << row.text;
    EXPECT_EQ(read.error().reason, "BAD_TOKENS");
    EXPECT_NE(read.error().context.find(row.expected), std::string::npos) << read.error().context;
  }
  std::ofstream(path) << "";
  std::filesystem::permissions(path, std::filesystem::perms(0640));
  EXPECT_EQ(ReadTokens(path).error().code, ErrorCode::kFailedPrecondition);
}

TEST_F(Tokens, Check_TakesOnlyWhatIsWrittenAndValid) {
  const NewToken good = MakeToken(Random(1));
  NewToken old = MakeToken(Random(2));
  old.token.expires_s = 1'000'000'000;  // when the clock began
  NewToken later = MakeToken(Random(3));
  later.token.expires_s = 1'000'000'060;
  ASSERT_TRUE(WriteTokens(path, {{good.token, old.token, later.token}}).ok());
  TokenBook book(path, clock);
  EXPECT_TRUE(book.Check(good.text).ok());
  EXPECT_TRUE(book.Check(later.text).ok());
  std::string other_secret = good.text;
  other_secret.back() = other_secret.back() == '0' ? '1' : '0';
  const std::string other_id = MakeToken(Random(9)).text;
  const std::string crossed = later.text.substr(0, 22) + good.text.substr(22);
  for (const std::string& text :
       {std::string(), std::string("kiln_"), good.text + "0", good.text.substr(1), other_secret,
        other_id, crossed, old.text, std::string(1 << 20, 'k')}) {
    const Result<Token> refused = book.Check(text);
    ASSERT_FALSE(refused.ok()) << text.substr(0, 100);
    EXPECT_EQ(refused.error().code, ErrorCode::kUnauthenticated);
    EXPECT_EQ(refused.error().reason, "NO_TOKEN");
  }
  clock.Advance(std::chrono::seconds(60));
  EXPECT_FALSE(book.Check(later.text).ok());
  EXPECT_TRUE(book.Check(good.text).ok());
}

TEST_F(Tokens, RevokedToken_IsRefusedAtOnce) {
  const NewToken a = MakeToken(Random(1)), b = MakeToken(Random(2));
  ASSERT_TRUE(WriteTokens(path, {{a.token, b.token}}).ok());
  TokenBook book(path, clock);
  EXPECT_TRUE(book.Check(a.text).ok());
  ASSERT_TRUE(WriteTokens(path, {{b.token}}).ok());
  EXPECT_FALSE(book.Check(a.text).ok());
  EXPECT_TRUE(book.Check(b.text).ok());
  std::filesystem::remove(path);
  EXPECT_FALSE(book.Check(b.text).ok());
}

}  // namespace
}  // namespace kiln::ops
