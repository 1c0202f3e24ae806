// SPDX-License-Identifier: MIT
// One walk over the items: content of a kind is collected until a block is full. A block takes its
// contents in the order of the items, which is the order in which they were built: neighbours
// differ in one option. Costs what compressing does, and a copy of the raw bytes.
#include "cache/content_blocks.h"

#include <array>
#include <memory>
#include <utility>

#include "cache/codec.h"
#include "compiler/base/stop.h"

namespace kiln::cache {
namespace {

// Content of one kind that is to become a block.
struct Open {
  std::vector<size_t> items;
  uint64_t bytes = 0;
};

DictionaryPtr CurrentOf(ContentKind kind, DictionarySource* dictionaries) {
  return dictionaries == nullptr ? nullptr : dictionaries->Current(kind);
}

void PutAlone(Item& item, const DictionaryPtr& dictionary) {
  item.value = dictionary == nullptr ? Compress(item.value) : Compress(item.value, *dictionary);
}

// What does not compress together does not alone either, and is read without a block.
void Close(std::vector<Item>& items, Open& open, const DictionaryPtr& dictionary) {
  CheckStop();
  const Open closed = std::exchange(open, {});
  if (closed.items.size() < kFewestInBlock) {
    for (const size_t i : closed.items) {
      PutAlone(items[i], dictionary);
    }
    return;
  }
  std::vector<ByteView> contents;
  contents.reserve(closed.items.size());
  for (const size_t i : closed.items) {
    contents.push_back(items[i].value.bytes);
  }
  const auto block = std::make_shared<const Blob>(BlockOf(contents, dictionary.get()));
  if (block->codec == Codec::kRaw) {
    return;
  }
  uint64_t at = 0;
  for (const size_t i : closed.items) {
    items[i].block = block;
    items[i].at = at;
    at += items[i].value.bytes.size();
  }
}

}  // namespace

Blob BlockOf(std::span<const ByteView> contents, const Dictionary* dictionary) {
  size_t size = 0;
  for (const ByteView content : contents) {
    size += content.size();
  }
  Bytes raw;
  raw.reserve(size);
  for (const ByteView content : contents) {
    Append(raw, content);
  }
  const Blob whole = OwnedBlob(std::move(raw));
  Blob block = dictionary == nullptr ? Compress(whole) : Compress(whole, *dictionary);
  block.sum = HashBytes(block.bytes);
  return block;
}

std::vector<Item> InBlocks(std::span<const Item> items, DictionarySource* dictionaries) {
  std::vector<Item> out(items.begin(), items.end());
  std::array<Open, kContentKindCount> open;
  for (size_t i = 0; i < out.size(); ++i) {
    Item& item = out[i];
    if (item.key.level != Level::kContent || item.value.codec != Codec::kRaw) {
      continue;
    }
    const ContentKind kind = ContentKindOf(item.value.bytes);
    const uint64_t size = item.value.bytes.size();
    if (size > kMostInBlock) {
      PutAlone(item, CurrentOf(kind, dictionaries));
      continue;
    }
    Open& of_kind = open[static_cast<size_t>(kind)];
    if (of_kind.bytes + size > kBlockBytes) {
      Close(out, of_kind, CurrentOf(kind, dictionaries));
    }
    of_kind.items.push_back(i);
    of_kind.bytes += size;
  }
  for (uint32_t kind = 0; kind < kContentKindCount; ++kind) {
    Close(out, open[kind], CurrentOf(static_cast<ContentKind>(kind), dictionaries));
  }
  return out;
}

}  // namespace kiln::cache
