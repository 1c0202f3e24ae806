// SPDX-License-Identifier: MIT
// Programs as their macros chose them: of one prepared program, those of the lists of defines that
// were asked for, the most recently used first.
//
// Threads: safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/cache_usage.h"
#include "compiler/base/lru_map.h"
#include "compiler/base/mutex.h"
#include "server/compile/request.h"

namespace kiln::compile {

struct PreparedProgram;

class ChosenProgramCache final : public CountedCache {
 public:
  static constexpr size_t kMaxPrograms = 65'536;

  explicit ChosenProgramCache(uint64_t max_bytes) : max_bytes_(max_bytes) {}

  // `of`: the number of the prepared program. Null: nothing. It is the latest now, if the call may
  // write.
  std::shared_ptr<const PreparedProgram> Find(uint64_t of,
                                              const std::vector<hlsl::MacroChoice>& choices,
                                              const cache::Call& call);
  // What was used least lately makes room.
  void Keep(uint64_t of, const std::vector<hlsl::MacroChoice>& choices,
            std::shared_ptr<const PreparedProgram> chosen);
  void Clear();
  CacheUsage Usage() override;

 private:
  const uint64_t max_bytes_;
  Mutex mutex_;
  LruMap<std::string, std::shared_ptr<const PreparedProgram>> chosen_ KILN_GUARDED_BY(mutex_);
  uint64_t hits_ KILN_GUARDED_BY(mutex_) = 0;
  uint64_t misses_ KILN_GUARDED_BY(mutex_) = 0;
};

}  // namespace kiln::compile
