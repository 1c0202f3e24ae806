// SPDX-License-Identifier: MIT
// gtest's main, with --full.
#include <cstdlib>
#include <string_view>

#include <gtest/gtest.h>

#include "cache/sqlite/repair/salvage.h"

int main(int argc, char** argv) {
  if (argc == 7 && std::string_view(argv[1]) == "--salvage") {  // by a test, of a damaged file
    return kiln::cache::sqlite::SalvageApart(argv[2], argv[4], std::atoi(argv[6]));
  }
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--full") {
      ::setenv("KILN_FULL", "1", 1);
    }
  }
  return RUN_ALL_TESTS();
}
