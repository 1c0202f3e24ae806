// SPDX-License-Identifier: MIT
// The commands of spec/cache 9 over a store that is open, and over a folder whose owner may be at
// work.
#include "cache/sqlite/maintenance/maintenance.h"

#include <memory>
#include <string>
#include <system_error>

#include "cache/sqlite/maintenance/requested_collection.h"
#include "cache/sqlite/repair/repair.h"
#include "cache/sqlite/tables/each_row.h"
#include "cache/sqlite/tables/statistics.h"

namespace kiln::cache::sqlite {

Result<StoreStats> StoreMaintenance::Stats() { return StatisticsOf(store_, clock_); }

Result<VerifyReport> StoreMaintenance::Verify(const VerifyOptions& options) {
  return VerifyStore(store_, options);
}

Result<RepairReport> StoreMaintenance::Repair(const std::stop_token& stop) {
  return RepairStore(store_, stop);
}

Result<GcReport> StoreMaintenance::Gc(const GcOptions& options) {
  return RequestedCollection(store_, clock_, options).Run();
}

Result<void> StoreMaintenance::EachRow(
    const RowFilter& filter,
    const std::function<Result<void>(const Key& key, ByteView value)>& each) {
  return sqlite::EachRow(store_, filter, each);
}

// The newest first; a page ends with the number that the next one begins below.
Result<std::vector<QuarantineEntry>> StoreMaintenance::ListQuarantine(int64_t before,
                                                                      uint32_t limit) {
  KILN_TRY(ReaderPool::Loan reader, store_.Read({}));
  KILN_TRY(Statement statement,
           reader.connection().Prepare("SELECT qid, at_s, what, id, reason FROM quarantine"
                                       " WHERE qid<?1 OR ?1=0 ORDER BY qid DESC LIMIT ?2"));
  Query query(statement);
  // Zero is before all of them, since the newest come first.
  query.Bind(before).Bind(int64_t{limit});
  std::vector<QuarantineEntry> found;
  KILN_TRY([[maybe_unused]] const int64_t rows, query.EachRow([&](const Query& row) {
    found.push_back({.number = row.Int(0),
                     .at_s = row.Int(1),
                     .what = std::string(row.Text(2)),
                     .id = row.Id(3).value_or(Hash128{}),
                     .reason = std::string(row.Text(4))});
  }));
  return found;
}

// Read-only: it never repairs, and an owner may go on writing meanwhile.
Result<VerifyReport> VerifyDirectory(const std::filesystem::path& dir, Clock& clock,
                                     const VerifyOptions& options) {
  std::error_code error;
  if (!std::filesystem::exists(dir / "cache.db", error)) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = "there is no cache in " + dir.string(),
                 .reason = {}};
  }
  NullLog log;
  Result<std::unique_ptr<SqliteStore>> store =
      SqliteStore::Open({.dir = dir, .read_only = true}, clock, log);
  // Without the lock of an owner: a cache may be looked at while a daemon works with it.
  if (store.ok()) {
    return StoreMaintenance(**store, clock).Verify(options);
  }
  // Anything else, such as a folder without rights, says nothing about the file.
  const bool damaged = store.error().code == ErrorCode::kCorrupt;
  if (!damaged) {
    return store.error();
  }
  // Another kiln's file is no damage to itself, but it is no cache of this one.
  Result<Connection> found = Connection::Open((dir / "cache.db").string(), OpenMode::kReadOnly);
  const bool database = found.ok() && found->QueryInt("PRAGMA user_version").ok();
  VerifyReport report;
  report.fault_count = 1;
  report.faults.push_back({.kind = database ? FaultKind::kSchema : FaultKind::kDatabase,
                           .detail = store.error().context});
  return report;
}

}  // namespace kiln::cache::sqlite
