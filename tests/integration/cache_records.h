// SPDX-License-Identifier: MIT
// Records that can be made again from a number alone, so that a test can tell whether what it reads
// is right without having kept it.
#pragma once

#include <algorithm>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "cache/compression/content_blocks.h"
#include "cache/record.h"

namespace kiln::tests {

// 100 bytes to 2 KiB, every eighth up to 20 KiB; half of it compressible.
inline Bytes NumberedBytes(uint64_t number) {
  std::mt19937_64 random(number);
  Bytes bytes;
  const uint64_t words = 12 + random() % (number % 8 == 1 ? 2500 : 250);
  bytes.reserve(words * sizeof(uint64_t));
  for (uint64_t i = 0; i < words; ++i) {
    AppendLittle<uint64_t>(bytes, (i & 1) != 0 ? random() : random() % 16);
  }
  return bytes;
}

inline Hash128 NumberedId(std::string_view what, uint64_t number) {
  return HashBytes(AsBytes(std::string(what) + std::to_string(number)));
}

// Content, the record that names it and two aliases that lead to the record.
inline std::vector<cache::Item> NumberedItems(uint64_t number) {
  const cache::Item content = cache::ContentItem(cache::OwnedBlob(NumberedBytes(number)));
  const Hash128 signature = NumberedId("signature", number);
  const cache::Record record{.products = {{"code.vertex", DigestOf(content.value.bytes)}},
                             .live_options = {"fog"},
                             .cpu_us = number,
                             .build_id = "test"};
  return {content, cache::RecordItem(cache::Level::kSignature, 0, signature, record),
          cache::AliasItem(0, NumberedId("variant", number), signature),
          cache::AliasItem(0, NumberedId("live", number), signature)};
}

// Records [first, end) as a batch puts them: their contents in one block. Requires: at least four.
inline std::vector<cache::Item> NumberedItemsInABlock(uint64_t first, uint64_t end) {
  std::vector<cache::Item> items;
  for (uint64_t number = first; number < end; ++number) {
    std::ranges::move(NumberedItems(number), std::back_inserter(items));
  }
  return cache::InBlocks(items, nullptr);
}

enum class Found : uint8_t { kAll, kMissing, kWrong };

// Follows an alias to its record and its content, as a build does.
inline Found LookUp(cache::BlobStore& store, const std::vector<cache::Item>& items) {
  Found worst = Found::kAll;
  for (const cache::Item& item : items) {
    const Result<cache::Blob> blob = store.Get(item.key, {});
    if (!blob.ok()) {
      worst = std::max(worst, Found::kMissing);
    } else if (AsText(blob->bytes) != AsText(item.value.bytes)) {
      worst = Found::kWrong;
    }
  }
  return worst;
}

inline Found LookUp(cache::BlobStore& store, uint64_t number) {
  return LookUp(store, NumberedItems(number));
}

}  // namespace kiln::tests
