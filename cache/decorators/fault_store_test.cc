// SPDX-License-Identifier: MIT
#include "cache/decorators/fault_store.h"

#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"

namespace kiln::cache {
namespace {

// One letter per Get: '.' sound, 'x' failed, '~' other bytes.
std::string Outcomes(uint32_t seed) {
  MemoryStore bottom(nullptr, nullptr, {});
  const Item item = ContentItem(CopiedBlob(AsBytes("some words")));
  EXPECT_TRUE(bottom.Put(std::span(&item, 1), Durability::kRelaxed, {}).ok());
  FaultStore store(bottom, {.seed = seed, .fail = 200, .tear = 200, .flip = 200});
  std::string outcomes;
  for (int i = 0; i < 200; ++i) {
    const Result<Blob> blob = store.Get(item.key, {});
    outcomes += !blob.ok() ? 'x' : AsText(blob->bytes) == "some words" ? '.' : '~';
  }
  return outcomes;
}

TEST(FaultStore, OneSeed_GivesTheSameFaults) {
  EXPECT_EQ(Outcomes(1), Outcomes(1));
  EXPECT_NE(Outcomes(1), Outcomes(2));
  for (const char outcome : {'.', 'x', '~'}) {
    EXPECT_NE(Outcomes(1).find(outcome), std::string::npos) << outcome;
  }
}

TEST(FaultStore, LostPut_LooksStored) {
  MemoryStore bottom(nullptr, nullptr, {});
  FaultStore store(bottom, {.lose = 1000});
  const Item item = ContentItem(CopiedBlob(AsBytes("words")));
  EXPECT_EQ(store.Put(std::span(&item, 1), Durability::kDurable, {})->added, 1u);
  EXPECT_FALSE(bottom.Get(item.key, {}).ok());
}

}  // namespace
}  // namespace kiln::cache
