// SPDX-License-Identifier: MIT
// What is shown of a batch, at which width, and when.
#include "client/cli/output/progress.h"

#include <chrono>

#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

client::BatchProgress Half() {
  client::BatchProgress progress;
  progress.variants_total = "92160";
  progress.variants_served = "61440";
  progress.results_upper = "960";
  progress.results_done = 412;
  progress.stage = "validate";
  progress.rate_results = 18.2;
  progress.eta_ms = 31'000;
  progress.cache_hit_ratio = 0.78;
  progress.dedup_ratio = 8.8;
  progress.failed = 1;
  progress.cpu_ms = 41'000;
  progress.cpu_saved_ms = 192'000;
  progress.slowest = {{.program = "fsr2/accumulate", .options = {}, .ms = 47}};
  progress.slowed_by = "memory";
  return progress;
}

TEST(BarLines, WideTerminal_ShowsThreeLines) {
  const std::vector<std::string> lines = BarLines("demo", Half(), 200, true);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0],
            " demo                █████████████░░░░░░░  412/≤960 results   validate   18.2/s   ETA "
            "0:31");
  EXPECT_EQ(lines[1],
            " served 61,440 of 92,160 variants   cached 78%   dedup 8.8x   failed 1   cpu 41.0 s, "
            "saved 3 m 12 s");
  EXPECT_EQ(lines[2], " slowest  fsr2/accumulate  47 ms   batch slowed: memory pressure");
}

TEST(BarLines, NarrowTerminal_CutsAtCharacters) {
  for (const std::string& line : BarLines("demo", Half(), 59, true)) {
    size_t characters = 0;
    for (const char c : line) {
      characters += (static_cast<uint8_t>(c) & 0xC0u) != 0x80u ? 1 : 0;
    }
    EXPECT_LE(characters, 59u) << line;
  }
}

TEST(BarLines, OtherCharacterSet_IsAscii) {
  for (const std::string& line : BarLines("demo", Half(), 200, false)) {
    for (const char c : line) {
      EXPECT_LT(static_cast<uint8_t>(c), 0x80u) << line;
    }
  }
}

TEST(BarLines, NothingKnownYet_HasNoEtaAndNoThirdLine) {
  const std::vector<std::string> lines = BarLines("demo", {}, 200, true);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].find("ETA"), std::string::npos);
}

TEST(ProgressLine, FieldsStandInTheirOrder) {
  EXPECT_EQ(ProgressLine("demo", Half()),
            "build demo: 412/960 results, 61440 variants, 78% cached, 18.2/s, eta 31s, validate, 1 "
            "failed");
  client::BatchProgress early = Half();
  early.eta_ms = 0;
  EXPECT_EQ(ProgressLine("demo", early),
            "build demo: 412/960 results, 61440 variants, 78% cached, 18.2/s, validate, 1 failed");
}

TEST(LinePace, TenthsWaitForFiveSecondsAndSilenceEndsAfterThirty) {
  using std::chrono::seconds;
  const LinePace::Time start{};
  LinePace pace(start);
  EXPECT_FALSE(pace.Due(start + seconds(1), 0.3));    // too early
  EXPECT_TRUE(pace.Due(start + seconds(5), 0.3));     // a new tenth
  EXPECT_FALSE(pace.Due(start + seconds(20), 0.35));  // the same tenth
  EXPECT_FALSE(pace.Due(start + seconds(34), 0.39));
  EXPECT_TRUE(pace.Due(start + seconds(35), 0.39));  // 30 s of silence
  EXPECT_TRUE(pace.Due(start + seconds(40), 0.40));
}

TEST(RowsOf, NarrowerWindow_BreaksLines) {
  const std::vector<std::string> lines = {std::string(99, 'x'), "", "██████"};
  EXPECT_EQ(RowsOf(lines, 100), 3u);
  EXPECT_EQ(RowsOf(lines, 99), 3u);
  EXPECT_EQ(RowsOf(lines, 45), 5u);
  EXPECT_EQ(RowsOf(lines, 3), 33u + 1 + 2);
  EXPECT_EQ(RowsOf(lines, 0), 3u);
  EXPECT_EQ(RowsOf({}, 80), 0u);
}

}  // namespace
}  // namespace kiln::cli
