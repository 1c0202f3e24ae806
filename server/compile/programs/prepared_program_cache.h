// SPDX-License-Identifier: MIT
// Programs that were prepared a moment ago, so that a caller who asks for one variant after the
// other does not wait for the ids of the same program each time.
//
// Threads: safe from any thread.
#pragma once

#include <cstdint>
#include <list>
#include <memory>

#include "compiler/base/cache_usage.h"
#include "compiler/base/mutex.h"
#include "server/compile/request.h"

namespace kiln::compile {

struct PreparedProgram;

class PreparedProgramCache final : public CountedCache {
 public:
  static constexpr size_t kMaxPrograms = 64;

  // Holds programs whose images and texts have at most so many bytes.
  explicit PreparedProgramCache(uint64_t max_bytes) : max_bytes_(max_bytes) {}

  // What Keep got for an equal request; null: nothing. It is the latest now, if the call may write.
  std::shared_ptr<const PreparedProgram> Find(const ProgramRequest& request,
                                              const NamedTarget& target, const cache::Call& call);
  // The program used least lately makes room. Requires: `prepared` is what preparing gives at any
  // time, so nothing that was parsed just now.
  void Keep(const ProgramRequest& request, const NamedTarget& target,
            const std::shared_ptr<const PreparedProgram>& prepared);
  void Clear();
  CacheUsage Usage() override;

 private:
  struct Entry {
    ProgramRequest request;
    NamedTarget target;
    std::shared_ptr<const PreparedProgram> prepared;
    uint64_t bytes = 0;
  };

  const uint64_t max_bytes_;
  Mutex mutex_;
  std::list<Entry> entries_ KILN_GUARDED_BY(mutex_);  // latest first
  uint64_t bytes_ KILN_GUARDED_BY(mutex_) = 0;
  uint64_t hits_ KILN_GUARDED_BY(mutex_) = 0;
  uint64_t misses_ KILN_GUARDED_BY(mutex_) = 0;
};

}  // namespace kiln::compile
