// SPDX-License-Identifier: MIT
// Rows of wrong sources with all their messages, each beside the nearest right one without any.
#pragma once

#include <initializer_list>

#include <gtest/gtest.h>

#include "tests/resolve/variant_of.h"

namespace kiln::resolve {

// A vertex shader that writes its position, open for what else it does.
inline constexpr char kPosition[] = "void v (void) { vertex_stage_output_position (f4 {0.0}); ";

struct Row {
  const char* wrong;
  const char* messages;
  const char* right;
  const char* entries = "";
};

inline void CheckRows(std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(VariantOf({row.wrong}, row.entries).Messages(), row.messages) << row.wrong;
    EXPECT_EQ(VariantOf({row.right}, row.entries).Messages(), "") << row.right;
  }
}

}  // namespace kiln::resolve
