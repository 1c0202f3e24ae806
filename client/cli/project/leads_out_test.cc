// SPDX-License-Identifier: MIT
#include "client/cli/project/leads_out.h"

#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

TEST(LeadsOut, PathsTable) {
  const struct {
    const char* path;
    bool out;
  } rows[] = {
      {"", false},        {".", false},       {"a.rpl", false},        {"..shaders/a.rpl", false},
      {"..a.rpl", false}, {"...", false},     {"a/../b.rpl", false},   {"a/..", false},
      {"..", true},       {"../a.rpl", true}, {"a/../../b.rpl", true}, {"./../a.rpl", true},
      {"/a.rpl", true}};
  for (const auto& row : rows) {
    EXPECT_EQ(LeadsOut(row.path), row.out) << row.path;
  }
}

}  // namespace
}  // namespace kiln::cli
