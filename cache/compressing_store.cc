// SPDX-License-Identifier: MIT
// Compress on the way down, decompress on the way up.
#include "cache/compressing_store.h"

#include "cache/codec.h"

namespace kiln::cache {

Result<Blob> CompressingStore::Get(const Key& key, const Call& call) {
  KILN_TRY(Blob stored, below_.Get(key, call));
  Result<Blob> raw = Decompress(stored);
  if (!raw.ok()) {
    sink_.Report({.kind = DamageKind::kBlob,
                  .key = key,
                  .reason = raw.error().context,
                  .found = std::move(stored)});
    return Error{.code = ErrorCode::kNotFound, .context = KeyText(key) + " was damaged"};
  }
  return raw;
}

Result<Stored> CompressingStore::Put(std::span<const Item> items, Durability durability,
                                     const Call& call) {
  std::vector<Item> compressed(items.begin(), items.end());
  for (Item& item : compressed) {
    if (item.key.level == Level::kContent) {
      item.value = Compress(item.value);
    }
  }
  return below_.Put(compressed, durability, call);
}

Result<std::vector<Key>> CompressingStore::FindMissing(std::span<const Key> keys,
                                                       const Call& call) {
  return below_.FindMissing(keys, call);
}

void CompressingStore::Touch(std::span<const Key> keys) { below_.Touch(keys); }

}  // namespace kiln::cache
