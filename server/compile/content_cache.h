// SPDX-License-Identifier: MIT
// Content that the store is known to hold for now, so that it need not be written, sent and
// compressed again only to be found there. What was put or reported present is leased for ten
// minutes (spec/cache 8.4); after half of that the store is asked again.
//
// Threads: all functions may run concurrently.
#pragma once

#include <chrono>

#include "compiler/base/bounded_cache.h"
#include "compiler/base/clock.h"
#include "compiler/base/digest.h"

namespace kiln::compile {

class ContentCache {
 public:
  // The clock must outlive the object.
  explicit ContentCache(Clock& clock) : clock_(clock) {}

  void Add(const Hash128& id);
  bool Has(const Hash128& id);
  // The store lost something, or did not take it.
  void Clear() { until_.Clear(); }
  CountedCache& cache() { return until_; }

 private:
  static constexpr Duration kTrusted = std::chrono::minutes(5);
  static constexpr size_t kMaxRows = 1'000'000;

  Clock& clock_;
  using Known = BoundedCache<Hash128, Duration, Hash128Hash>;
  Known until_{"known contents", {.entries = kMaxRows}};
};

}  // namespace kiln::compile
