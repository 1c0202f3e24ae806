// SPDX-License-Identifier: MIT
#include "compiler/base/log.h"

#include <cstdio>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(LogSink, Entry_IsOneLineWithFields) {
  RecordingLog log;
  log.Write(LogLevel::kWarning, "cache", "store is full",
            {{"path", "/var/kiln"}, {"bytes", 17}, {"read_only", true}});
  log.Write(LogLevel::kError, "rpc", "two\nlines", {{"text", "a \"b\"\n\x01"}, {"empty", ""}});
  EXPECT_THAT(log.Lines(), testing::ElementsAre(
                               "warning cache: store is full path=/var/kiln bytes=17 "
                               "read_only=true",
                               "error rpc: two\\nlines text=\"a \\\"b\\\"\\n\\x01\" empty=\"\""));
}

TEST(StreamLog, EntriesBelowTheLeastLevel_AreDropped) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  StreamLog log(file, LogLevel::kInfo);
  log.Write(LogLevel::kDebug, "a", "hidden");
  log.Write(LogLevel::kInfo, "a", "shown");
  std::rewind(file);
  char line[64] = {};
  ASSERT_NE(std::fgets(line, sizeof(line), file), nullptr);
  EXPECT_STREQ(line, "info a: shown\n");
  EXPECT_EQ(std::fgets(line, sizeof(line), file), nullptr);
  EXPECT_EQ(std::fclose(file), 0);
}

}  // namespace
}  // namespace kiln
