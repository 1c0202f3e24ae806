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

  static Caller Tcp(const std::string& bearer, const std::string& peer = "ipv4:10.0.0.7:1") {
    return {.transport = Transport::kTcp, .peer = peer, .subject = "CN=a", .bearer = bearer};
  }
  std::string AuditText() const {
    std::ifstream file(folder + "/audit.jsonl");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TestDirectory directory;
  std::string folder = directory.path();
  FakeClock clock;
  NullLog log;
  std::vector<Token> tokens;
  std::vector<std::string> texts;  // of read, write, admin
  std::unique_ptr<AuditLog> audit;
};

TEST_F(AccessTest, EveryScopeAgainstEveryNeed_IsATriangle) {
  TokenBook book(folder + "/tokens.toml", clock);
  Access access(&book, clock, audit.get());
  for (size_t has = 0; has < texts.size(); ++has) {
    for (const Scope needed : {Scope::kRead, Scope::kWrite, Scope::kAdmin}) {
      const Result<Principal> principal = access.Permit(Tcp(texts[has]), "M", needed);
      const bool expected = static_cast<size_t>(needed) <= has + 1;
      EXPECT_EQ(principal.ok(), expected) << has;
      if (!principal.ok()) {
        EXPECT_EQ(principal.error().code, ErrorCode::kPermissionDenied);
        EXPECT_EQ(principal.error().reason, "SCOPE");
        EXPECT_NE(principal.error().context.find(ScopeName(needed)), std::string::npos);
      }
    }
  }
}

TEST_F(AccessTest, UnixSocket_OwnerIsAdminAndNeighboursWrite) {
  Access access(nullptr, clock, nullptr);
  EXPECT_TRUE(access.Permit({.transport = Transport::kOwner}, "M", Scope::kAdmin).ok());
  EXPECT_TRUE(access.Permit({.transport = Transport::kNeighbour}, "M", Scope::kWrite).ok());
  EXPECT_EQ(access.Permit({.transport = Transport::kNeighbour}, "M", Scope::kAdmin).error().reason,
            "SCOPE");
  EXPECT_EQ(access.Permit(Tcp(texts[2]), "M", Scope::kRead).error().reason, "NO_TOKEN");
}

TEST_F(AccessTest, TenFailuresInAMinute_PauseThisPeerOnly) {
  TokenBook book(folder + "/tokens.toml", clock);
  Access access(&book, clock, audit.get());
  for (uint32_t i = 0; i < Access::kMostFailures - 1; ++i) {
    EXPECT_FALSE(access.Permit(Tcp("kiln_wrong"), "M", Scope::kRead).ok());
  }
  EXPECT_TRUE(access.Permit(Tcp(texts[0]), "M", Scope::kRead).ok());
  EXPECT_FALSE(access.Permit(Tcp("kiln_wrong"), "M", Scope::kRead).ok());
  // From another port of the same host, too; not from another host.
  EXPECT_FALSE(access.Permit(Tcp(texts[0], "ipv4:10.0.0.7:2"), "M", Scope::kRead).ok());
  EXPECT_TRUE(access.Permit(Tcp(texts[0], "ipv4:10.0.0.8:2"), "M", Scope::kRead).ok());
  clock.Advance(Access::kPause);
  EXPECT_TRUE(access.Permit(Tcp(texts[0]), "M", Scope::kRead).ok());
  EXPECT_EQ(access.failures(), Access::kMostFailures);
}

TEST_F(AccessTest, NineFailuresAMinute_NeverPause) {
  TokenBook book(folder + "/tokens.toml", clock);
  Access access(&book, clock, audit.get());
  for (uint32_t minute = 0; minute < 3; ++minute) {
    for (uint32_t i = 0; i < Access::kMostFailures - 1; ++i) {
      EXPECT_FALSE(access.Permit(Tcp(""), "M", Scope::kRead).ok());
    }
    clock.Advance(std::chrono::minutes(1));
  }
  EXPECT_TRUE(access.Permit(Tcp(texts[0]), "M", Scope::kRead).ok());
}

TEST_F(AccessTest, Failures_AreAuditedWithoutTheSecret) {
  TokenBook book(folder + "/tokens.toml", clock);
  Access access(&book, clock, audit.get());
  std::string wrong = texts[0];
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  EXPECT_FALSE(access.Permit(Tcp(wrong), "Compile", Scope::kRead).ok());
  const std::string text = AuditText();
  EXPECT_NE(text.find(R"("event":"authentication","peer":"ipv4:10.0.0.7:1","subject":"CN=a",)"
                      R"("method":"Compile","result":"this token is not known")"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find(wrong.substr(22)), std::string::npos);
}

}  // namespace
}  // namespace kiln::ops
