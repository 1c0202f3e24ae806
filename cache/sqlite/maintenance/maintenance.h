// SPDX-License-Identifier: MIT
// Maintenance of a SqliteStore while it is used: one face over repair.h, statistics.h, each_row.h
// and requested_collection.h. See spec/cache 9
#pragma once

#include "cache/maintenance.h"
#include "cache/sqlite/sqlite_store.h"

namespace kiln::cache::sqlite {

// Threads: see Maintenance; no state of its own.
class StoreMaintenance final : public Maintenance {
 public:
  // Requires: store and clock outlive this.
  StoreMaintenance(SqliteStore& store, Clock& clock) : store_(store), clock_(clock) {}

  Result<StoreStats> Stats() override;
  Result<VerifyReport> Verify(const VerifyOptions& options) override;
  Result<RepairReport> Repair(const std::stop_token& stop) override;
  Result<GcReport> Gc(const GcOptions& options) override;
  Result<std::vector<QuarantineEntry>> ListQuarantine(int64_t before, uint32_t limit) override;
  Result<void> EachRow(
      const RowFilter& filter,
      const std::function<Result<void>(const Key& key, ByteView value)>& each) override;

 private:
  SqliteStore& store_;
  Clock& clock_;
};

// Verify of a directory whose store is not open: also says what keeps it from being opened.
// Changes nothing. Errors: kNotFound if there is no database; kCancelled.
Result<VerifyReport> VerifyDirectory(const std::filesystem::path& dir, Clock& clock,
                                     const VerifyOptions& options);

}  // namespace kiln::cache::sqlite
