// SPDX-License-Identifier: MIT
// Records by number, each followed by the aliases that lead to it: so everything that a row needs
// was given before it. A page is a statement of its own, so that no read transaction is longer than
// a page. What was put behind the walk is met, what was removed before it is not.
#include "cache/sqlite/tables/each_row.h"

#include <limits>
#include <utility>

#include "compiler/base/threads/stop.h"

namespace kiln::cache::sqlite {
namespace {

constexpr int64_t kPageRows = 256;

constexpr std::string_view kPageSql =
    "SELECT eid, space, level, key FROM entry WHERE eid>?1 AND used_q>=?2"
    " ORDER BY eid LIMIT ?4";
// By what is pinned, however much else there is: a walk over the pairs of all pins.
constexpr std::string_view kPinnedPageSql =
    "SELECT e.eid, e.space, e.level, e.key FROM pin_entry AS p CROSS JOIN entry AS e ON e.eid=p.eid"
    " WHERE p.eid>?1 AND e.used_q>=?2 AND p.pin=?3 ORDER BY p.eid LIMIT ?4";
constexpr std::string_view kAliasSql = "SELECT key, sum FROM alias WHERE eid=?1 AND space=?2";

// 0 if rows of all pins are wanted.
Result<int64_t> PinOf(Connection& connection, const std::string& name) {
  if (name.empty()) {
    return 0;
  }
  KILN_TRY(Statement find, connection.Prepare("SELECT pin FROM pin WHERE name=?1"));
  Query query(find);
  KILN_TRY(const bool found, query.Bind(std::string_view(name)).Next());
  if (!found) {
    return Error{.code = ErrorCode::kNotFound, .context = "pin " + name, .reason = {}};
  }
  return query.Int(0);
}

struct Row {
  int64_t eid = 0;
  Key key;
};

class RowWalk {
 public:
  static Result<RowWalk> Prepare(ReadStatements& reads, Connection& connection,
                                 const RowFilter& filter) {
    RowWalk walk(reads);
    KILN_TRY(walk.pin_, PinOf(connection, filter.pin));
    // Uses are stored in quanta, so an age is rounded to one.
    walk.since_q_ = filter.since_s.has_value() ? *filter.since_s / kQuantumSeconds
                                               : std::numeric_limits<int64_t>::min();
    KILN_TRY(walk.page_, connection.Prepare(walk.pin_ == 0 ? kPageSql : kPinnedPageSql));
    KILN_TRY(walk.aliases_, connection.Prepare(kAliasSql));
    return walk;
  }

  // The rows behind `eid`; none at the end.
  Result<std::vector<Row>> PageAfter(int64_t eid) {
    std::vector<Row> rows;
    Query query(page_);
    query.Bind(eid).Bind(since_q_).Bind(pin_).Bind(kPageRows);
    for (;;) {
      KILN_TRY(const bool found, query.Next());
      if (!found) {
        return rows;
      }
      rows.push_back({.eid = query.Int(0),
                      .key = {.level = static_cast<Level>(query.Int(2)),
                              .space = static_cast<uint32_t>(query.Int(1)),
                              .id = query.Id(3).value_or(Hash128{})}});
    }
  }

  // The value of a record if it verifies.
  Result<std::optional<Blob>> ValueOf(const Key& key) {
    if (key.level == Level::kContent || key.level >= Level::kAlias) {
      return std::optional<Blob>();  // damaged
    }
    KILN_TRY(std::optional<StoredRow> row, reads_.FindRow(key));
    if (!row.has_value()) {
      return std::optional<Blob>();
    }
    // A row that does not verify is left out without a word: verify reports it, and an export must
    // not spread it.
    KILN_TRY(const std::optional<Finding> finding, reads_.CheckRow(key, *row));
    return finding.has_value() ? std::optional<Blob>() : std::optional(std::move(row->value));
  }

  // Aliases that verify and lead to the record.
  Result<std::vector<Key>> AliasesOf(const Row& row) {
    std::vector<Key> leading;
    Query query(aliases_);
    query.Bind(row.eid).Bind(int64_t{row.key.space});
    for (;;) {
      KILN_TRY(const bool found, query.Next());
      if (!found) {
        return leading;
      }
      const Hash128 alias = query.Id(0).value_or(Hash128{});
      if (AliasSum(row.key.space, alias, row.key.id) == query.Int(1)) {
        leading.push_back({.level = Level::kAlias, .space = row.key.space, .id = alias});
      }
    }
  }

 private:
  explicit RowWalk(ReadStatements& reads) : reads_(reads) {}

  ReadStatements& reads_;
  int64_t pin_ = 0;
  int64_t since_q_ = 0;
  Statement page_;
  Statement aliases_;
};

}  // namespace

// Aliases follow the record that they lead to, in the order in which a put takes them. Rows that
// are written while the walk goes on may be missing or there.
Result<void> EachRow(SqliteStore& store, const RowFilter& filter,
                     const std::function<Result<void>(const Key& key, ByteView value)>& each) {
  KILN_TRY(ReaderPool::Loan reader, store.Read({}));
  KILN_TRY(RowWalk walk, RowWalk::Prepare(*reader, reader.connection(), filter));
  for (int64_t last = std::numeric_limits<int64_t>::min();;) {
    CheckStop();
    KILN_TRY(const std::vector<Row> page, walk.PageAfter(last));
    if (page.empty()) {
      return {};
    }
    last = page.back().eid;
    for (const Row& row : page) {
      KILN_TRY(const std::optional<Blob> value, walk.ValueOf(row.key));
      // A row that went since its page was read is left out.
      if (!value.has_value()) {
        continue;
      }
      KILN_TRY_VOID(each(row.key, value->bytes));
      if (row.key.level != Level::kSignature) {
        continue;
      }
      KILN_TRY(const std::vector<Key> aliases, walk.AliasesOf(row));
      for (const Key& alias : aliases) {
        KILN_TRY_VOID(each(alias, std::as_bytes(std::span(row.key.id.bytes))));
      }
    }
  }
}

}  // namespace kiln::cache::sqlite
