// SPDX-License-Identifier: MIT
// The store first, memory second, else a refusal: never an answer that content is stored which the
// next one who sends something pushes out.
#include "cache/decorators/upload_store.h"

#include <optional>
#include <string>
#include <utility>

#include "cache/leases/actor.h"

namespace kiln::cache {
namespace {

// The content is right, but the store below cannot take anything at present.
bool IsUnavailable(const Error& error) {
  return error.code == ErrorCode::kFull || error.code == ErrorCode::kBusy ||
         error.reason == kReadOnly;
}

}  // namespace

Result<uint64_t> UploadStore::Upload(std::string_view owner, std::span<const Item> contents,
                                     Place place, const Call& call) {
  std::vector<Key> keys;
  keys.reserve(contents.size());
  for (const Item& item : contents) {
    keys.push_back(item.key);
  }
  KILN_TRY(const std::vector<Key> missing, FindMissing(keys, call));
  // What is there is put as well: then its grace begins anew.
  Result<void> kept = room_ == nullptr ? Hold(owner, contents) : Store(owner, contents, call);
  if (!kept.ok() && place == Place::kMemoryToo && room_ != nullptr && IsUnavailable(kept.error())) {
    kept = Hold(owner, contents);
  }
  // Nothing has come that must be kept.
  if (!kept.ok() && !(missing.empty() && IsUnavailable(kept.error()))) {
    return std::move(kept).error();
  }
  return uint64_t{missing.size()};
}

Result<void> UploadStore::Store(std::string_view owner, std::span<const Item> contents,
                                const Call& call) {
  KILN_TRY(const std::vector<Hash128> counted, room_->Admit(owner, contents, call));
  const Result<PutResult> stored = below_.Put(contents, Durability::kDurable, call);
  if (!stored.ok()) {
    room_->Forget(counted);
    return stored.error();
  }
  return {};
}

// All of them or none: they were acknowledged together or not at all.
Result<void> UploadStore::Hold(std::string_view owner, std::span<const Item> contents) {
  const int64_t now_s = std::chrono::duration_cast<std::chrono::seconds>(clock_.UnixTime()).count();
  std::vector<Hash128> added;
  const MutexLock lock(mutex_);
  for (const Item& item : contents) {
    if (sent_.Add(owner, item.key.id, item.value.bytes.size(), now_s)) {
      held_.emplace(item.key.id, item.value);
      added.push_back(item.key.id);
    }
  }
  holds_any_ = true;
  while (!sent_.Fits(owner)) {
    const std::optional<Hash128> next = sent_.NextToGo(owner, now_s);
    if (next.has_value()) {
      Drop(*next);
      continue;
    }
    const uint64_t would_have = sent_.Of(owner);
    for (const Hash128& id : added) {
      Drop(id);
    }
    return Error{.code = ErrorCode::kFull,
                 .context = "the cache takes nothing for now, and " +
                            std::string(OwnerName(owner)) + " would have " +
                            std::to_string(would_have) + " bytes of sources held in memory; " +
                            std::to_string(sent_.MostOfOne()) + " are allowed to one, " +
                            std::to_string(sent_.most()) + " to all",
                 .reason = "CACHE_FULL"};
  }
  return {};
}

void UploadStore::Drop(const Hash128& id) {
  sent_.Forget(id);
  held_.erase(id);
}

std::optional<Blob> UploadStore::Held(const Key& key) const {
  if (key.level != Level::kContent || !holds_any_) {
    return std::nullopt;
  }
  const MutexLock lock(mutex_);
  const auto found = held_.find(key.id);
  const bool is_it = found != held_.end() && HasSize(key, found->second.raw_size);
  return is_it ? std::optional(found->second) : std::nullopt;
}

Result<Blob> UploadStore::Get(const Key& key, const Call& call) {
  std::optional<Blob> held = Held(key);
  return held.has_value() ? Result<Blob>(*std::move(held)) : below_.Get(key, call);
}

Result<std::vector<Key>> UploadStore::FindMissing(std::span<const Key> keys, const Call& call) {
  KILN_TRY(std::vector<Key> missing, below_.FindMissing(keys, call));
  std::erase_if(missing, [this](const Key& key) { return Held(key).has_value(); });
  return missing;
}

CacheUsage UploadStore::Usage() {
  const MutexLock lock(mutex_);
  uint64_t bytes = 0;
  for (const SentContent::Share& share : sent_.Shares()) {
    bytes += share.bytes;
  }
  return {.name = "uploads that the store did not take",
          .bytes = bytes,
          .max_bytes = sent_.most(),
          .entries = held_.size(),
          .hits = 0,
          .misses = 0};
}

}  // namespace kiln::cache
