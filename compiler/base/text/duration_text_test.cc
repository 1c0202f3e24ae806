// SPDX-License-Identifier: MIT
#include "compiler/base/text/duration_text.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(ReadDuration, EveryUnit_AndWhatIsNoDuration) {
  struct Row {
    const char* text;
    std::optional<Duration> duration;
  };
  const Row table[] = {
      {"0", Duration::zero()},
      {"0ms", Duration::zero()},
      {"500ms", milliseconds(500)},
      {"90s", std::chrono::seconds(90)},
      {"5m", std::chrono::minutes(5)},
      {"2h", hours(2)},
      {"7d", hours(7 * 24)},
      {"1000000h", hours(1'000'000)},
      {"41666d", hours(41'666 * 24)},
      {"3600000000000ms", hours(1'000'000)},
      {"1000001h", std::nullopt},
      {"41667d", std::nullopt},
      {"18446744073709551615ms", std::nullopt},
      {"18446744073709551616ms", std::nullopt},
      {"", std::nullopt},
      {"90", std::nullopt},
      {"s", std::nullopt},
      {"-1s", std::nullopt},
      {" 1s", std::nullopt},
      {"1 s", std::nullopt},
      {"1.5h", std::nullopt},
      {"1S", std::nullopt},
      {"1w", std::nullopt},
      {"1h30m", std::nullopt},
  };
  for (const Row& row : table) {
    EXPECT_EQ(ReadDuration(row.text), row.duration) << row.text;
  }
}

}  // namespace
}  // namespace kiln
