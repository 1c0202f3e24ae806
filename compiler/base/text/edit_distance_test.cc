// SPDX-License-Identifier: MIT
#include "compiler/base/text/edit_distance.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(EditDistance, Table) {
  const struct {
    const char *a, *b;
    size_t distance;
  } rows[] = {{"", "", 0},        {"fog", "fog", 0},   {"", "fog", 3},    {"fog", "", 3},
              {"fog", "fogs", 1}, {"fog", "frog", 1},  {"fog", "dog", 1}, {"kitten", "sitting", 3},
              {"fog", "ofg", 1},  {"tset", "test", 1}, {"ca", "abc", 3}};
  for (const auto& row : rows) {
    EXPECT_EQ(EditDistance(row.a, row.b), row.distance) << row.a << " " << row.b;
    EXPECT_EQ(EditDistance(row.b, row.a), row.distance) << row.b << " " << row.a;
  }
}

}  // namespace
}  // namespace kiln
