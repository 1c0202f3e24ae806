// SPDX-License-Identifier: MIT
#include "server/ops/audit_log.h"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "compiler/base/test_directory.h"

namespace kiln::ops {
namespace {

namespace fs = std::filesystem;

class AuditLogTest : public testing::Test {
 protected:
  static std::vector<std::string> LinesOf(const std::string& file) {
    std::ifstream stream(file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) {
      lines.push_back(line);
    }
    return lines;
  }

  TestDirectory directory;
  std::string folder = directory.path();
  std::string path = folder + "/audit.jsonl";
  FakeClock clock;
  RecordingLog log;
};

TEST_F(AuditLogTest, Line_IsOneObjectWithoutEmptyMembers) {
  const auto audit = AuditLog::Open(path, clock, log).value();
  audit->Write(Party::Owner(), {.event = "call",
                                .peer = "ipv4:1.2.3.4:5",
                                .method = "Drain\n\xff",
                                .result = "OK",
                                .trace = "abc"});
  const std::vector<std::string> lines = LinesOf(path);
  ASSERT_EQ(lines.size(), 1u);
  const auto object = nlohmann::json::parse(lines[0]);
  EXPECT_EQ(object["ts"], "2001-09-09T01:46:40.000Z");
  EXPECT_EQ(object["event"], "call");
  EXPECT_EQ(object["peer"], "ipv4:1.2.3.4:5");
  EXPECT_EQ(object.count("token"), 0u);
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(AuditLogTest, TextsOfOthers_AreCut) {
  const auto audit = AuditLog::Open(path, clock, log).value();
  for (const size_t size : {255, 256, 257, 100'000}) {
    audit->Write(Party::Owner(),
                 {.event = "call", .peer = "unix", .object = std::string(size, 'o')});
    const auto object = nlohmann::json::parse(LinesOf(path).back());
    EXPECT_EQ(object["object"].get<std::string>().size(), std::min<size_t>(size, 256));
  }
  audit->Write(Party::Owner(), {.event = "upload", .peer = "unix", .count = 3});
  EXPECT_EQ(nlohmann::json::parse(LinesOf(path).back())["count"], 3);
}

TEST_F(AuditLogTest, FullFile_MovesOnAndTheOldestGoes) {
  const auto audit =
      AuditLog::Open(path, clock, log, {.acts = {.max_bytes = 100, .files = 3}}).value();
  for (int i = 0; i < 10; ++i) {  // 74 bytes each: one line in a file
    audit->Write(Party::Owner(),
                 {.event = "call", .method = "M" + std::to_string(i), .result = "OK"});
  }
  EXPECT_NE(LinesOf(path).at(0).find("M9"), std::string::npos);
  EXPECT_NE(LinesOf(path + ".1").at(0).find("M8"), std::string::npos);
  EXPECT_NE(LinesOf(path + ".2").at(0).find("M7"), std::string::npos);
  EXPECT_FALSE(fs::exists(path + ".3"));
}

TEST_F(AuditLogTest, Reopened_GoesOn) {
  for (int i = 0; i < 2; ++i) {
    AuditLog::Open(path, clock, log).value()->Write(Party::Owner(), {.event = "call"});
  }
  EXPECT_EQ(LinesOf(path).size(), 2u);
}

// Ten thousand lines of a stranger, of a token that is let in, and of the owner.
TEST_F(AuditLogTest, EachParty_WritesItsShareAndTheRestIsCounted) {
  constexpr int kLines = 10'000;
  const Party stranger = Party::User(4711), client = Party::Token("CN=a", "0123456789abcdef");
  {
    const auto audit = AuditLog::Open(path, clock, log).value();
    audit->Write(Party::Owner(), {.event = "token", .method = "create", .result = "OK"});
    for (int i = 0; i < kLines; ++i) {
      (void)audit->WriteRefusal(stranger, {.event = "connection", .peer = stranger.name()});
      audit->Write(client, {.event = "call", .token = "0123456789abcdef", .method = "Pin"});
    }
    clock.Advance(AuditLog::kRefusals.party.each);
    EXPECT_EQ(audit->WriteRefusal(stranger, {.event = "connection"}), kLines - 1);
    EXPECT_EQ(audit->WriteRefusal(stranger, {.event = "connection"}), std::nullopt);
  }
  const std::vector<std::string> acts = LinesOf(path);
  ASSERT_EQ(acts.size(), 1 + AuditLog::kActs.party.at_once + 1);
  EXPECT_NE(acts.front().find("create"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(acts.back())["party"], client.name());
  EXPECT_EQ(nlohmann::json::parse(acts.back())["held_back"], kLines - 1000);
  const std::vector<std::string> refusals = LinesOf(AuditLog::RefusalsPath(path));
  ASSERT_EQ(refusals.size(), 3u);
  EXPECT_EQ(nlohmann::json::parse(refusals[1])["held_back"], kLines - 1);
  EXPECT_EQ(nlohmann::json::parse(refusals[2])["held_back"], 1);
}

// A stranger of many names fills his own file, not that of the others.
TEST_F(AuditLogTest, RefusalsOfManyParties_DisplaceNoAct) {
  const auto audit = AuditLog::Open(path, clock, log,
                                    {.acts = {.max_bytes = 1000, .files = 2},
                                     .refusals = {.max_bytes = 1000, .files = 2}})
                         .value();
  audit->Write(Party::User(7), {.event = "call", .method = "Pin"});
  for (uint32_t i = 0; i < 1000; ++i) {
    (void)audit->WriteRefusal(Party::User(i), {.event = "connection"});
  }
  ASSERT_EQ(LinesOf(path).size(), 1u);
  EXPECT_TRUE(fs::exists(AuditLog::RefusalsPath(path) + ".1"));
}

TEST_F(AuditLogTest, LongMembers_AreCut) {
  const auto audit = AuditLog::Open(path, clock, log).value();
  audit->Write(Party::Owner(), {.event = "call", .object = std::string(1 << 20, 'x')});
  EXPECT_LT(LinesOf(path).at(0).size(), 2000u);
}

TEST_F(AuditLogTest, Link_IsRefused) {
  fs::create_symlink(folder + "/elsewhere", path);
  EXPECT_FALSE(AuditLog::Open(path, clock, log).ok());
  EXPECT_FALSE(fs::exists(folder + "/elsewhere"));
}

}  // namespace
}  // namespace kiln::ops
