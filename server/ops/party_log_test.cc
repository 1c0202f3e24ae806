// SPDX-License-Identifier: MIT
#include "server/ops/party_log.h"

#include <gtest/gtest.h>

namespace kiln::ops {
namespace {

class PartyLogTest : public testing::Test {
 protected:
  void Call(PartyLog& of, const Party& party, PartyLog::Share share) const {
    of.Write(party, share, LogLevel::kInfo, "rpc", "call", {{"method", "KillJob"}});
  }

  FakeClock clock;
  RecordingLog log;
};

TEST_F(PartyLogTest, Refusals_HaveOneLineAMinuteThatCountsTheOthers) {
  PartyLog of(clock, log);
  const Party stranger = Party::Certificate("CN=a");
  for (int i = 0; i < 10'000; ++i) {
    Call(of, stranger, PartyLog::Share::kRefusals);
  }
  EXPECT_EQ(log.Lines(),
            std::vector<std::string>{"info rpc: call method=KillJob party=\"certificate:CN=a\""});
  Call(of, Party::Certificate("CN=b"), PartyLog::Share::kRefusals);  // is told all the same
  EXPECT_EQ(log.Lines().size(), 2u);
  clock.Advance(PartyLog::kRefusals.party.each);
  Call(of, stranger, PartyLog::Share::kRefusals);
  ASSERT_EQ(log.Lines().size(), 3u);
  EXPECT_NE(log.Lines().back().find("held_back=9999"), std::string::npos) << log.Lines().back();
}

TEST_F(PartyLogTest, CallsOfWhoMayMakeThem_HaveMoreLinesAndABound) {
  PartyLog of(clock, log);
  const Party client = Party::Token("CN=a", "0123456789abcdef");
  for (int i = 0; i < 10'000; ++i) {
    Call(of, client, PartyLog::Share::kCalls);
  }
  EXPECT_EQ(log.Lines().size(), size_t{PartyLog::kCalls.party.at_once});
  Call(of, client, PartyLog::Share::kRefusals);  // a share of its own
  EXPECT_EQ(log.Lines().size(), size_t{PartyLog::kCalls.party.at_once} + 1);
}

TEST_F(PartyLogTest, Owner_IsToldInFull) {
  PartyLog of(clock, log);
  for (int i = 0; i < 1000; ++i) {
    Call(of, Party::Owner(), PartyLog::Share::kRefusals);
  }
  EXPECT_EQ(log.Lines().size(), 1000u);
  EXPECT_EQ(log.Lines().back(), "info rpc: call method=KillJob");
}

TEST_F(PartyLogTest, PartyThatFallsSilent_IsToldOfByItself) {
  {
    PartyLog of(clock, log);
    for (const char* subject : {"CN=a", "CN=b"}) {
      for (int i = 0; i < 3; ++i) {
        Call(of, Party::Certificate(subject), PartyLog::Share::kRefusals);
      }
    }
    clock.Advance(PartyLog::kRefusals.party.each);
    Call(of, Party::Certificate("CN=b"), PartyLog::Share::kRefusals);
    ASSERT_EQ(log.Lines().size(), 4u);
    EXPECT_EQ(log.Lines().back(),
              "info rpc: lines of a party were held back party=\"certificate:CN=a\" held_back=2");
    Call(of, Party::Certificate("CN=b"), PartyLog::Share::kRefusals);
    EXPECT_EQ(log.Lines().size(), 4u);
  }
  ASSERT_EQ(log.Lines().size(), 5u);  // at the end
  EXPECT_NE(log.Lines().back().find("CN=b\" held_back=1"), std::string::npos);
}

}  // namespace
}  // namespace kiln::ops
