// SPDX-License-Identifier: MIT
#include "server/compile/batch/batch_room.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace kiln::compile {
namespace {

constexpr uint64_t kBytes = 1000;  // of all

enum class Is : uint8_t { kOver, kGoing };

RememberedBatch Batch(const char* of, uint64_t bytes, Is is, int64_t started = 0) {
  return {.of = of, .bytes = bytes, .started_ms = started, .over = is == Is::kOver};
}

// What goes, as "0 2", or the reason.
std::string Room(const std::vector<RememberedBatch>& known, const char* starter, uint64_t bytes) {
  const Result<std::vector<size_t>> dropped =
      RoomForBatch(known, starter, bytes, {.bytes = kBytes, .results = 1000});
  if (!dropped.ok()) {
    return dropped.error().reason;
  }
  std::string text;
  for (const size_t index : *dropped) {
    text += (text.empty() ? "" : " ") + std::to_string(index);
  }
  return text;
}

TEST(BatchRoom, BytesTable) {
  const struct {
    std::vector<RememberedBatch> known;
    const char* starter;
    uint64_t bytes;
    const char* expected;
  } table[] = {
      {{}, "owner", kBytes, ""},
      {{}, "owner", kBytes + 1, "QUOTA"},
      {{}, "tenant:a", kBytes / 2, ""},
      {{}, "tenant:a", kBytes / 2 + 1, "QUOTA"},
      {{Batch("tenant:a", 500, Is::kGoing)}, "tenant:a", 1, "QUOTA"},
      {{Batch("tenant:a", 500, Is::kGoing)}, "tenant:b", 250, ""},
      {{Batch("tenant:a", 500, Is::kGoing)}, "tenant:b", 251, "QUOTA"},
      {{Batch("tenant:a", 500, Is::kGoing)}, "owner", 500, ""},
      // Of two that are over the older one goes, and only as many as have to.
      {{Batch("tenant:a", 200, Is::kOver, 2), Batch("tenant:a", 200, Is::kOver, 1)},
       "tenant:a",
       200,
       "1"},
      // Who has too much gives up his own, and nobody else's.
      {{Batch("tenant:b", 100, Is::kOver, 1), Batch("tenant:a", 450, Is::kOver, 2)},
       "tenant:a",
       100,
       "1"},
      // Where all have too much, whoever has most.
      {{Batch("tenant:b", 100, Is::kOver, 1), Batch("tenant:a", 500, Is::kOver, 2)},
       "tenant:b",
       300,
       "1"},
      {{Batch("", 900, Is::kOver, 2), Batch("tenant:a", 100, Is::kOver, 1)}, "tenant:b", 100, "0"},
      {{Batch("owner", 900, Is::kGoing), Batch("tenant:a", 100, Is::kOver, 1)}, "owner", 100, "1"},
      {{Batch("owner", 1000, Is::kGoing), Batch("tenant:a", 100, Is::kOver, 1)},
       "owner",
       100,
       "QUOTA"},
  };
  for (const auto& row : table) {
    EXPECT_EQ(Room(row.known, row.starter, row.bytes), row.expected) << &row - table;
  }
}

TEST(BatchRoom, NumberOfThoseThatAreNotOver_IsDivided) {
  std::vector<RememberedBatch> known;
  const struct {
    const char* of;
    size_t taken;
  } table[] = {{"tenant:a", kMostUnfinished / 2},
               {"tenant:b", kMostUnfinished / 4},
               {"", kMostUnfinished / 4}};
  for (const auto& row : table) {
    for (size_t i = 0; i < row.taken; ++i) {
      EXPECT_EQ(Room(known, row.of, 0), "") << row.of << i;
      known.push_back(Batch(row.of, 0, Is::kGoing));
    }
    EXPECT_EQ(Room(known, row.of, 0), "QUOTA") << row.of;
  }
}

// One who starts many does not make the daemon forget the batches of others.
TEST(BatchRoom, KeptOnes_GoOfWhoeverHasMost) {
  std::vector<RememberedBatch> known;
  for (size_t i = 0; i < kMostKept / 4; ++i) {
    known.push_back(Batch("owner", 0, Is::kOver, 1));
  }
  known.push_back(Batch("tenant:b", 0, Is::kOver, 1));
  for (size_t i = 0; i < kMostKept / 2; ++i) {
    EXPECT_EQ(Room(known, "tenant:a", 0), "");
    known.push_back(Batch("tenant:a", 0, Is::kOver, 2));
  }
  EXPECT_EQ(Room(known, "tenant:a", 0), "");
  known.push_back(Batch("tenant:a", 0, Is::kOver, 3));
  EXPECT_EQ(Room(known, "tenant:a", 0), std::to_string(kMostKept / 4 + 1));
  EXPECT_EQ(Room(known, "tenant:b", 0), "");
}

// What is over holds its results in memory; what is not has its bound elsewhere and counts for
// none.
TEST(BatchRoom, ResultsOfThoseThatAreOver_AreDivided) {
  std::vector<RememberedBatch> known = {
      Batch("tenant:a", 0, Is::kOver, 1), Batch("tenant:a", 0, Is::kOver, 2),
      Batch("tenant:b", 0, Is::kOver, 1), Batch("tenant:b", 0, Is::kGoing, 1)};
  known[0].results = 200;
  known[1].results = 300;
  known[2].results = 250;
  known[3].results = 5000;
  EXPECT_EQ(Room(known, "tenant:a", 0), "");
  ++known[1].results;
  EXPECT_EQ(Room(known, "tenant:a", 0), "0");
  EXPECT_EQ(Room(known, "tenant:c", 0), "0") << "others have three quarters together";
  EXPECT_EQ(Room(known, "owner", 0), "");
}

}  // namespace
}  // namespace kiln::compile
