// SPDX-License-Identifier: MIT
// How content and rows are verified.
#include "cache/decorators/checked_store.h"

namespace kiln::cache {
namespace {

DamageKind KindOf(Level level) {
  return level == Level::kContent ? DamageKind::kBlob
         : level == Level::kAlias ? DamageKind::kAlias
                                  : DamageKind::kRecord;
}

}  // namespace

std::optional<std::string> FindMismatch(const Key& key, const Blob& blob) {
  // Above this store nothing is compressed. A blob that is, or that has another size than it says,
  // was not read right.
  if (blob.codec != Codec::kRaw || blob.raw_size != blob.bytes.size()) {
    return "size differs";
  }
  if (key.level == Level::kContent) {
    return ContentSum(key.id, blob.bytes) == blob.sum ? std::nullopt : std::optional("sum differs");
  }
  return RowSum(key, blob.bytes) == blob.sum ? std::nullopt : std::optional("sum differs");
}

Result<Blob> CheckedStore::Get(const Key& key, const Call& call) {
  KILN_TRY(Blob blob, below_.Get(key, call));
  // Damage is a miss (spec/cache 1.3), and the report puts the row into quarantine, so the next
  // request makes it anew.
  if (const std::optional<std::string> mismatch = FindMismatch(key, blob)) {
    sink_.Report(
        {.kind = KindOf(key.level), .key = key, .reason = *mismatch, .found = std::move(blob)});
    return Error{.code = ErrorCode::kNotFound, .context = KeyText(key) + " was damaged"};
  }
  return blob;
}

Result<PutResult> CheckedStore::Put(std::span<const Item> items, Durability durability,
                                    const Call& call) {
  if (!call.may_write) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = "whoever asks may not write",
                 .reason = std::string(kReadOnly)};
  }
  // Sums are compared on the way down as well: bytes that were damaged in memory must not be stored
  // under a right name.
  for (const Item& item : items) {
    if (const std::optional<std::string> mismatch = FindMismatch(item.key, item.value)) {
      return Error{.code = ErrorCode::kInvalidArgument,
                   .context = KeyText(item.key) + ": " + *mismatch};
    }
  }
  return below_.Put(items, durability, call);
}

Result<std::vector<Key>> CheckedStore::FindMissing(std::span<const Key> keys, const Call& call) {
  return below_.FindMissing(keys, call);
}

void CheckedStore::Touch(std::span<const Key> keys) { below_.Touch(keys); }

}  // namespace kiln::cache
