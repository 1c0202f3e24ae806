// SPDX-License-Identifier: MIT
#include "server/ops/access.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gtest/gtest.h>

#include "compiler/base/test_directory.h"

namespace kiln::ops {
namespace {

class AccessTest : public testing::Test {
 protected:
  AccessTest() {
    for (const Scope scope : {Scope::kRead, Scope::kWrite, Scope::kAdmin}) {
      std::array<uint8_t, kTokenRandomBytes> random{};
      random.fill(static_cast<uint8_t>(scope));
      NewToken made = MakeToken(random);
      made.token.scope = scope;
      texts.push_back(made.text);
      tokens.push_back(made.token);
    }
    EXPECT_TRUE(WriteTokens(folder + "/tokens.toml", tokens).ok());
    audit = AuditLog::Open(folder + "/audit.jsonl", clock, log).value();
  }

  static Caller Tcp(const std::string& bearer, const std::string& subject = "CN=a") {
    return {.transport = Transport::kTcp,
            .uid = {},
            .peer = "ipv4:10.0.0.7:1",
            .subject = subject,
            .bearer = bearer};
  }
  static Caller Neighbour(uint32_t uid) { return {.transport = Transport::kNeighbour, .uid = uid}; }
  // The same id, another secret.
  static std::string Guess(std::string text) {
    text.back() = text.back() == '0' ? '1' : '0';
    return text;
  }
  static std::string Unknown() { return "kiln_0123456789abcdef_" + std::string(64, '0'); }
  void Fail(Access& access, const Caller& caller, uint32_t times) const {
    for (uint32_t i = 0; i < times; ++i) {
      EXPECT_FALSE(access.Permit(caller, "M", Scope::kRead).ok());
    }
  }
  std::string Refusals() const {
    std::ifstream file(folder + "/audit.refused.jsonl");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Break() const { std::ofstream(folder + "/tokens.toml") << "[[token]"; }

  TestDirectory directory;
  std::string folder = directory.path();
  FakeClock clock;
  RecordingLog log;
  std::vector<Token> tokens;
  std::vector<std::string> texts;  // of read, write, admin
  std::unique_ptr<AuditLog> audit;
};

TEST_F(AccessTest, EveryScopeAgainstEveryNeed_IsATriangle) {
  TokenBook book(folder + "/tokens.toml", clock, log);
  Access access(&book, clock, audit.get(), log);
  for (size_t has = 0; has < texts.size(); ++has) {
    for (const Scope needed : {Scope::kRead, Scope::kWrite, Scope::kPeer, Scope::kAdmin}) {
      const Result<Principal> principal = access.Permit(Tcp(texts[has]), "M", needed);
      EXPECT_EQ(principal.ok(), needed <= tokens[has].scope) << has;
      if (!principal.ok()) {
        EXPECT_EQ(principal.error().code, ErrorCode::kPermissionDenied);
        EXPECT_EQ(principal.error().reason, "SCOPE");
        EXPECT_NE(principal.error().context.find(ScopeName(needed)), std::string::npos);
      }
    }
  }
}

TEST_F(AccessTest, UnixSocket_OwnerIsAdminAndNeighboursWrite) {
  Access access(nullptr, clock, nullptr, log);
  EXPECT_TRUE(access.Permit({.transport = Transport::kOwner}, "M", Scope::kAdmin).ok());
  EXPECT_TRUE(access.Permit(Neighbour(7), "M", Scope::kWrite).ok());
  EXPECT_EQ(access.Permit(Neighbour(7), "M", Scope::kAdmin).error().reason, "SCOPE");
  EXPECT_EQ(access.Permit(Tcp(texts[2]), "M", Scope::kRead).error().reason, "NO_TOKEN");
}

// Who fails ten times, and who is paused with him.
TEST_F(AccessTest, TenFailuresInAMinute_PauseThatPartyOnly) {
  struct Row {
    const char* name;
    std::string bearer;  // of CN=a, ten times
    size_t paused;       // token of CN=a that is refused then; 3: none
    const char* why;
  };
  const Row rows[] = {{"guessed secret", Guess(texts[0]), 0, "this token is not known"},
                      {"unknown token", Unknown(), 3, "this token is not known"},
                      {"no token", "", 3, "a token is needed"},
                      {"no shape", "kiln_wrong", 3, "a token is needed"}};
  for (const Row& row : rows) {
    TokenBook book(folder + "/tokens.toml", clock, log);
    Access access(&book, clock, audit.get(), log);
    Fail(access, Tcp(row.bearer), Access::kMostFailures - 1);
    EXPECT_TRUE(access.Permit(Tcp(texts[0]), "M", Scope::kRead).ok()) << row.name;
    Fail(access, Tcp(row.bearer), 1);
    EXPECT_EQ(access.failures(), Access::kMostFailures);
    const Result<Principal> again = access.Permit(Tcp(row.bearer), "M", Scope::kRead);
    ASSERT_FALSE(again.ok());
    EXPECT_NE(again.error().context.find("wait for 60 s"), std::string::npos) << row.name;
    // Also to whoever hears of it only now.
    EXPECT_NE(again.error().context.find(row.why), std::string::npos) << again.error().context;
    for (size_t token = 0; token < texts.size(); ++token) {
      EXPECT_EQ(access.Permit(Tcp(texts[token]), "M", Scope::kRead).ok(), token != row.paused)
          << row.name << " " << token;
      // The same address, another certificate.
      EXPECT_TRUE(access.Permit(Tcp(texts[token], "CN=b"), "M", Scope::kRead).ok()) << row.name;
    }
    EXPECT_EQ(access.failures(), Access::kMostFailures);  // a pause is none
    clock.Advance(Access::kPause);
    EXPECT_TRUE(access.Permit(Tcp(texts[0]), "M", Scope::kRead).ok()) << row.name;
  }
}

TEST_F(AccessTest, ExpiredToken_PausesItselfOnly) {
  tokens[0].expires_s = 1;
  ASSERT_TRUE(WriteTokens(folder + "/tokens.toml", tokens).ok());
  TokenBook book(folder + "/tokens.toml", clock, log);
  Access access(&book, clock, audit.get(), log);
  Fail(access, Tcp(texts[0]), 2 * Access::kMostFailures);
  EXPECT_TRUE(access.Permit(Tcp(texts[1]), "M", Scope::kRead).ok());
}

TEST_F(AccessTest, FailuresOfManyPartiesThatPause_StayBounded) {
  TokenBook book(folder + "/tokens.toml", clock, log);
  Access access(&book, clock, nullptr, log);
  for (size_t i = 0; i < Access::kMostParties + 100; ++i) {
    Fail(access, Tcp("", "CN=" + std::to_string(i)), Access::kMostFailures);
  }
  EXPECT_EQ(access.remembered_failures(), Access::kMostParties);
  const auto last = Tcp("", "CN=" + std::to_string(Access::kMostParties + 99));
  EXPECT_NE(access.Permit(last, "M", Scope::kRead).error().context.find("wait"), std::string::npos);
}

// Whose share of the lanes a call uses, and whose watch sessions it sees.
TEST_F(AccessTest, NobodyButTheOwner_IsTheTenantWithoutAName) {
  tokens[1].tenant = "studio";
  ASSERT_TRUE(WriteTokens(folder + "/tokens.toml", tokens).ok());
  TokenBook book(folder + "/tokens.toml", clock, log);
  Access access(&book, clock, nullptr, log);
  struct Row {
    Caller caller;
    std::string tenant, id, party;
  };
  const Row rows[] = {
      {{.transport = Transport::kOwner}, "", "owner", "owner"},
      {Neighbour(1001), "unix:uid=1001", "unix:uid=1001", "unix:uid=1001"},
      {Neighbour(1002), "unix:uid=1002", "unix:uid=1002", "unix:uid=1002"},
      {Tcp(texts[0]), tokens[0].id, "token:" + tokens[0].id, "token:" + tokens[0].id + " CN=a"},
      {Tcp(texts[1]), "studio", "tenant:studio", "token:" + tokens[1].id + " CN=a"},
  };
  for (const Row& row : rows) {
    const Result<Principal> principal = access.Identify(row.caller, "M");
    ASSERT_TRUE(principal.ok()) << row.id;
    EXPECT_EQ(principal->tenant, row.tenant);
    EXPECT_EQ(principal->id, row.id);
    EXPECT_EQ(principal->party.name(), row.party);
    EXPECT_EQ(access.PartyOf(row.caller), principal->party);
  }
}

TEST_F(AccessTest, BrokenTokens_KeepThoseThatWereReadAndBlameNobody) {
  TokenBook book(folder + "/tokens.toml", clock, log);
  Access access(&book, clock, audit.get(), log);
  EXPECT_TRUE(access.Permit(Tcp(texts[0]), "M", Scope::kRead).ok());
  Break();
  for (uint32_t i = 0; i < 2 * Access::kMostFailures; ++i) {
    EXPECT_TRUE(access.Permit(Tcp(texts[0]), "M", Scope::kRead).ok());
    const Result<Principal> stranger = access.Permit(Tcp(Unknown()), "M", Scope::kRead);
    ASSERT_FALSE(stranger.ok());
    EXPECT_EQ(stranger.error().code, ErrorCode::kUnauthenticated);
    EXPECT_EQ(stranger.error().context, "this token is not known");  // no path, no TOML, no pause
  }
  EXPECT_EQ(access.failures(), 0u);
  EXPECT_NE(book.trouble().find("tokens.toml:1"), std::string::npos) << book.trouble();
  EXPECT_EQ(log.Lines().size(), 2u);  // that it is broken, and that a caller was refused
  ASSERT_TRUE(WriteTokens(folder + "/tokens.toml", tokens).ok());
  EXPECT_TRUE(access.Permit(Tcp(texts[1]), "M", Scope::kRead).ok());
  EXPECT_EQ(book.trouble(), "");
}

TEST_F(AccessTest, Refusals_SayInTheLogWhichFileWasRead) {
  TokenBook book(folder + "/tokens.toml", clock, log);
  Access access(&book, clock, nullptr, log);
  Fail(access, Tcp(Unknown()), 3);
  ASSERT_EQ(log.Lines().size(), 1u);  // the first one; the others are counted
  EXPECT_NE(log.Lines()[0].find(folder + "/tokens.toml"), std::string::npos) << log.Lines()[0];
}

TEST_F(AccessTest, NineFailuresAMinute_NeverPause) {
  TokenBook book(folder + "/tokens.toml", clock, log);
  Access access(&book, clock, audit.get(), log);
  for (uint32_t minute = 0; minute < 3; ++minute) {
    for (uint32_t i = 0; i < Access::kMostFailures - 1; ++i) {
      EXPECT_FALSE(access.Permit(Tcp(""), "M", Scope::kRead).ok());
    }
    clock.Advance(std::chrono::minutes(1));
  }
  EXPECT_TRUE(access.Permit(Tcp(texts[0]), "M", Scope::kRead).ok());
}

TEST_F(AccessTest, Failures_AreAuditedWithoutTheSecret) {
  TokenBook book(folder + "/tokens.toml", clock, log);
  Access access(&book, clock, audit.get(), log);
  std::string wrong = texts[0];
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  EXPECT_FALSE(access.Permit(Tcp(wrong), "Compile", Scope::kRead).ok());
  const std::string text = Refusals();
  EXPECT_NE(text.find(R"("event":"authentication","peer":"ipv4:10.0.0.7:1","subject":"CN=a",)"
                      R"("method":"Compile","result":"this token is not known")"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find(wrong.substr(22)), std::string::npos);
}

}  // namespace
}  // namespace kiln::ops
