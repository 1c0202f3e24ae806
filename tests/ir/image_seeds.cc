// SPDX-License-Identifier: MIT
#include <random>

#include "tests/fuzz/seeds.h"

namespace kiln::fuzz {

// Seeds of modules, sound and with patches.
std::vector<Bytes> Seeds() {
  std::mt19937 random(5);
  std::vector<Bytes> seeds;
  for (uint32_t module = 0; module < 4; ++module) {
    Bytes& seed = seeds.emplace_back();
    AppendLittle<uint32_t>(seed, module);
    for (uint32_t patch = 0; patch < module * 2; ++patch) {
      AppendLittle<uint64_t>(seed, (uint64_t{random()} << 32) | random());
    }
  }
  return seeds;
}

}  // namespace kiln::fuzz
