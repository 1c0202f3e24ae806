// SPDX-License-Identifier: MIT
// Content and records page by page, so that no reader keeps the WAL from being shortened for as
// long as a large store takes; what comes and goes meanwhile may be counted or not. The other
// tables are small.
#include "cache/sqlite/tables/statistics.h"

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

#include "cache/sqlite/database.h"
#include "cache/sqlite/tables/table_pages.h"

namespace kiln::cache::sqlite {
namespace {

constexpr int64_t kPageRows = 1000;
constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();

uint64_t FileBytes(const std::filesystem::path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  return error ? 0 : size;
}

Result<void> CountBlobs(Connection& connection, StoreStats& stats) {
  KILN_TRY(Statement statement,
           connection.Prepare("SELECT rid, raw_size, length(data),"
                              " EXISTS (SELECT 1 FROM ref WHERE ref.rid=blob.rid)"
                              " FROM blob WHERE rid>?1 ORDER BY rid LIMIT ?2"));
  LevelStats& content = stats.levels[static_cast<size_t>(Level::kContent)];
  int64_t rid = kFirst;
  const auto bind = [&](Query& query) { query.Bind(rid).Bind(kPageRows); };
  return EachPage(statement, {}, bind, [&](const Query& row) {
    rid = row.Int(0);
    ++content.rows;
    stats.raw_bytes += static_cast<uint64_t>(row.Int(1));
    content.bytes += static_cast<uint64_t>(row.Int(2));
    stats.orphans += row.Int(3) == 0 ? 1 : 0;
  });
}

// What contents have together. Their share of it is not told apart.
Result<void> CountBlocks(Connection& connection, StoreStats& stats) {
  KILN_TRY(Statement statement,
           connection.Prepare("SELECT bid, length(data) FROM block WHERE bid>?1"
                              " ORDER BY bid LIMIT ?2"));
  int64_t number = kFirst;
  const auto bind = [&](Query& query) { query.Bind(number).Bind(kPageRows); };
  return EachPage(statement, {}, bind, [&](const Query& row) {
    number = row.Int(0);
    stats.levels[static_cast<size_t>(Level::kContent)].bytes += static_cast<uint64_t>(row.Int(1));
  });
}

// Adds a record; `code` gets the content that is code. A row that does not decode is counted with
// its bytes and has no kind.
void CountRecord(Level level, ByteView value, StoreStats& stats,
                 std::unordered_set<Hash128, Hash128Hash>& code) {
  LevelStats& of_level = stats.levels[static_cast<size_t>(level)];
  ++of_level.rows;
  of_level.bytes += value.size();
  const Result<RowSummary> summary = SummarizeRow(level, value);
  if (!summary.ok()) {
    return;
  }
  of_level.kinds[static_cast<size_t>(summary->kind)] += level == Level::kMask ? 0 : 1;
  stats.cost_us += summary->cost_us;
  for (const Product& product : summary->products) {
    if (product.name == "code" || product.name.starts_with("code.")) {
      code.insert(product.digest.id);
    }
  }
}

Result<void> FillCounts(ReaderPool::Loan& reader, StoreStats& stats) {
  KILN_TRY(Statement statement,
           reader.connection().Prepare("SELECT eid, level, value, form FROM entry WHERE eid>?1"
                                       " ORDER BY eid LIMIT ?2"));
  std::unordered_set<Hash128, Hash128Hash> code;
  int64_t eid = kFirst;
  const auto bind = [&](Query& query) { query.Bind(eid).Bind(kPageRows); };
  KILN_TRY_VOID(EachPage(statement, {}, bind, [&](const Query& row) {
    eid = row.Int(0);
    const int64_t level = row.Int(1);
    if (level > 0 && level < static_cast<int64_t>(Level::kAlias)) {
      // A row whose form is lost is counted with the bytes that it has; verify tells that it is
      // damaged.
      const Result<Blob> value = reader->ValueOf(row.Int(3), row.Blob(2));
      CountRecord(static_cast<Level>(level), value.ok() ? value->bytes : row.Blob(2), stats, code);
    }
  }));
  stats.code_distinct = code.size();
  return {};
}

}  // namespace

// Takes time in proportion to the store. It is called for people and never on a timer.
Result<StoreStats> StatisticsOf(SqliteStore& store, Clock& clock) {
  KILN_TRY(ReaderPool::Loan reader, store.Read({}));
  Connection& connection = reader.connection();
  const SqliteStatus status = store.Status();
  const std::filesystem::path file = store.dir() / "cache.db";
  StoreStats stats{.path = file.string(),
                   .read_only = status.read_only,
                   .file_bytes = FileBytes(file) + FileBytes(file.string() + "-wal"),
                   .damage = status.damage};
  KILN_TRY_VOID(CountBlobs(connection, stats));
  KILN_TRY_VOID(CountBlocks(connection, stats));
  KILN_TRY_VOID(FillCounts(reader, stats));
  const auto count = [&](std::string_view sql) -> Result<uint64_t> {
    KILN_TRY(const int64_t value, connection.QueryInt(sql));
    return static_cast<uint64_t>(value);
  };
  LevelStats& aliases = stats.levels[static_cast<size_t>(Level::kAlias)];
  KILN_TRY(aliases.rows, count("SELECT count(*) FROM alias"));
  aliases.bytes = aliases.rows * sizeof(Hash128);
  KILN_TRY(stats.pins, count("SELECT count(*) FROM pin"));
  KILN_TRY(stats.pinned_records, count("SELECT count(DISTINCT eid) FROM pin_entry"));
  const int64_t now_s = std::chrono::duration_cast<std::chrono::seconds>(clock.UnixTime()).count();
  KILN_TRY(stats.leases,
           count("SELECT count(*) FROM lease WHERE until_s>" + std::to_string(now_s)));
  KILN_TRY(stats.quarantined, count("SELECT count(*) FROM quarantine"));
  KILN_TRY(stats.explained, count("SELECT count(*) FROM explain"));
  KILN_TRY(const uint64_t pages, count("PRAGMA page_count"));
  KILN_TRY(const uint64_t free, count("PRAGMA freelist_count"));
  // Free pages are part of the file and are used again before it grows. The two numbers are not of
  // one moment: a file that grows in between has more free pages than it had pages.
  stats.used_bytes = (pages - std::min(pages, free)) * static_cast<uint64_t>(kPageSize);
  return stats;
}

}  // namespace kiln::cache::sqlite
