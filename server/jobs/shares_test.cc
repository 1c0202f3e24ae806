// SPDX-License-Identifier: MIT
#include "server/jobs/shares.h"

#include <gtest/gtest.h>

namespace kiln::jobs {
namespace {

TEST(Shares, EveryoneHasWhatTheTableSays) {
  struct Row {
    const char* tenant;
    uint64_t limit;
    PlaceUsage taken;
    Room room;
  };
  const Row rows[] = {
      {"", 16, {.all = 15, .owner = 15, .tenant = 15}, Room::kYes},
      {"", 16, {.all = 16, .owner = 16, .tenant = 16}, Room::kFull},
      {"", 16, {.all = 15, .owner = 3, .tenant = 3}, Room::kYes},
      {"", 16, {.all = 16, .owner = 4, .tenant = 4}, Room::kFull},
      {"a", 16, {.all = 7, .owner = 0, .tenant = 7}, Room::kYes},
      {"a", 16, {.all = 8, .owner = 0, .tenant = 8}, Room::kOwnShare},
      {"a", 16, {.all = 11, .owner = 0, .tenant = 3}, Room::kYes},
      {"a", 16, {.all = 12, .owner = 0, .tenant = 4}, Room::kFull},
      {"a", 16, {.all = 15, .owner = 15, .tenant = 0}, Room::kYes},
      {"a", 16, {.all = 16, .owner = 16, .tenant = 0}, Room::kFull},
      // So few places that a quarter is none.
      {"a", 1, {.all = 0, .owner = 0, .tenant = 0}, Room::kYes},
      {"a", 1, {.all = 1, .owner = 0, .tenant = 1}, Room::kOwnShare},
      {"b", 1, {.all = 1, .owner = 0, .tenant = 0}, Room::kFull},
      {"", 1, {.all = 1, .owner = 0, .tenant = 0}, Room::kYes},
      {"", 1, {.all = 2, .owner = 1, .tenant = 1}, Room::kFull},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(RoomFor(row.tenant, row.limit, row.taken), row.room)
        << "'" << row.tenant << "' " << row.taken.all << " of " << row.limit;
  }
}

}  // namespace
}  // namespace kiln::jobs
