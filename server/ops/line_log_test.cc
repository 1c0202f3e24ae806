// SPDX-License-Identifier: MIT
#include "server/ops/line_log.h"

#include <memory>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kiln::ops {
namespace {

class LineLogTest : public testing::Test {
 protected:
  LineLogTest() : stream(std::tmpfile()) {}
  ~LineLogTest() override { (void)std::fclose(stream); }

  std::vector<std::string> Lines() const {
    std::rewind(stream);
    std::vector<std::string> lines(1);
    for (int c = std::fgetc(stream); c != EOF; c = std::fgetc(stream)) {
      if (c == '\n') {
        lines.emplace_back();
      } else {
        lines.back() += static_cast<char>(c);
      }
    }
    lines.pop_back();
    return lines;
  }

  FakeClock clock;
  std::FILE* const stream;
};

TEST_F(LineLogTest, Text_IsStampLevelComponentMessageAndFields) {
  LineLog log(stream, LogFormat::kText, LogLevel::kInfo, clock);
  log.Write(LogLevel::kInfo, "rpc", "call", {{"method", "Compile"}, {"ms", 3}});
  log.Write(LogLevel::kDebug, "rpc", "not shown");
  EXPECT_EQ(Lines(), std::vector<std::string>{
                         "2001-09-09T01:46:40.000Z info rpc: call method=Compile ms=3"});
}

TEST_F(LineLogTest, Json_IsAnObjectWithItsFields) {
  LineLog log(stream, LogFormat::kJson, LogLevel::kInfo, clock);
  log.Write(LogLevel::kError, "store", "a \"word\"\n", {{"path", "/x"}});
  const auto object = nlohmann::json::parse(Lines().at(0));
  EXPECT_EQ(object["level"], "error");
  EXPECT_EQ(object["component"], "store");
  EXPECT_EQ(object["msg"], "a \"word\"\n");
  EXPECT_EQ(object["path"], "/x");
}

TEST_F(LineLogTest, RepeatedWarnings_AreCounted) {
  LineLog log(stream, LogFormat::kText, LogLevel::kInfo, clock);
  for (int i = 0; i < 125; ++i) {
    log.Write(LogLevel::kWarning, "store", "disk is full", {{"trace", i}});
  }
  log.Write(LogLevel::kInfo, "rpc", "call");
  const std::vector<std::string> lines = Lines();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_NE(lines[0].find("warning store: disk is full trace=0"), std::string::npos);
  EXPECT_NE(lines[1].find("warning store: repeated 124 times"), std::string::npos);
  EXPECT_NE(lines[2].find("info rpc: call"), std::string::npos);
  EXPECT_EQ(log.Warnings().size(), 20u);
}

TEST_F(LineLogTest, WarningThatNeverEnds_IsToldEveryTenSeconds) {
  LineLog log(stream, LogFormat::kText, LogLevel::kInfo, clock);
  for (int i = 0; i < 25; ++i) {
    log.Write(LogLevel::kWarning, "store", "disk is full");
    clock.Advance(std::chrono::seconds(1));
  }
  EXPECT_EQ(Lines().size(), 3u);
}

TEST_F(LineLogTest, Levels_AreOfComponents) {
  LineLog log(stream, LogFormat::kText, LogLevel::kWarning, clock);
  log.SetLevels(*ParseLogLevels("error,rpc=debug"));
  log.Write(LogLevel::kDebug, "rpc", "one");
  log.Write(LogLevel::kWarning, "store", "hidden");
  log.SetLevel("", LogLevel::kDebug);
  log.SetLevel("rpc", LogLevel::kError);
  log.Write(LogLevel::kDebug, "store", "two");
  log.Write(LogLevel::kWarning, "rpc", "hidden");
  EXPECT_EQ(Lines().size(), 2u);
}

TEST(ParseLogLevels, WrongTexts_AreRefused) {
  for (const char* text : {"", "loud", "rpc=", "=info", "info,", "info,rpc=loud"}) {
    EXPECT_FALSE(ParseLogLevels(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace kiln::ops
