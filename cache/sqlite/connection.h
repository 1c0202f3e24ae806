// SPDX-License-Identifier: MIT
// One connection to a SQLite file. With statement and transaction the only user of SQLite's C API;
// everything above speaks Result. See spec/cache 6.
// A statement of a call that is over ends with kCancelled (compiler/base/threads/stop).
//
// Threads: a connection and everything made from it belongs to one thread at a time; Interrupt may
// be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cache/sqlite/statement.h"
#include "compiler/base/result.h"

struct sqlite3;

namespace kiln::cache::sqlite {

enum class OpenMode : uint8_t {
  kReadWrite,  // the file must exist; an empty one becomes a database
  kReadOnly,
  kImmutable,  // read-only without locks and WAL: for files that nobody writes
};

enum class CheckpointMode : uint8_t { kPassive, kRestart, kTruncate };

// Reasons of errors that come from SQLite and decide what happens next (spec/cache 6.7, 6.10).
inline constexpr std::string_view kNotADatabase = "SQLITE_NOTADB";
inline constexpr std::string_view kDamagedFile = "SQLITE_CORRUPT";
inline constexpr std::string_view kIoError = "SQLITE_IOERR";
inline constexpr std::string_view kCannotOpen = "SQLITE_CANTOPEN";  // also: no room for the WAL

class Connection {
 public:
  // vfs: name of a registered SQLite VFS, empty for the default one; tests inject faults there.
  // Errors: kCorrupt if the file is not a database, kFailedPrecondition if it cannot be opened.
  static Result<Connection> Open(const std::string& path, OpenMode mode,
                                 const std::string& vfs = {});

  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&& other) noexcept;
  ~Connection();

  // Runs one or more statements without parameters and rows. Requires: sql ends with '\0'.
  Result<void> Execute(const char* sql);
  Result<Statement> Prepare(std::string_view sql);
  // The only value of the only row of a statement such as a pragma.
  Result<int64_t> QueryInt(std::string_view sql);
  Result<std::string> QueryText(std::string_view sql);

  int64_t last_insert_rowid() const;
  // Rows changed by the last INSERT, UPDATE or DELETE.
  int64_t writes() const;
  // Whether the file cannot be written through this connection.
  bool read_only() const;
  // False inside BEGIN … COMMIT.
  bool autocommit() const;
  // Frames in the WAL after the last commit of this connection.
  int64_t wal_frames() const { return *wal_frames_; }
  // What is known of a WAL that was there before the connection.
  void set_wal_frames(int64_t frames) { *wal_frames_ = frames; }

  // How often a row of `blob` went, or a transaction was taken back: while it stays, a content that
  // was put has the number that it had then.
  uint64_t losses() const { return *losses_; }

  // Copies WAL frames to the database. Waits at most busy_ms for readers.
  // Errors: kBusy if readers stayed.
  Result<void> Checkpoint(CheckpointMode mode, int busy_ms);

  // Makes a running statement return kCancelled.
  void Interrupt();

 private:
  explicit Connection(sqlite3* db);
  void Close();

  sqlite3* db_ = nullptr;
  // Written by hooks of SQLite, hence at fixed addresses.
  std::unique_ptr<int64_t> wal_frames_;
  std::unique_ptr<uint64_t> losses_;
};

// Error of a failed call: code by meaning, reason for the three kinds of damage, SQLite's message.
Error SqliteError(sqlite3* db, int rc, std::string_view doing);

}  // namespace kiln::cache::sqlite
