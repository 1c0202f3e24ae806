// SPDX-License-Identifier: MIT
// Decompressed blocks, the last used ones, bounded in bytes.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>

#include "compiler/base/bytes.h"
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
  struct Kept {
    uint32_t block = 0;
    std::shared_ptr<const Bytes> raw;
  };

  const uint64_t most_bytes_;
  Mutex mutex_;
  std::list<Kept> kept_ KILN_GUARDED_BY(mutex_);  // last used first
  std::unordered_map<uint32_t, std::list<Kept>::iterator> places_ KILN_GUARDED_BY(mutex_);
  uint64_t bytes_ KILN_GUARDED_BY(mutex_) = 0;
};

}  // namespace kiln::pack
