// SPDX-License-Identifier: MIT
// Results as a compiler makes them, of random bytes, for the store and for its peers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cache/store.h"

namespace kiln::bench {

using cache::Item;

constexpr size_t kBlobBytes = 6400;  // a mid-sized module
constexpr size_t kPerPut = 64;       // results in one durable put, as a batch makes them

// Ends the benchmark with a message unless it is good.
void Check(bool good, std::string_view what);

// One result: content, its record, two aliases.
struct Sample {
  Item content;
  Item record;
  Item variant;
  Item live;
};

// The same for the same number and seed.
Sample MakeSample(uint64_t number, size_t size);
std::vector<Sample> MakeSamples(size_t count, uint64_t seed);

}  // namespace kiln::bench
