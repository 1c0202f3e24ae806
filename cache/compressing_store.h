// SPDX-License-Identifier: MIT
// Adds compression of content to a store: zstd level 3, kept if it saves a tenth, with a dictionary
// where the store has trained one for that kind of content. Rows are small and pass as they are.
// See spec/cache 5.3.
#pragma once

#include "cache/dictionary.h"
#include "cache/store.h"

namespace kiln::cache {

// Threads: see BlobStore; no state of its own.
class CompressingStore final : public BlobStore {
 public:
  // What does not decompress goes to the sink; the caller sees a miss. Without dictionaries content
  // that needs one is a miss and no damage. Requires: below, sink and dictionaries outlive this; a
  // CheckedStore above checks ids.
  CompressingStore(BlobStore& below, DamageSink& sink, DictionarySource* dictionaries)
      : below_(below), sink_(sink), dictionaries_(dictionaries) {}

  Result<Blob> Get(const Key& key, const Call& call) override;
  Result<PutResult> Put(std::span<const Item> items, Durability durability,
                        const Call& call) override;
  Result<std::vector<Key>> FindMissing(std::span<const Key> keys, const Call& call) override;
  void Touch(std::span<const Key> keys) override;

 private:
  // Raw bytes. Errors: kCorrupt if it is damaged for ever; others if it cannot be read now.
  Result<Blob> Decode(const Blob& stored);

  BlobStore& below_;
  DamageSink& sink_;
  DictionarySource* const dictionaries_;  // may be null
};

}  // namespace kiln::cache
