// SPDX-License-Identifier: MIT
#include "tests/bench/store_samples.h"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cache/record.h"

namespace kiln::bench {
namespace {

Bytes RandomBytes(uint64_t seed, size_t size) {
  std::mt19937_64 random(seed);
  Bytes bytes;
  while (bytes.size() < size) {
    AppendLittle<uint64_t>(bytes, random());
  }
  return bytes;
}

}  // namespace

void Check(bool good, std::string_view what) {
  if (!good) {
    fmt::print(stderr, "store_bench: {} failed\n", what);
    std::exit(1);
  }
}

Sample MakeSample(uint64_t number, size_t size) {
  const Hash128 signature = DigestOf("s" + std::to_string(number)).id;
  Item content = cache::ContentItem(cache::OwnedBlob(RandomBytes(number, size)));
  cache::Record record{.products = {{"code.vertex", DigestOf(content.value.bytes)}},
                       .cpu_us = 10,
                       .build_id = "bench"};
  return {.content = std::move(content),
          .record = cache::RecordItem(cache::Level::kSignature, 0, signature, record),
          .variant = cache::AliasItem(0, DigestOf("v" + std::to_string(number)).id, signature),
          .live = cache::AliasItem(0, DigestOf("l" + std::to_string(number)).id, signature)};
}

std::vector<Sample> MakeSamples(size_t count, uint64_t seed) {
  std::vector<Sample> samples;
  for (size_t i = 0; i < count; ++i) {
    samples.push_back(MakeSample(seed * 1'000'000'007 + i, kBlobBytes));
  }
  return samples;
}

}  // namespace kiln::bench
