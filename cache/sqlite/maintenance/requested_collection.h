// SPDX-License-Identifier: MIT
// Collection that somebody asks for (`kiln cache gc`): to a size, by age, of failures; or what it
// would remove. The collector that keeps a store within its limit is in collector.h. See
// spec/cache 8, 9
#pragma once

#include <cstdint>

#include "cache/maintenance.h"
#include "cache/sqlite/sqlite_store.h"
#include "compiler/base/clock.h"

namespace kiln::cache::sqlite {

// Threads: one.
class RequestedCollection {
 public:
  // Requires: all outlive the collection.
  RequestedCollection(SqliteStore& store, Clock& clock, const GcOptions& options)
      : store_(store), clock_(clock), options_(options) {}

  // Errors: as Maintenance::Gc.
  Result<GcReport> Run();

 private:
  // To the size, and until no page is to be given back, as far as that was asked for.
  Result<void> Shrink(GcReport& report);
  Result<void> CollectTo(uint64_t bytes);
  Result<void> DropMatching(GcReport& report);
  Result<void> ExplainRest(GcReport& report);
  void KeepersOfContent(int64_t now_s, GcReport& report);
  Result<void> KeepersByUse(Connection& connection, int64_t now_s, GcReport& report);
  Result<void> Simulate(GcReport& report);

  SqliteStore& store_;
  Clock& clock_;
  const GcOptions& options_;
};

}  // namespace kiln::cache::sqlite
