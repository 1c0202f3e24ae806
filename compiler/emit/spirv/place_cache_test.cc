// SPDX-License-Identifier: MIT
// The cache against the plainest model of it, with few and with many places.
#include "compiler/emit/spirv/place_cache.h"

#include <map>
#include <random>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace kiln::spirv {
namespace {

using spv::StorageClass;

struct Key {
  uint32_t root;
  std::vector<uint32_t> steps;
  bool operator==(const Key&) const = default;
  bool operator<(const Key& other) const {
    return std::tie(root, steps) < std::tie(other.root, other.steps);
  }
};

// Every fourth root is a variable of the function, every fifth cannot be written.
StorageClass StorageOf(uint32_t root) {
  return root % 4 == 0 ? StorageClass::Function : StorageClass::StorageBuffer;
}
bool IsWritable(uint32_t root) { return root % 5 != 0; }

class PlaceCacheModel : public testing::TestWithParam<uint32_t> {};  // number of roots

TEST_P(PlaceCacheModel, AnyOperations_KnowTheSameValues) {
  PlaceCache cache;
  std::map<Key, uint32_t> known;
  std::mt19937 random(7);
  const auto root_of = [](uint32_t root) {
    return root % 2 == 0 ? Ref::Own(root) : Ref::Of(SymbolId{root});
  };
  for (uint32_t i = 0; i < 20'000; ++i) {
    const uint32_t root = random() % GetParam();
    const uint32_t what = random() % 100;
    if (what < 10) {
      cache.Written(root_of(root));
      std::erase_if(known, [&](const auto& entry) { return entry.first.root == root; });
    } else if (what < 12) {
      cache.Called();
      std::erase_if(known, [&](const auto& entry) {
        return IsWritable(entry.first.root) &&
               StorageOf(entry.first.root) != StorageClass::Function;
      });
    } else if (what == 12 && i % 7 == 0) {
      cache.Clear();
      known.clear();
    } else {
      Key key{.root = root, .steps = std::vector<uint32_t>(random() % 3, random() % 3)};
      std::vector<Ref> steps;
      for (const uint32_t step : key.steps) {
        steps.push_back(Ref::Own(1000 + step));
      }
      PlaceCache::Entry& entry = cache.At(root_of(root), steps, StorageOf(root), IsWritable(root));
      const auto found = known.find(key);
      ASSERT_EQ(entry.value.valid(), found != known.end()) << i;
      ASSERT_TRUE(!entry.value.valid() || entry.value == Ref::Own(found->second)) << i;
      entry.value = Ref::Own(i);
      known[key] = i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(FewAndMany, PlaceCacheModel, testing::Values(2U, 10U, 500U),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace kiln::spirv
