// SPDX-License-Identifier: MIT
#include <random>

#include "tests/fuzz/seeds.h"

namespace kiln::fuzz {

// No patch, and many.
std::vector<Bytes> Seeds() {
  std::mt19937 random(5);
  std::vector<Bytes> seeds(1);
  for (const size_t patches : {1, 8, 64}) {
    Bytes& seed = seeds.emplace_back();
    for (size_t i = 0; i < patches * 3; ++i) {
      seed.push_back(static_cast<std::byte>(random()));
    }
  }
  return seeds;
}

}  // namespace kiln::fuzz
