// SPDX-License-Identifier: MIT
// Names, blobs and items: what every store shares.
#include "cache/store.h"

#include <algorithm>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/hash/checksum.h"
#include "compiler/base/threads/stop.h"

namespace kiln::cache {

// The names are in metrics, errors and JSON, and never change.
std::string_view LevelName(Level level) {
  switch (level) {
    case Level::kContent:
      return "content";
    case Level::kModule:
      return "module";
    case Level::kMask:
      return "mask";
    case Level::kSignature:
      return "signature";
    case Level::kRecipe:
      return "recipe";
    case Level::kAlias:
      return "alias";
  }
  KILN_UNREACHABLE();
}

std::string_view DamageKindName(DamageKind kind) {
  switch (kind) {
    case DamageKind::kBlob:
      return "blob";
    case DamageKind::kRecord:
      return "record";
    case DamageKind::kAlias:
      return "alias";
    case DamageKind::kDangling:
      return "dangling";
    case DamageKind::kDatabase:
      return "database";
    case DamageKind::kIo:
      return "io";
    case DamageKind::kUnfit:
      return "unfit";
  }
  KILN_UNREACHABLE();
}

std::string KeyText(const Key& key) {
  std::string text(LevelName(key.level));
  return text + "/" + std::to_string(key.space) + "/" + key.id.hex();
}

// The view is taken before the owner moves on: moving a shared pointer leaves the bytes where they
// are.
Blob OwnedBlob(Bytes bytes) {
  auto owner = std::make_shared<const Bytes>(std::move(bytes));
  const ByteView view = *owner;
  return {.bytes = view, .owner = std::move(owner), .raw_size = view.size()};
}

Blob CopiedBlob(ByteView bytes) {
  // One allocation: this is on the path of every hit.
  auto owner = std::make_shared_for_overwrite<std::byte[]>(bytes.size());
  InParts(bytes.size(), [&](size_t offset, size_t size) {
    std::ranges::copy(bytes.subspan(offset, size), owner.get() + offset);
  });
  const ByteView view(owner.get(), bytes.size());
  return {.bytes = view, .owner = std::move(owner), .raw_size = view.size()};
}

Hash128 RowSum(const Key& key, ByteView value) {
  Bytes bytes;
  // Space, level and id are part of the sum, so a right value under a wrong key is found like a
  // wrong value.
  bytes.reserve(24 + value.size());
  AppendLittle<uint32_t>(bytes, key.space);
  AppendLittle<uint32_t>(bytes, static_cast<uint32_t>(key.level));
  Append(bytes, std::as_bytes(std::span(key.id.bytes)));
  Append(bytes, value);
  return Checksum(bytes);
}

Hash128 ContentSum(const Hash128& id, ByteView raw) {
  Hash128 sum = Checksum(raw);
  // The id is mixed in by exclusive or: the sum over many bytes is computed without copying them
  // behind an id, and content under another id does not fit.
  for (size_t i = 0; i < sum.bytes.size(); ++i) {
    sum.bytes[i] ^= id.bytes[i];
  }
  return sum;
}

Item ContentItem(Blob value) {
  const Digest digest = DigestOf(value.bytes);
  return ContentItem(digest, std::move(value));
}

Item ContentItem(const Digest& digest, Blob value) {
  // Sums are over raw bytes, so content is compressed behind this and not before.
  KILN_CHECK(value.codec == Codec::kRaw && value.bytes.size() == digest.size);
  value.sum = ContentSum(digest.id, value.bytes);
  return {.key = ContentKey(digest), .value = std::move(value), .refs = {}};
}

Item RowItem(const Key& key, Bytes value, std::vector<Hash128> refs) {
  KILN_CHECK(key.level != Level::kContent);
  Blob blob = OwnedBlob(std::move(value));
  blob.sum = RowSum(key, blob.bytes);
  return {.key = key, .value = std::move(blob), .refs = std::move(refs)};
}

}  // namespace kiln::cache
