// SPDX-License-Identifier: MIT
// The rows as lines: names, order and what is null are what readers were promised (docs/schema).
#include "compiler/base/text/json_row.h"

#include <vector>

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(JsonRow, Error_WhatIsNotKnownIsNull) {
  EXPECT_EQ(JsonLine(JsonOf(ErrorRowOf(
                {.code = ErrorCode::kNotFound, .context = "no 'x'", .reason = "UNKNOWN"}, 3))),
            R"({"v":1,"type":"error","reason":"UNKNOWN","message":"no 'x'","limit":null,)"
            R"("max":null,"actual":null,"retry_after_ms":null,"trace_id":null,"help":null,)"
            R"("exit":3})");
}

TEST(JsonRow, Error_WithoutReasonHasItsCode) {
  EXPECT_EQ(ErrorRowOf({.code = ErrorCode::kUnavailable, .context = {}, .reason = {}}, 4).reason,
            ErrorCodeName(ErrorCode::kUnavailable));
}

TEST(JsonRow, Error_OfALimitHasItsNumbers) {
  EXPECT_EQ(JsonLine(JsonOf(ErrorRow{.reason = "QUOTA",
                                     .message = "m",
                                     .limit = "bytes",
                                     .max = 0,
                                     .actual = UINT64_MAX,
                                     .retry_after_ms = 50,
                                     .trace_id = "t",
                                     .help = "h",
                                     .exit = 5})),
            R"({"v":1,"type":"error","reason":"QUOTA","message":"m","limit":"bytes","max":0,)"
            R"("actual":"18446744073709551615","retry_after_ms":50,"trace_id":"t","help":"h",)"
            R"("exit":5})");
}

TEST(JsonRow, Result) {
  const std::vector<std::pair<std::string, uint64_t>> counts = {{"results", 2}, {"failed", 0}};
  EXPECT_EQ(JsonLine(JsonOf(ResultRow{.verb = "build", .counts = counts, .seconds = 0.5})),
            R"({"v":1,"type":"result","verb":"build","ok":true,"counts":{"results":2,"failed":0},)"
            R"("seconds":0.5,"trace_id":null,"exit":0})");
  EXPECT_EQ(JsonOf(ResultRow{.verb = "token", .exit = 2})["counts"].dump(), "{}");
  EXPECT_EQ(JsonOf(ResultRow{.verb = "token", .exit = 2})["ok"], false);
}

TEST(JsonRow, Count_AboveWhatReadersKeepIsText) {
  EXPECT_EQ(JsonCount(uint64_t{1} << 53).dump(), "9007199254740992");
  EXPECT_EQ(JsonCount((uint64_t{1} << 53) + 1).dump(), "\"9007199254740993\"");
}

TEST(JsonRow, Line_IsUtf8WithoutControls) {
  EXPECT_EQ(JsonLine({{"a", "\xff\xc2\x9b\n"}}), "{\"a\":\"\xef\xbf\xbd\\u009b\\n\"}");
}

}  // namespace
}  // namespace kiln
