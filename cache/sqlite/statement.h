// SPDX-License-Identifier: MIT
// A prepared statement and one execution of it. Parameters are bound in order, columns read by
// position; a Query resets its statement when it goes, so no read transaction outlives it.
//   Query query(find_blob_);
//   query.Bind(id.bytes);
//   KILN_TRY(const bool found, query.Next());
//   if (found) { use(query.Int(0), query.Blob(1)); }
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"
#include "compiler/base/result.h"

struct sqlite3_stmt;

namespace kiln::cache::sqlite {

// Owns the handle. Belongs to the thread that uses its connection.
class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* handle) : handle_(handle) {}
  Statement(Statement&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Statement& operator=(Statement&& other) noexcept;
  ~Statement();

 private:
  friend class Query;
  sqlite3_stmt* handle_ = nullptr;
};

// One execution. Requires: at most one Query per statement at a time; what is bound stays alive and
// unchanged as long as the Query.
class Query {
 public:
  explicit Query(Statement& statement) : handle_(statement.handle_) {}
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query();

  Query& Bind(int64_t value);
  Query& Bind(std::optional<int64_t> value);
  Query& Bind(ByteView value);
  Query& Bind(const Hash128& value) { return Bind(std::as_bytes(std::span(value.bytes))); }
  Query& Bind(std::string_view text);

  // Advances to the next row; false after the last one.
  Result<bool> Next();
  // Every row, one call each; gives their number. A row is valid until `each` returns.
  template <class Each>
  Result<int64_t> EachRow(const Each& each) {
    for (int64_t rows = 0;; ++rows) {
      KILN_TRY(const bool found, Next());
      if (!found) {
        return rows;
      }
      each(static_cast<const Query&>(*this));
    }
  }
  // For statements without rows.
  Result<void> Run();

  // Columns of the current row; views are valid until the next call of Next.
  int64_t Int(int column) const;
  bool IsNull(int column) const;
  ByteView Blob(int column) const;
  std::string_view Text(int column) const;
  // The bytes of a long value that the statement leaves where they are: column `data` of the row
  // `rowid` of the table, as many as there are room for in `out`. SQLite hands over a column in one
  // piece, which for 100 MB takes longer than a call may go without being asked whether it is
  // wanted; this asks after each part (compiler/base/threads/stop). Requires: a row of this
  // execution, which holds the transaction. Errors: kCorrupt if the value has another size; those
  // of reading.
  Result<void> ReadLong(const char* table, int64_t rowid, std::span<std::byte> out) const;
  // The id in a column; nullopt unless it is a blob of 16 bytes.
  std::optional<Hash128> Id(int column) const;

 private:
  sqlite3_stmt* handle_;
  int bound_ = 0;
};

}  // namespace kiln::cache::sqlite
