// SPDX-License-Identifier: MIT
// Compresses on the way down and decompresses on the way up.
#include "cache/decorators/compressing_store.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "cache/compression/codec.h"
#include "cache/compression/content_blocks.h"
#include "compiler/base/threads/thread.h"

namespace kiln::cache {

CompressingStore::~CompressingStore() {
  if (dictionaries_ != nullptr) {
    // Training calls back into this object; it must not any more.
    dictionaries_->SetGatherer(nullptr);
  }
  (void)CatchAll([&] { PutGathered(); });  // what is lost was promised to nobody
}

Result<Blob> CompressingStore::Decode(const Blob& stored) {
  if (stored.codec != Codec::kZstdDictionary) {
    return Decompress(stored);
  }
  // The frame names its dictionary itself, so rows need no column for it, and dictionaries can be
  // replaced while old frames are still there.
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
    // A dictionary that does not exist means a damaged frame. One that cannot be read now, because
    // the store is busy, says nothing about the frame.
    error.code = error.code == ErrorCode::kNotFound ? ErrorCode::kCorrupt : ErrorCode::kUnavailable;
    return error;
  }
  return Decompress(stored, dictionary->get());
}

Result<Blob> CompressingStore::Get(const Key& key, const Call& call) {
  if (key.level == Level::kContent) {
    // Content that waits for its block is there for whoever asks.
    const std::optional<Blob> waiting = gathered_.Find(key.id);
    if (waiting.has_value() && HasSize(key, waiting->raw_size)) {
      return *waiting;
    }
  }
  KILN_TRY(Blob stored, below_.Get(key, call));
  Result<Blob> raw = Decode(stored);
  if (raw.ok()) {
    return raw;
  }
  // A miss without a report: the row is not damaged.
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

// Rows wait for nothing, and whoever wants durability or an answer about content neither.
bool CompressingStore::MayWait(std::span<const Item> items, Durability durability) const {
  return durability == Durability::kRelaxed && takes_.load(std::memory_order_relaxed) &&
         std::ranges::all_of(items, [](const Item& item) {
           return item.key.level == Level::kContent && item.value.codec == Codec::kRaw;
         });
}

Result<PutResult> CompressingStore::PutNow(std::span<const Item> items, Durability durability,
                                           const Call& call) {
  Result<PutResult> stored = below_.Put(InBlocks(items, dictionaries_), durability, call);
  // The dictionary was removed between compressing and writing. Without one the frames depend on
  // nothing.
  if (!stored.ok() && stored.error().reason == kDictionaryGone) {
    stored = below_.Put(InBlocks(items, nullptr), durability, call);
  }
  // The flag tells whether the store takes writes at present; only while it does may content wait,
  // since its caller is answered before it is stored.
  if (stored.ok() != takes_.load(std::memory_order_relaxed)) {
    takes_ = stored.ok();
  }
  return stored;
}

// The caller may leave, or have no time: that is no fault of the contents, most of which others
// have put, and who wait for somebody else then.
Result<void> CompressingStore::PutGroup(GatheredContent::Group& group, const Call& call) {
  const Result<PutResult> stored = PutNow(group.items(), Durability::kRelaxed, call);
  if (stored.ok()) {
    group.Done();
    return {};
  }
  if (stored.error().code != ErrorCode::kCancelled && stored.error().code != ErrorCode::kBusy) {
    group.Done();
  }
  return stored.error();
}

// What waits is put before the rows that name it; if the store refuses it, it refuses the rows.
Result<PutResult> CompressingStore::Put(std::span<const Item> items, Durability durability,
                                        const Call& call) {
  if (MayWait(items, durability)) {
    // The caller whose content filled a block puts it, and waits for that. So nobody adds faster
    // than the store takes.
    for (GatheredContent::Group& full : gathered_.Add(items)) {
      KILN_TRY_VOID(PutGroup(full, call));
    }
    return PutResult{};
  }
  for (GatheredContent::Group& named : gathered_.TakeWith(items)) {
    static_cast<void>(PutGroup(named, call));
  }
  return PutNow(items, durability, call);
}

void CompressingStore::PutGathered() {
  for (GatheredContent::Group& group : gathered_.TakeAll()) {
    static_cast<void>(PutGroup(group, {}));
  }
}

Result<std::vector<Key>> CompressingStore::FindMissing(std::span<const Key> keys,
                                                       const Call& call) {
  // Only what does not wait here is asked for: it will be put before any row that names it.
  std::vector<Key> asked;
  for (const Key& key : keys) {
    const std::optional<Blob> waiting =
        key.level == Level::kContent ? gathered_.Find(key.id) : std::nullopt;
    if (!waiting.has_value() || !HasSize(key, waiting->raw_size)) {
      asked.push_back(key);
    }
  }
  return below_.FindMissing(asked, call);
}

void CompressingStore::Touch(std::span<const Key> keys) { below_.Touch(keys); }

}  // namespace kiln::cache
