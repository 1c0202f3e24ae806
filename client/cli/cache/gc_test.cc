// SPDX-License-Identifier: MIT
#include "client/cli/cache/gc.h"

#include <optional>

#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

// "--to 0" empties a cache, with a daemon and without one; no --to is another thing.
TEST(CacheGc, NumbersOnTheWire) {
  const struct {
    std::optional<uint64_t> said;
    uint64_t on_wire;
  } rows[] = {{std::nullopt, 0}, {0, 1}, {1, 1}, {4096, 4096}};
  for (const auto& row : rows) {
    cache::GcOptions options;
    options.to_bytes = row.said;
    EXPECT_EQ(RequestOf(options).to_bytes, row.on_wire);
    EXPECT_EQ(RequestOf(options).older_than_s, 0u);
    options = {};
    options.older_than_s = row.said;
    EXPECT_EQ(RequestOf(options).older_than_s, row.on_wire);
    EXPECT_EQ(RequestOf(options).to_bytes, 0u);
  }
}

}  // namespace
}  // namespace kiln::cli
