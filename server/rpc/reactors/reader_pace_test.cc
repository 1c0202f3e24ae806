// SPDX-License-Identifier: MIT
#include "server/rpc/reactors/reader_pace.h"

#include <gtest/gtest.h>

namespace kiln::rpc {
namespace {

using std::chrono::seconds;

// Messages of `bytes`, one after the other, each taken `each` after it was begun; asked every
// second as the daemon does. The second at which the reader is too slow, or -1 after five minutes.
int64_t SlowAfter(size_t bytes, seconds each) {
  ReaderPace pace;
  seconds began{0};
  pace.Begin(bytes, began);
  for (seconds now{1}; now <= seconds(300); ++now) {
    if (now - began == each) {
      pace.End();
      pace.Begin(bytes, now);
      began = now;
    }
    if (pace.IsTooSlow(now)) {
      return now.count();
    }
  }
  return -1;
}

TEST(ReaderPace, Rates_AreHeldAgainstOneKibibytePerSecond) {
  struct Row {
    const char* what;
    size_t bytes;
    seconds each;
    int64_t slow_after;
  };
  for (const Row& row :
       {Row{"1 KiB a second", 1024, seconds(1), -1}, Row{"half of that", 1024, seconds(2), 30},
        Row{"20 KiB in 10 s", 20 * 1024, seconds(10), -1},
        Row{"100 bytes a second", 100, seconds(1), 30},
        Row{"a large message in 59 s", 1 << 20, seconds(59), -1},
        Row{"nothing of a large message", 1 << 20, seconds(1000), 61}}) {
    EXPECT_EQ(SlowAfter(row.bytes, row.each), row.slow_after) << row.what;
  }
}

TEST(ReaderPace, NothingWaits_IsNeverSlow) {
  ReaderPace pace;
  EXPECT_FALSE(pace.IsTooSlow(seconds(1000)));
  for (int i = 0; i < 10; ++i) {  // ten bytes a minute, taken at once
    const seconds now(60 * i);
    pace.Begin(10, now);
    EXPECT_FALSE(pace.IsTooSlow(now));
    pace.End();
    pace.CaughtUp();
    EXPECT_FALSE(pace.IsTooSlow(now + seconds(59)));
  }
}

}  // namespace
}  // namespace kiln::rpc
