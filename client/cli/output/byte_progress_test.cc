// SPDX-License-Identifier: MIT
// What import and verify say of how far they are, and when.
#include "client/cli/output/byte_progress.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

using std::chrono::milliseconds;

constexpr uint64_t kMiB = uint64_t{1} << 20;

struct Told {
  milliseconds after;  // the one before
  uint64_t done;
  uint64_t total;
};

// What is on stderr when this was told.
std::string Lines(const Global& global, const std::vector<Told>& all) {
  FakeClock clock;
  testing::internal::CaptureStderr();
  ByteProgress progress(global, "cache verify", clock);
  for (const Told& told : all) {
    clock.Advance(told.after);
    progress(told.done, told.total);
  }
  return testing::internal::GetCapturedStderr();
}

TEST(ByteProgress, FirstAfterASecond_ThenEveryTwo) {
  EXPECT_EQ(Lines({}, {{milliseconds(0), 0, 4 * kMiB},
                       {milliseconds(999), 1 * kMiB, 4 * kMiB},
                       {milliseconds(1), 1 * kMiB, 4 * kMiB},
                       {milliseconds(1'999), 2 * kMiB, 4 * kMiB},
                       {milliseconds(1), 3 * kMiB, 4 * kMiB},
                       {milliseconds(10), 4 * kMiB - 1, 4 * kMiB},
                       {milliseconds(5'000), 4 * kMiB, 4 * kMiB}}),
            "kiln: cache verify: 25% of 4.0 MiB\n"
            "kiln: cache verify: 75% of 4.0 MiB\n"
            "kiln: cache verify: 100% of 4.0 MiB\n");
}

TEST(ByteProgress, WhatIsQuick_SaysNothing) {
  EXPECT_EQ(Lines({}, {{milliseconds(10), 1, 2}, {milliseconds(900), 2, 2}}), "");
}

TEST(ByteProgress, MoreThanThereWasAtTheStart_IsAllOfIt) {
  EXPECT_EQ(Lines({}, {{milliseconds(1'000), 5 * kMiB, 4 * kMiB}}),
            "kiln: cache verify: 100% of 4.0 MiB\n");
}

TEST(ByteProgress, OfNobodyKnowsHowMany_SaysHowManySoFar) {
  EXPECT_EQ(Lines({}, {{milliseconds(1'000), 0, 0}, {milliseconds(10), 3 * kMiB, 0}}),
            "kiln: cache verify: 3.0 MiB so far\n");
}

TEST(ByteProgress, WhoWantsNone_GetsNone) {
  const std::vector<Told> told{{milliseconds(2'000), 1 * kMiB, 4 * kMiB}};
  Global quiet, json, none;
  quiet.quiet = true;
  json.json = true;
  none.progress = "none";
  for (const Global& global : {quiet, json, none}) {
    EXPECT_EQ(Lines(global, told), "");
  }
  EXPECT_NE(Lines({}, told), "");
}

}  // namespace
}  // namespace kiln::cli
