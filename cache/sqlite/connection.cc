// SPDX-License-Identifier: MIT
// Opening, running text, checkpoints, and the translation of SQLite's result codes.
#include "cache/sqlite/connection.h"

#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"

namespace kiln::cache::sqlite {
namespace {

// Only other processes can make a statement wait: the store's own threads take turns. Five seconds
// are a long transaction of theirs.
constexpr int kBusyMs = 5000;
constexpr int kStepsPerLook = 20'000;  // about a millisecond

int OpenFlags(OpenMode mode) {
  // Our own locks decide which thread uses a connection, so SQLite's mutexes are off.
  const int common = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE;
  switch (mode) {
    case OpenMode::kReadWrite:
      return common | SQLITE_OPEN_READWRITE;
    case OpenMode::kReadOnly:
      return common | SQLITE_OPEN_READONLY;
    case OpenMode::kImmutable:
      return common | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  }
  KILN_UNREACHABLE();
}

// A file: URI, with every character escaped that has a meaning in a URI. Immutable: SQLite takes no
// locks and looks for no WAL. It is only for files that nobody can change, such as those set aside.
std::string ImmutableUri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

// SQLite calls this after each commit with the length of the WAL, in place of its own checkpoints.
int OnWalCommit(void* frames, sqlite3* /*db*/, const char* /*name*/, int in_wal) {
  *static_cast<int64_t*>(frames) = in_wal;
  return SQLITE_OK;
}

// Counts what may make a remembered number of rows wrong: deleted content and rolled back
// transactions.
void OnRow(void* losses, int what, const char* /*database*/, const char* table,
           sqlite3_int64 /*row*/) {
  if (what == SQLITE_DELETE && std::string_view(table) == "blob") {
    ++*static_cast<uint64_t*>(losses);
  }
}

void OnRollback(void* losses) { ++*static_cast<uint64_t*>(losses); }

// Asked every kStepsPerLook steps of a statement, so a long query ends when its caller leaves.
int IsOver(void* /*none*/) { return IsStopping() ? 1 : 0; }

// What the world may do about an error, not what SQLite calls it: wait and retry, make room, treat
// the file as damaged, or none of these. The lower byte is the kind; the upper ones tell details
// that are in the message.
ErrorCode CodeOf(int rc) {
  switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
    case SQLITE_SCHEMA:
      return ErrorCode::kBusy;
    case SQLITE_FULL:
    case SQLITE_NOMEM:
      return ErrorCode::kFull;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
      return ErrorCode::kCorrupt;
    case SQLITE_IOERR:
      return ErrorCode::kUnavailable;
    case SQLITE_INTERRUPT:
      return ErrorCode::kCancelled;
    case SQLITE_CONSTRAINT:
      return ErrorCode::kAlreadyExists;
    case SQLITE_TOOBIG:
      return ErrorCode::kInvalidArgument;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
    case SQLITE_NOLFS:
      return ErrorCode::kFailedPrecondition;
    default:  // not an enumeration of ours: SQLite may add codes
      return ErrorCode::kInternal;
  }
}

// Only those that decide over the file as a whole have a reason; file_health.h acts on them.
std::string_view ReasonOf(int rc) {
  switch (rc & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
      return kDamagedFile;
    case SQLITE_NOTADB:
      return kNotADatabase;
    case SQLITE_IOERR:
      return kIoError;
    case SQLITE_CANTOPEN:
      return kCannotOpen;
    default:
      return {};
  }
}

}  // namespace

// Right after the call that failed, since the message is that of the last call on the connection.
Error SqliteError(sqlite3* db, int rc, std::string_view doing) {
  const char* message = db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(rc);
  return {.code = CodeOf(rc),
          .context = fmt::format("{}: {} (SQLite code {})", doing, message, rc),
          .reason = std::string(ReasonOf(rc))};
}

Connection::Connection(sqlite3* db)
    : db_(db), wal_frames_(std::make_unique<int64_t>(0)), losses_(std::make_unique<uint64_t>(0)) {}

Connection::Connection(Connection&& other) noexcept
    : db_(std::exchange(other.db_, nullptr)),
      wal_frames_(std::move(other.wal_frames_)),
      losses_(std::move(other.losses_)) {}

