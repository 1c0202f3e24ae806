// SPDX-License-Identifier: MIT
#include "compiler/base/text/byte_size.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(ByteSize, WhatReadsAndWhatDoesNot) {
  struct Row {
    const char* text;
    std::optional<uint64_t> bytes;
  };
  const Row table[] = {
      {"0", 0},
      {"10", 10},
      {"10B", 10},
      {"1K", 1024},
      {"1KB", 1024},
      {"1KiB", 1024},
      {"50G", uint64_t{50} << 30},
      {"5GiB", uint64_t{5} << 30},
      {"1M", 1 << 20},
      {"2TB", uint64_t{2} << 40},
      {"16777215T", uint64_t{16'777'215} << 40},
      {"16777216T", std::nullopt},
      {"18446744073709551615", UINT64_MAX},
      {"18446744073709551616", std::nullopt},
      {"", std::nullopt},
      {"K", std::nullopt},
      {"-1", std::nullopt},
      {" 1", std::nullopt},
      {"1 K", std::nullopt},
      {"1k", std::nullopt},
      {"1Kb", std::nullopt},
      {"1KiBs", std::nullopt},
      {"1iB", std::nullopt},
      {"1.5G", std::nullopt},
      {"5 apples", std::nullopt},
  };
  for (const Row& row : table) {
    EXPECT_EQ(ReadByteSize(row.text), row.bytes) << row.text;
  }
}

}  // namespace
}  // namespace kiln
