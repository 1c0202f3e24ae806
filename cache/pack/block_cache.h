// SPDX-License-Identifier: MIT
// Decompressed blocks, the last used ones, bounded in bytes.
#pragma once

#include <cstdint>
#include <memory>

#include "compiler/base/bytes.h"
#include "compiler/base/lru_map.h"
#include "compiler/base/mutex.h"

namespace kiln::pack {

// Threads: safe from any thread.
class BlockCache {
 public:
  explicit BlockCache(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // Null if it is not there.
  std::shared_ptr<const Bytes> Find(uint32_t block);
  // The newest stays even if it is larger than all may be.
  void Add(uint32_t block, std::shared_ptr<const Bytes> raw);

 private:
  const uint64_t most_bytes_;
  Mutex mutex_;
  LruMap<uint32_t, std::shared_ptr<const Bytes>> blocks_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::pack
