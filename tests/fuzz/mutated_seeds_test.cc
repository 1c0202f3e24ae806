// SPDX-License-Identifier: MIT
// The entry of a fuzzer without libFuzzer, in every build: its seeds, and damaged ones. What the
// entry promises, it checks by itself: a broken promise ends the program.
#include <cstddef>
#include <cstdint>
#include <random>

#include <gtest/gtest.h>

#include "tests/fuzz/seeds.h"
#include "tests/integration/full_run.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace kiln::fuzz {
namespace {

void Feed(const Bytes& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

// Some bytes changed, a word set to a number that sizes like, or a part cut off.
Bytes Damaged(Bytes bytes, std::mt19937& random) {
  if (bytes.empty()) {
    return bytes;
  }
  const size_t at = random() % bytes.size();
  switch (random() % 4) {
    case 0:
      bytes.resize(at);
      break;
    case 1:
      for (size_t i = at; i < std::min(bytes.size(), at + 8); ++i) {
        bytes[i] = static_cast<std::byte>(random() % 2 == 0 ? 0xFF : 0);
      }
      break;
    default:
      for (int i = 0; i < 3; ++i) {
        bytes[random() % bytes.size()] = static_cast<std::byte>(random());
      }
      break;
  }
  return bytes;
}

TEST(MutatedSeeds, SoundAndDamagedOnes_KeepWhatTheEntryPromises) {
  const std::vector<Bytes> seeds = Seeds();
  ASSERT_FALSE(seeds.empty());
  std::mt19937 random(1);
  for (const Bytes& seed : seeds) {
    Feed(seed);
    for (int round = 0; round < tests::Rounds(200, 100'000); ++round) {
      Feed(Damaged(seed, random));
    }
  }
}

TEST(MutatedSeeds, AnyBytes_AreSurvived) {
  std::mt19937 random(2);
  for (int round = 0; round < tests::Rounds(300, 100'000); ++round) {
    Bytes bytes(random() % 600);
    for (std::byte& byte : bytes) {
      byte = static_cast<std::byte>(random());
    }
    Feed(bytes);
  }
}

}  // namespace
}  // namespace kiln::fuzz
