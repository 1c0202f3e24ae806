// SPDX-License-Identifier: MIT
#include "server/ops/tokens.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "compiler/base/test_directory.h"
#include "server/ops/token_book.h"

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
  RecordingLog log;
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
                      {no_scope.c_str(), "a scope of read, write, peer or admin"},
                      {"token = [ 1 ]\n", "a token is a table"},
                      {"[token]\nid = \"x\"\n", ":1: tokens are a list of tables"}};
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

TEST_F(Tokens, ValueOfAnotherType_IsRefusedAndNotReadAsMissing) {
  const std::string row = "[[token]]\nid = \"0123456789abcdef\"\nsha256 = \"" +
                          std::string(64, 'a') + "\"\nscope = \"read\"\n";
  struct Row {
    const char* text;
    const char* expected;  // empty: it is right
  };
  const Row rows[] = {{"expires = 17", ""},
                      {"expires = \"17\"", ":5: expires of a token is a number"},
                      {"expires = 2026-01-01T00:00:00Z", ":5: expires of a token is a number"},
                      {"expires = 17.5", ":5: expires of a token is a number"},
                      {"spaces = [\"game\"]", ""},
                      {"spaces = \"game\"", ":5: spaces of a token are a list of texts"},
                      {"spaces = [1]", ":5: spaces of a token are a list of texts"},
                      {"tenant = \"studio\"", ""},
                      {"tenant = 7", ":5: tenant of a token is a text"},
                      {"note = []", ":5: note of a token is a text"}};
  std::filesystem::create_directories(folder + "/sub");
  for (const Row& one : rows) {
    std::ofstream(path) << row << one.text << "\n";
    std::filesystem::permissions(path, std::filesystem::perms(0600));
    const Result<std::vector<Token>> read = ReadTokens(path);
    ASSERT_EQ(read.ok(), std::string_view(one.expected).empty()) << one.text;
    if (!read.ok()) {
      EXPECT_NE(read.error().context.find(one.expected), std::string::npos) << read.error().context;
    }
  }
}

TEST_F(Tokens, Check_TakesOnlyWhatIsWrittenAndValid) {
  const NewToken good = MakeToken(Random(1));
  NewToken old = MakeToken(Random(2));
  old.token.expires_s = 1'000'000'000;  // when the clock began
  NewToken later = MakeToken(Random(3));
  later.token.expires_s = 1'000'000'060;
  ASSERT_TRUE(WriteTokens(path, {{good.token, old.token, later.token}}).ok());
  TokenBook book(path, clock, log);
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
  TokenBook book(path, clock, log);
  EXPECT_TRUE(book.Check(a.text).ok());
  ASSERT_TRUE(WriteTokens(path, {{b.token}}).ok());
  EXPECT_FALSE(book.Check(a.text).ok());
  EXPECT_TRUE(book.Check(b.text).ok());
  std::filesystem::remove(path);
  EXPECT_FALSE(book.Check(b.text).ok());
}

TEST_F(Tokens, BrokenFile_IsToldOnceAndTheOldOnesHold) {
  const NewToken a = MakeToken(Random(1)), b = MakeToken(Random(2));
  ASSERT_TRUE(WriteTokens(path, {{a.token}}).ok());
  TokenBook book(path, clock, log);
  ASSERT_TRUE(book.Reload().ok());
  const auto damage = [&](const char* text, int mode) {
    std::ofstream(path) << text;
    std::filesystem::permissions(path, std::filesystem::perms(mode));
  };
  for (const auto& [text, mode] : {std::pair{"[[token]", 0600}, std::pair{"", 0644}}) {
    damage(text, mode);
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(book.Check(a.text).ok());
      EXPECT_EQ(book.KnownId(a.text), a.token.id);
      EXPECT_EQ(book.Check(b.text).error().reason, "NO_TOKEN");
    }
    EXPECT_NE(book.trouble().find(path), std::string::npos);
    EXPECT_FALSE(book.Reload().ok());
    EXPECT_TRUE(book.Check(a.text).ok());
  }
  EXPECT_EQ(log.Lines().size(), 2u);
  std::filesystem::permissions(path, std::filesystem::perms(0600));  // an empty file: no tokens
  EXPECT_FALSE(book.Check(a.text).ok());
  EXPECT_EQ(book.trouble(), "");
  EXPECT_EQ(book.KnownId(a.text), "");
}

TEST_F(Tokens, Change_ThatFailsLeavesTheFileAlone) {
  const NewToken a = MakeToken(Random(1));
  ASSERT_TRUE(WriteTokens(path, {{a.token}}).ok());
  const auto refuse = [](std::vector<Token>& tokens) -> Result<void> {
    tokens.clear();
    return Error{.code = ErrorCode::kNotFound, .context = "no", .reason = "UNKNOWN_TOKEN"};
  };
  EXPECT_EQ(ChangeTokens(path, refuse).error().reason, "UNKNOWN_TOKEN");
  EXPECT_EQ(ReadTokens(path)->size(), 1u);
}

// Twenty processes, each of which makes a token and revokes another one.
TEST_F(Tokens, ManyWritersAtOnce_LoseNothing) {
  constexpr uint8_t kWriters = 20;
  std::vector<Token> old;
  for (uint8_t i = 0; i < kWriters; ++i) {
    old.push_back(MakeToken(Random(static_cast<uint8_t>(100 + i))).token);
  }
  ASSERT_TRUE(WriteTokens(path, old).ok());
  std::vector<pid_t> children;
  for (uint8_t i = 0; i < kWriters; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const Result<void> changed = ChangeTokens(path, [&](std::vector<Token>& tokens) {
        std::erase_if(tokens, [&](const Token& token) { return token.id == old[i].id; });
        tokens.push_back(MakeToken(Random(i)).token);
        return Result<void>();
      });
      _exit(changed.ok() ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  std::set<std::string> expected, found;
  for (uint8_t i = 0; i < kWriters; ++i) {
    expected.insert(MakeToken(Random(i)).token.id);
  }
  const std::vector<Token> written = ReadTokens(path).value();
  for (const Token& token : written) {
    found.insert(token.id);
  }
  EXPECT_EQ(found, expected);
  for (const auto& file : std::filesystem::directory_iterator(folder + "/sub")) {
    const std::string name = file.path().filename();
    EXPECT_TRUE(name == "tokens.toml" || name == "tokens.toml.lock") << name;
  }
}

}  // namespace
}  // namespace kiln::ops
