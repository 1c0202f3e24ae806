// SPDX-License-Identifier: MIT
// SQL over `batch`. Rows are written whole and read whole; their meaning is that of
// server/compile/batch.
#include "cache/sqlite/tables/batch_table.h"

#include <utility>

namespace kiln::cache::sqlite {
namespace {

// A row whose id is damaged gets the zero id and is refused by whoever decodes its spec.
BatchRow RowOf(const Query& query) {
  const auto copy = [&query](int column) {
    const ByteView bytes = query.Blob(column);
    return Bytes(bytes.begin(), bytes.end());
  };
  return {.id = query.Id(0).value_or(Hash128{}),
          .spec = copy(1),
          .state = static_cast<uint32_t>(query.Int(2)),
          .counts = copy(3),
          .updated_s = query.Int(4)};
}

}  // namespace

// Awaited: a batch is acknowledged when its row is on disk.
Result<void> BatchTable::Put(const BatchRow& row) {
  return store_.Write(
      [row](TableWrites& writes) -> Result<void> {
        KILN_TRY(Statement statement,
                 writes.connection().Prepare("INSERT INTO batch VALUES (?1, ?2, ?3, ?4, ?5)"
                                             " ON CONFLICT (id) DO UPDATE SET spec=?2, state=?3,"
                                             " counts=?4, updated_s=?5"));
        Query query(statement);
        query.Bind(row.id).Bind(row.spec).Bind(int64_t{row.state});
        return query.Bind(row.counts).Bind(row.updated_s).Run();
      },
      {});
}

Result<BatchRow> BatchTable::Get(const Hash128& id) {
  KILN_TRY(ReaderPool::Loan reader, store_.Read({}));
  KILN_TRY(Statement statement,
           reader.connection().Prepare(
               "SELECT id, spec, state, counts, updated_s FROM batch WHERE id=?1"));
  Query query(statement);
  query.Bind(id);
  KILN_TRY(const bool found, query.Next());
  if (!found) {
    return Error{.code = ErrorCode::kNotFound, .context = "batch " + id.hex()};
  }
  return RowOf(query);
}

// By pages in the order of ids, so that no read transaction lives long (spec/cache 6.4).
Result<std::vector<BatchRow>> BatchTable::List(const std::optional<Hash128>& after,
                                               uint32_t limit) {
  KILN_TRY(ReaderPool::Loan reader, store_.Read({}));
  KILN_TRY(Statement statement,
           reader.connection().Prepare("SELECT id, spec, state, counts, updated_s FROM batch"
                                       " WHERE ?1 IS NULL OR id>?1 ORDER BY id LIMIT ?2"));
  Query query(statement);
  if (after.has_value()) {
    query.Bind(*after);
  } else {
    // NULL: from the first row on.
    query.Bind(std::optional<int64_t>());
  }
  query.Bind(int64_t{limit});
  std::vector<BatchRow> rows;
  for (;;) {
    KILN_TRY(const bool found, query.Next());
    if (!found) {
      return rows;
    }
    rows.push_back(RowOf(query));
  }
}

// A batch that is not there is no error: removing may be repeated.
Result<void> BatchTable::Remove(const Hash128& id) {
  return store_.Write(
      [id](TableWrites& writes) -> Result<void> {
        KILN_TRY(Statement statement, writes.connection().Prepare("DELETE FROM batch WHERE id=?1"));
        Query query(statement);
        return query.Bind(id).Run();
      },
      {});
}

}  // namespace kiln::cache::sqlite