Connection& Connection::operator=(Connection&& other) noexcept {
  if (this != &other) {
    Close();
    db_ = std::exchange(other.db_, nullptr);
    wal_frames_ = std::move(other.wal_frames_);
    losses_ = std::move(other.losses_);
  }
  return *this;
}

Connection::~Connection() { Close(); }

void Connection::Close() {
  // close_v2: statements that outlive the connection keep the handle until they are gone.
  sqlite3_close_v2(std::exchange(db_, nullptr));
}

// Errors carry the code that the caller acts on. The handle is closed on every way out, because the
// connection owns it from the start.
Result<Connection> Connection::Open(const std::string& path, OpenMode mode,
                                    const std::string& vfs) {
  const std::string name = mode == OpenMode::kImmutable ? ImmutableUri(path) : path;
  sqlite3* db = nullptr;
  const int rc =
      sqlite3_open_v2(name.c_str(), &db, OpenFlags(mode), vfs.empty() ? nullptr : vfs.c_str());
  Connection connection(db);
  if (rc != SQLITE_OK) {
    return SqliteError(db, rc, "opening " + path);
  }
  sqlite3_busy_timeout(db, kBusyMs);  // before the first statement: opening itself may be busy
  // A damaged or hostile schema must not be able to change the file through its own triggers and
  // views.
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_wal_hook(db, OnWalCommit, connection.wal_frames_.get());
  sqlite3_update_hook(db, OnRow, connection.losses_.get());
  sqlite3_rollback_hook(db, OnRollback, connection.losses_.get());
  sqlite3_progress_handler(db, kStepsPerLook, IsOver, nullptr);
  return connection;
}

// For text without parameters, such as pragmas and BEGIN.
Result<void> Connection::Execute(const char* sql) {
  const int rc = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr);
  if (rc != SQLITE_OK) {
    return SqliteError(db_, rc, sql);
  }
  return {};
}

// Persistent: statements of this store live as long as their connection, and SQLite places their
// memory accordingly.
Result<Statement> Connection::Prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int rc = sqlite3_prepare_v3(db_, sql.data(), static_cast<int>(sql.size()),
                                    SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (rc != SQLITE_OK) {
    return SqliteError(db_, rc, sql);
  }
  return Statement(statement);
}

Result<int64_t> Connection::QueryInt(std::string_view sql) {
  KILN_TRY(Statement statement, Prepare(sql));
  Query query(statement);
  KILN_TRY(const bool found, query.Next());
  KILN_CHECK(found, "no row from {}", sql);
  return query.Int(0);
}

Result<std::string> Connection::QueryText(std::string_view sql) {
  KILN_TRY(Statement statement, Prepare(sql));
  Query query(statement);
  KILN_TRY(const bool found, query.Next());
  KILN_CHECK(found, "no row from {}", sql);
  return std::string(query.Text(0));
}

int64_t Connection::last_insert_rowid() const { return sqlite3_last_insert_rowid(db_); }

int64_t Connection::writes() const { return sqlite3_changes64(db_); }

bool Connection::read_only() const { return sqlite3_db_readonly(db_, "main") != 0; }

bool Connection::autocommit() const { return sqlite3_get_autocommit(db_) != 0; }

// Passive never waits. Restart and truncate wait for readers, at most `busy_ms` milliseconds.
Result<void> Connection::Checkpoint(CheckpointMode mode, int busy_ms) {
  const int sqlite_mode = mode == CheckpointMode::kPassive   ? SQLITE_CHECKPOINT_PASSIVE
                          : mode == CheckpointMode::kRestart ? SQLITE_CHECKPOINT_RESTART
                                                             : SQLITE_CHECKPOINT_TRUNCATE;
  // A checkpoint waits for readers for as long as its caller says, and not for the five seconds of
  // other statements.
  sqlite3_busy_timeout(db_, busy_ms);
  const int rc = sqlite3_wal_checkpoint_v2(db_, nullptr, sqlite_mode, nullptr, nullptr);
  sqlite3_busy_timeout(db_, kBusyMs);
  if (rc != SQLITE_OK) {
    return SqliteError(db_, rc, "checkpoint");
  }
  if (mode == CheckpointMode::kTruncate) {
    *wal_frames_ = 0;
  }
  return {};
}

void Connection::Interrupt() { sqlite3_interrupt(db_); }

}  // namespace kiln::cache::sqlite
