// SPDX-License-Identifier: MIT
// Adds compression of content to a store: zstd level 3, kept if it saves a tenth, with a dictionary
// where the store has trained one for that kind of content; similar content in blocks
// (content_blocks.h), for which content of relaxed puts waits (gathered_content.h). Rows are small
// and pass as they are. Compressing is done by whoever puts. See spec/cache 5.3.
#pragma once

#include <atomic>

#include "cache/compression/dictionary.h"
#include "cache/decorators/gathered_content.h"
#include "cache/store.h"

namespace kiln::cache {

// Threads: see BlobStore.
class CompressingStore final : public BlobStore, public ContentGatherer {
 public:
  // What does not decompress goes to the sink; the caller sees a miss. Without dictionaries content
  // that needs one is a miss and no damage. Requires: below, sink and dictionaries outlive this; a
  // CheckedStore above checks ids.
  CompressingStore(BlobStore& below, DamageSink& sink, DictionarySource* dictionaries)
      : below_(below), sink_(sink), dictionaries_(dictionaries) {
    if (dictionaries_ != nullptr) {
      dictionaries_->SetGatherer(this);
    }
  }
  // What waits is put.
  ~CompressingStore() override;

  Result<Blob> Get(const Key& key, const Call& call) override;
  Result<PutResult> Put(std::span<const Item> items, Durability durability,
                        const Call& call) override;
  Result<std::vector<Key>> FindMissing(std::span<const Key> keys, const Call& call) override;
  void Touch(std::span<const Key> keys) override;

  void PutGathered() override;

 private:
  // Raw bytes. Errors: kCorrupt if it is damaged for ever; others if it cannot be read now.
  Result<Blob> Decode(const Blob& stored);
  // Whether these items may wait.
  bool MayWait(std::span<const Item> items, Durability durability) const;
  Result<void> PutGroup(GatheredContent::Group& group, const Call& call);
  // Content first, with the rows that name it.
  Result<PutResult> PutNow(std::span<const Item> items, Durability durability, const Call& call);

  BlobStore& below_;
  DamageSink& sink_;
  DictionarySource* const dictionaries_;  // may be null
  GatheredContent gathered_;
  // Whether the store below took the last put: else each is tried at once, so that who puts hears
  // of it.
  std::atomic<bool> takes_{false};
};

}  // namespace kiln::cache
