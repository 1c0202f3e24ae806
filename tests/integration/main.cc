// SPDX-License-Identifier: MIT
// gtest's main, with --full.
#include <cstdlib>
#include <string_view>

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--full") {
      ::setenv("KILN_FULL", "1", 1);
    }
  }
  return RUN_ALL_TESTS();
}
