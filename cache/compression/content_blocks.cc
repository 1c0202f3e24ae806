// SPDX-License-Identifier: MIT
// One walk over the items: content of a kind is collected until a block is full. A block takes its
// contents in the order of the items, which is the order in which they were built: neighbours
// differ in one option. Costs what compressing does, and a copy of the raw bytes.
#include "cache/compression/content_blocks.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "cache/compression/codec.h"
#include "compiler/base/threads/stop.h"

namespace kiln::cache {
namespace {

// Of a block that are compressed to see whether its modules repeat each other, and what they have
// to come to.
constexpr size_t kProbedBytes = size_t{48} << 10;
constexpr size_t kRepetitive = 8;

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
  // A block of one would cost the rows of a block and save nothing.
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
  ContentBlock made = BlockOf(contents, dictionary.get());
  if (made.stored.codec == Codec::kRaw) {
    return;
  }
  const auto block = std::make_shared<const Blob>(std::move(made.stored));
  for (size_t i = 0; i < closed.items.size(); ++i) {
    // All items of a block point to the same bytes, which the store writes once, each with its own
    // place.
    items[closed.items[i]].block = block;
    items[closed.items[i]].at = made.places[i];
  }
}

// An empty buffer for the raw bytes of one block, kept by each thread: memory of that size goes
// back to the system when it is freed, and its pages would be made anew for every block. Valid
// until the next call of the thread.
Bytes& RawOfThread() {
  thread_local Bytes kept;
  // A content that is put alone may be larger than any block, and its room is not kept.
  if (kept.capacity() > kMostBlockBytes) {
    kept = Bytes();
  }
  kept.clear();
  return kept;
}

// The contents one behind the other, as far as there are `most` bytes.
const Bytes& Joined(std::span<const ByteView> contents, size_t most) {
  Bytes& raw = RawOfThread();
  for (const ByteView content : contents) {
    Append(raw, content.first(std::min(content.size(), most - raw.size())));
  }
  return raw;
}

// `raw`, which is kept by the thread, compressed. What would not become smaller is copied.
Blob StoredForm(const Bytes& raw, const Dictionary* dictionary) {
  const Blob whole{.bytes = raw, .raw_size = raw.size()};
  const Blob stored = dictionary == nullptr ? Compress(whole) : Compress(whole, *dictionary);
  return stored.codec == Codec::kRaw ? CopiedBlob(raw) : stored;
}

// Whether the modules do not repeat each other as they are: told by the first of them.
bool IdsAreInTheWay(std::span<const ByteView> contents) {
  const Bytes& first = Joined(contents, kProbedBytes);
  // Modules of one build repeat each other almost wholly; then plain compression is as small and
  // quicker to read. Renaming ids pays where one more constant has shifted all later ids.
  const Blob probe{.bytes = first, .raw_size = first.size()};
  return Compress(probe).bytes.size() > first.size() / kRepetitive;
}

// Nothing if most contents are no modules with ids in the usual order.
std::optional<ContentBlock> WithSymbols(std::span<const ByteView> contents) {
  SymbolWriter symbols{SymbolTable()};
  for (const ByteView content : contents) {
    // The table of all contents comes first, as every module refers into it.
    (void)symbols.Add(content);
  }
  ContentBlock block;
  const Bytes table = symbols.Table();
  if (table.empty()) {
    return std::nullopt;
  }
  Bytes& raw = RawOfThread();
  Append(raw, table);
  size_t encoded = 0;
  for (size_t i = 0; i < contents.size(); ++i) {
    const ByteView content = contents[i];
    const std::optional<Bytes> module = symbols.Encode(content, i);
    raw.resize((raw.size() + 3) & ~size_t{3});  // words are read where they lie
    // The complement marks a module that has to be decoded; a place is far below 2^63, so the two
    // never meet.
    block.places.push_back(module.has_value() ? ~uint64_t{raw.size()} : uint64_t{raw.size()});
    if (module.has_value()) {
      AppendLittle(raw, static_cast<uint32_t>(module->size()));
    }
    Append(raw, module.has_value() ? ByteView(*module) : content);
    encoded += module.has_value() ? 1 : 0;
  }
  if (encoded * 2 < contents.size() || raw.size() > kMostBlockBytes) {
    return std::nullopt;
  }
  block.stored = StoredForm(raw, nullptr);
  if (block.stored.codec == Codec::kRaw) {
    return std::nullopt;
  }
  block.stored.sum = HashBytes(block.stored.bytes);
  return block;
}

}  // namespace

ContentBlock BlockOf(std::span<const ByteView> contents, const Dictionary* dictionary) {
  if (!contents.empty() && ContentKindOf(contents.front()) == ContentKind::kCode &&
      IdsAreInTheWay(contents)) {
    if (std::optional<ContentBlock> block = WithSymbols(contents); block.has_value()) {
      return *std::move(block);
    }
  }
  ContentBlock block;
  uint64_t at = 0;
  for (const ByteView content : contents) {
    block.places.push_back(at);
    at += content.size();
  }
  block.stored = StoredForm(Joined(contents, at), dictionary);
  block.stored.sum = HashBytes(block.stored.bytes);
  return block;
}

std::optional<Blob> ContentIn(ByteView raw, const SymbolTable* symbols, uint64_t place,
                              uint64_t size) {
  // Place and size come from a row of the store and may be anything, so both are checked without
  // overflow.
  const auto slice = [&](uint64_t at, uint64_t bytes) {
    return at <= raw.size() && bytes <= raw.size() - at ? std::optional(raw.subspan(at, bytes))
                                                        : std::nullopt;
  };
  if (!IsPlaceOfModule(place)) {
    const std::optional<ByteView> content = slice(place, size);
    return content.has_value() ? std::optional(CopiedBlob(*content)) : std::nullopt;
  }
  const uint64_t at = ~place;
  const std::optional<ByteView> head = slice(at, sizeof(uint32_t));
  if (symbols == nullptr || !head.has_value() || size > kMostInBlock) {
    return std::nullopt;
  }
  const std::optional<ByteView> encoded = slice(at + sizeof(uint32_t), ReadLittle<uint32_t>(*head));
  // Not filled with zeros first: what decodes fills all of it.
  auto owner = std::make_shared_for_overwrite<std::byte[]>(size);
  const std::span<std::byte> module(owner.get(), size);
  return encoded.has_value() && DecodeModule(*encoded, *symbols, module)
             ? std::optional(Blob{.bytes = module, .owner = std::move(owner), .raw_size = size})
             : std::nullopt;
}

std::vector<Item> InBlocks(std::span<const Item> items, DictionarySource* dictionaries) {
  std::vector<Item> out(items.begin(), items.end());
  // Kinds do not mix: code, images, texts and data have nothing in common that a compressor could
  // use.
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
