// SPDX-License-Identifier: MIT
// Binding, stepping and reading columns.
#include "cache/sqlite/statement.h"

#include <memory>

#include <sqlite3.h>

#include "cache/sqlite/connection.h"
#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"

namespace kiln::cache::sqlite {

Statement& Statement::operator=(Statement&& other) noexcept {
  if (this != &other) {
    sqlite3_finalize(handle_);
    handle_ = std::exchange(other.handle_, nullptr);
  }
  return *this;
}

Statement::~Statement() { sqlite3_finalize(handle_); }

// A statement that is not reset keeps its read transaction open, and with it the WAL.
Query::~Query() {
  sqlite3_reset(handle_);
  sqlite3_clear_bindings(handle_);  // the bound bytes may go now
}

// Parameters are numbered by the order of the calls. A failure here is a wrong statement, hence a
// check and no error.
Query& Query::Bind(int64_t value) {
  const int rc = sqlite3_bind_int64(handle_, ++bound_, value);
  KILN_CHECK(rc == SQLITE_OK, "parameter {}: {}", bound_, rc);
  return *this;
}

Query& Query::Bind(std::optional<int64_t> value) {
  if (value.has_value()) {
    return Bind(*value);
  }
  const int rc = sqlite3_bind_null(handle_, ++bound_);
  KILN_CHECK(rc == SQLITE_OK, "parameter {}: {}", bound_, rc);
  return *this;
}

// The bytes are not copied: they must live until the query is destroyed.
Query& Query::Bind(ByteView value) {
  // A null pointer would bind NULL, which is not an empty blob.
  const int rc = value.empty() ? sqlite3_bind_zeroblob(handle_, ++bound_, 0)
                               : sqlite3_bind_blob64(handle_, ++bound_, value.data(), value.size(),
                                                     SQLITE_STATIC);
  KILN_CHECK(rc == SQLITE_OK, "parameter {}: {}", bound_, rc);
  return *this;
}

Query& Query::Bind(std::string_view text) {
  const char* data = text.empty() ? "" : text.data();
  const int rc =
      sqlite3_bind_text64(handle_, ++bound_, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
  KILN_CHECK(rc == SQLITE_OK, "parameter {}: {}", bound_, rc);
  return *this;
}

// Values of a row are valid until the next call.
Result<bool> Query::Next() {
  const int rc = sqlite3_step(handle_);
  if (rc == SQLITE_ROW) {
    return true;
  }
  if (rc == SQLITE_DONE) {
    return false;
  }
  return SqliteError(sqlite3_db_handle(handle_), rc, sqlite3_sql(handle_));
}

Result<void> Query::Run() {
  KILN_TRY(const bool row, Next());
  KILN_CHECK(!row, "rows from {}", sqlite3_sql(handle_));
  return {};
}

int64_t Query::Int(int column) const { return sqlite3_column_int64(handle_, column); }

bool Query::IsNull(int column) const { return sqlite3_column_type(handle_, column) == SQLITE_NULL; }

ByteView Query::Blob(int column) const {
  // The pointer before the size: SQLite may convert the value when it is asked for the one, and the
  // other must be that of the result.
  const void* data = sqlite3_column_blob(handle_, column);
  const int size = sqlite3_column_bytes(handle_, column);
  // NULL with a size: SQLite ran out of memory; the caller's check of the bytes fails.
  return data == nullptr ? ByteView{}
                         : ByteView(static_cast<const std::byte*>(data), static_cast<size_t>(size));
}

std::string_view Query::Text(int column) const { return AsText(Blob(column)); }

// Long values are read in parts, each with a look at whether the caller still waits. The blob
// handle reads pages straight into `out`, without SQLite's copy of the whole value.
Result<void> Query::ReadLong(const char* table, int64_t rowid, std::span<std::byte> out) const {
  sqlite3* const db = sqlite3_db_handle(handle_);
  sqlite3_blob* handle = nullptr;
  int rc = sqlite3_blob_open(db, "main", table, "data", rowid, 0, &handle);
  const std::unique_ptr<sqlite3_blob, int (*)(sqlite3_blob*)> value(handle, sqlite3_blob_close);
  // The row may have changed between the statement and this.
  if (rc == SQLITE_OK && static_cast<size_t>(sqlite3_blob_bytes(handle)) != out.size()) {
    return Error{.code = ErrorCode::kCorrupt,
                 .context = "a value of another size than its row says"};
  }
  InParts(out.size(), [&](size_t offset, size_t size) {
    if (rc == SQLITE_OK) {
      rc = sqlite3_blob_read(handle, out.data() + offset, static_cast<int>(size),
                             static_cast<int>(offset));
    }
  });
  return rc == SQLITE_OK ? Result<void>() : SqliteError(db, rc, "read of a long value");
}

std::optional<Hash128> Query::Id(int column) const {
  const ByteView bytes = Blob(column);
  Hash128 id;
  if (bytes.size() != id.bytes.size()) {
    return std::nullopt;
  }
  std::memcpy(id.bytes.data(), bytes.data(), bytes.size());
  return id;
}

}  // namespace kiln::cache::sqlite
