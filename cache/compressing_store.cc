// SPDX-License-Identifier: MIT
// Compresses on the way down and decompresses on the way up.
#include "cache/compressing_store.h"

#include <optional>
#include <utility>
#include <vector>

#include "cache/codec.h"

namespace kiln::cache {

namespace {

std::vector<Item> Compressed(std::span<const Item> items, DictionarySource* dictionaries) {
  std::vector<Item> compressed(items.begin(), items.end());
  for (Item& item : compressed) {
    if (item.key.level != Level::kContent) {
      continue;
    }
    const DictionaryPtr dictionary =
        dictionaries == nullptr ? nullptr : dictionaries->Current(ContentKindOf(item.value.bytes));
    item.value = dictionary == nullptr ? Compress(item.value) : Compress(item.value, *dictionary);
  }
  return compressed;
}

}  // namespace

Result<Blob> CompressingStore::Decode(const Blob& stored) {
  if (stored.codec != Codec::kZstdDictionary) {
    return Decompress(stored);
  }
  const std::optional<uint32_t> number = DictionaryInFrame(stored.bytes);
  if (!number.has_value()) {
    return Error{.code = ErrorCode::kCorrupt, .context = "no frame with a dictionary"};
  }
  if (dictionaries_ == nullptr) {
    return Error{.code = ErrorCode::kUnavailable, .context = "this reader has no dictionaries"};
  }
  Result<DictionaryPtr> dictionary = dictionaries_->Find(*number);
  if (!dictionary.ok()) {
    Error error = std::move(dictionary).error();
    error.code = error.code == ErrorCode::kNotFound ? ErrorCode::kCorrupt : ErrorCode::kUnavailable;
    return error;
  }
  return Decompress(stored, dictionary->get());
}

Result<Blob> CompressingStore::Get(const Key& key, const Call& call) {
  KILN_TRY(Blob stored, below_.Get(key, call));
  Result<Blob> raw = Decode(stored);
  if (raw.ok()) {
    return raw;
  }
  if (raw.error().code == ErrorCode::kUnavailable) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = KeyText(key) + " cannot be decoded now: " + raw.error().context};
  }
  sink_.Report({.kind = DamageKind::kBlob,
                .key = key,
                .reason = raw.error().context,
                .found = std::move(stored)});
  return Error{.code = ErrorCode::kNotFound, .context = KeyText(key) + " was damaged"};
}

Result<PutResult> CompressingStore::Put(std::span<const Item> items, Durability durability,
                                        const Call& call) {
  Result<PutResult> stored = below_.Put(Compressed(items, dictionaries_), durability, call);
  if (!stored.ok() && stored.error().reason == kDictionaryGone) {
    return below_.Put(Compressed(items, nullptr), durability, call);
  }
  return stored;
}

Result<std::vector<Key>> CompressingStore::FindMissing(std::span<const Key> keys,
                                                       const Call& call) {
  return below_.FindMissing(keys, call);
}

void CompressingStore::Touch(std::span<const Key> keys) { below_.Touch(keys); }

}  // namespace kiln::cache
