// SPDX-License-Identifier: MIT
// Every query is answered by an index alone: the rows themselves are not read.
#include "cache/sqlite/tables/record_counts.h"

#include "cache/sqlite/session/read_statements.h"
#include "cache/sqlite/statement.h"

namespace kiln::cache::sqlite {
namespace {

constexpr int64_t kPageRows = 10'000;  // some milliseconds

// The row that a page ends with; the first page begins before every row: no content has the hash 0.
struct Place {
  int64_t space = -1;
  int64_t level = -1;
  Hash128 key;

  friend bool operator==(const Place&, const Place&) = default;
};

// Columns of the statement: space, level, key, in this order; parameters: the same, rows of a page.
Result<void> CountPages(Statement& statement, const std::stop_token& stop, RecordCounts& counts) {
  Place at;
  while (!stop.stop_requested()) {
    const Place from = at;
    Query query(statement);
    query.Bind(from.space).Bind(from.level).Bind(from.key).Bind(kPageRows);
    KILN_TRY(const int64_t rows, query.EachRow([&](const Query& row) {
      at = {.space = row.Int(0), .level = row.Int(1), .key = row.Id(2).value_or(at.key)};
      if (at.level >= 0 && at.level < static_cast<int64_t>(kLevelCount)) {
        ++counts[static_cast<size_t>(at.level)];
      }
    }));
    if (rows < kPageRows) {
      break;
    }
    if (at == from) {  // or this would never end
      return Error{.code = ErrorCode::kCorrupt,
                   .context = "a page without keys",
                   .reason = std::string(kDamagedFile)};
    }
  }
  return {};
}

}  // namespace

// Content, records, aliases, in that order. The three statements are the same walk over other
// indexes.
Result<RecordCounts> CountRecords(Connection& connection, const std::stop_token& stop) {
  static_assert(static_cast<int>(Level::kContent) == 0 && static_cast<int>(Level::kAlias) == 5);
  RecordCounts counts{};
  // Conditions that look useless keep the parameters of all three statements alike, so one function
  // binds them.
  for (const std::string_view sql : {
           "SELECT 0, 0, id FROM blob WHERE id>?3 AND ?1<=0 AND ?2<=0 ORDER BY id LIMIT ?4",
           "SELECT space, level, key FROM entry WHERE (space, level, key)>(?1, ?2, ?3)"
           " ORDER BY space, level, key LIMIT ?4",
           "SELECT space, 5, key FROM alias WHERE (space, key)>(?1, ?3) AND ?2<=5"
           " ORDER BY space, key LIMIT ?4",
       }) {
    KILN_TRY(Statement statement, connection.Prepare(sql));
    KILN_TRY_VOID(CountPages(statement, stop, counts));
  }
  return counts;
}

}  // namespace kiln::cache::sqlite
