// SPDX-License-Identifier: MIT
// Versions, pragmas and the schema.
#include "cache/sqlite/database.h"

#include <fmt/format.h>

#include "cache/sqlite/data_dir.h"
#include "cache/sqlite/schema_check.h"
#include "cache/sqlite/schema_sql.h"
#include "cache/sqlite/transaction.h"
#include "compiler/base/printable.h"

namespace kiln::cache::sqlite {
namespace {

namespace fs = std::filesystem;

// The order matters: page size and vacuum mode before the file has pages.
constexpr const char* kCreationPragmas =
    "PRAGMA page_size=16384;"
    "PRAGMA auto_vacuum=INCREMENTAL;";

// The writer checkpoints (spec/cache 6.8): the connection's hook is in the place of SQLite's own,
// which is what wal_autocheckpoint=0 means. The pragma itself would take that hook away, too.
constexpr const char* kWriterPragmas =
    "PRAGMA journal_mode=WAL;"
    "PRAGMA synchronous=FULL;"
    "PRAGMA journal_size_limit=67108864;"
    "PRAGMA cache_size=-16384;"
    "PRAGMA temp_store=MEMORY;"
    "PRAGMA cell_size_check=ON;"
    "PRAGMA trusted_schema=OFF;"
    "PRAGMA secure_delete=OFF;"
    "PRAGMA foreign_keys=OFF;"
    "PRAGMA mmap_size=0;";  // a disk error must become a miss, not SIGBUS

constexpr const char* kReaderPragmas =
    "PRAGMA query_only=ON;"
    "PRAGMA cache_size=-16384;"
    "PRAGMA temp_store=MEMORY;"
    "PRAGMA cell_size_check=ON;"
    "PRAGMA trusted_schema=OFF;"
    "PRAGMA mmap_size=0;";

struct Identity {
  int64_t application = 0;
  int64_t version = 0;
  int64_t tables = 0;

  bool empty() const { return application == 0 && version == 0 && tables == 0; }
  bool ours() const { return application == kApplicationId && version == kSchemaVersion; }
};

// The application id tells whether the file is a cache of kiln, the version which one. A file
// without both and without tables is new.
Result<Identity> IdentityOf(Connection& connection) {
  Identity identity;
  KILN_TRY(identity.application, connection.QueryInt("PRAGMA application_id"));
  KILN_TRY(identity.version, connection.QueryInt("PRAGMA user_version"));
  KILN_TRY(identity.tables, connection.QueryInt("SELECT count(*) FROM sqlite_schema"));
  return identity;
}

// A foreign application id is part of the name, or a foreign file with our version number would be
// taken for an older cache of ours and renamed back.
std::string ForeignName(const Identity& identity) {
  return identity.application == kApplicationId
             ? fmt::format("cache.v{}", identity.version)
             : fmt::format("cache.v{}-app{:x}", identity.version,
                           static_cast<uint32_t>(identity.application));
}

Result<void> CreateSchema(Connection& connection, int64_t now_s) {
  KILN_TRY(Transaction transaction, Transaction::Begin(connection));
  KILN_TRY_VOID(connection.Execute(kSchemaSql));
  KILN_TRY_VOID(connection.Execute(fmt::format("INSERT INTO meta VALUES ('created_s', {});"
                                               "PRAGMA application_id={}; PRAGMA user_version={};",
                                               now_s, kApplicationId, kSchemaVersion)
                                       .c_str()));
  return transaction.Commit();
}

struct IdentifiedConnection {
  Connection connection;
  Identity identity;
};

// Opens what is there, as far as telling what it is. A fresh file becomes a database.
Result<IdentifiedConnection> OpenAndIdentify(const DatabaseFile& file, Clock& clock) {
  KILN_TRY_VOID(CreatePrivateFile(file.path()));
  KILN_TRY(Connection connection, Connection::Open(file.path(), OpenMode::kReadWrite, file.vfs));
  KILN_TRY(Identity identity, IdentityOf(connection));
  // The pragmas come before the first table, and the schema in one transaction: a process that dies
  // here leaves an empty file or a whole database.
  if (identity.empty()) {
    KILN_TRY_VOID(connection.Execute(kCreationPragmas));
    KILN_TRY_VOID(connection.Execute(kWriterPragmas));
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(clock.UnixTime());
    KILN_TRY_VOID(CreateSchema(connection, now.count()));
    KILN_TRY_VOID(SyncDirectory(file.dir));
    KILN_TRY(identity, IdentityOf(connection));
  }
  return IdentifiedConnection{std::move(connection), identity};
}

// What the file would run inside our statements, or store instead of what they say. What is only
// missing is found by the statements that need it, and by a verification.
Result<void> RefuseForeignSchema(Connection& connection) {
  KILN_TRY(const SchemaFaults faults, CheckSchema(connection));
  if (faults.foreign.empty()) {
    return {};
  }
  return Error{.code = ErrorCode::kCorrupt,
               .context = fmt::format("'{}' of its schema does not belong to this version",
                                      Printable(faults.foreign.front())),
               .reason = std::string(kDamagedFile)};
}

Result<void> FinishWriter(Connection& connection) {
  KILN_TRY_VOID(
      RefuseForeignSchema(connection));  // before the first statement that changes something
  KILN_TRY_VOID(connection.Execute(kWriterPragmas));
  KILN_TRY(const std::string mode, connection.QueryText("PRAGMA journal_mode"));
  if (mode != "wal") {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = "SQLite cannot use WAL here (journal mode " + mode + ")"};
  }
  // A header may say that only later versions of SQLite write this file. The directory is ours, so
  // nothing else forbids it.
  if (connection.read_only()) {
    return Error{.code = ErrorCode::kCorrupt,
                 .context = "the header of the database forbids to write it",
                 .reason = std::string(kNotADatabase)};
  }
  return {};
}

// The cure for a file that cannot be used as it is.
Result<void> MakeRoom(const DatabaseFile& file, const std::string& name, std::string_view why,
                      LogSink& log) {
  log.Write(LogLevel::kWarning, "cache", "database set aside",
            {{"file", file.path()}, {"as", name + ".db"}, {"why", why}});
  return SetAside(file.dir, name);
}

// A cache of our version that an other kiln has set aside comes back.
void RestoreOwnVersion(const DatabaseFile& file, LogSink& log) {
  const fs::path own = file.dir / fmt::format("cache.v{}.db", kSchemaVersion);
  std::error_code error;
  if (fs::exists(own, error)) {
    fs::rename(own, file.path(), error);
    if (!error) {
      log.Write(LogLevel::kInfo, "cache", "database restored", {{"from", own.string()}});
    }
  }
}

}  // namespace

bool TellsOfDamage(const Error& error) {
  return error.reason == kNotADatabase || error.reason == kDamagedFile ||
         error.code == ErrorCode::kInternal;
}

// An internal error of SQLite while a file is opened has no other cause than the file. It is given
// the reason by which others recognise damage.
Error AsDamage(Error error) {
  if (error.reason.empty() && TellsOfDamage(error)) {
    error.code = ErrorCode::kCorrupt;
    error.reason = kDamagedFile;
  }
  return error;
}

Result<void> SetDamagedAside(const DatabaseFile& file, std::string_view why, LogSink& log) {
  return MakeRoom(file, FreeCorruptName(file.dir), why, log);
}

Result<Connection> OpenWriter(const DatabaseFile& file, Clock& clock, LogSink& log) {
  // Each round either opens the file or sets it aside: foreign, then restored but damaged, then
  // new.
  for (int round = 0; round < 4; ++round) {
    Result<IdentifiedConnection> opened = OpenAndIdentify(file, clock);
    // An error of the machine, a full disk for example, is no reason to put a file aside that may
    // be sound.
    if (!opened.ok() && !TellsOfDamage(opened.error())) {
      return std::move(opened).error();
    }
    if (!opened.ok()) {
      KILN_TRY_VOID(SetDamagedAside(file, opened.error().context, log));
      continue;
    }
    if (opened->identity.ours()) {
      const Result<void> finished = FinishWriter(opened->connection);
      if (finished.ok()) {
        return std::move(opened->connection);
      }
      if (!TellsOfDamage(finished.error())) {
        return finished.error();
      }
      { const Connection closed = std::move(opened->connection); }
      KILN_TRY_VOID(SetDamagedAside(file, finished.error().context, log));
      continue;
    }
    const std::string name = ForeignName(opened->identity);
    { const Connection closed = std::move(opened->connection); }  // merges its WAL
    KILN_TRY_VOID(MakeRoom(file, name, "it belongs to another version", log));
    RestoreOwnVersion(file, log);
  }
  return Error{.code = ErrorCode::kFailedPrecondition,
               .context = "no usable cache.db in " + file.dir.string()};
}

Result<Connection> OpenReader(const DatabaseFile& file) {
  Result<Connection> opened = Connection::Open(file.path(), OpenMode::kReadOnly, file.vfs);
  std::error_code error;
  if (opened.ok() && !opened->QueryInt("PRAGMA user_version").ok() &&
      !fs::exists(file.path() + "-wal", error)) {
    // A directory that we may not write has no place for WAL's shared memory. Without a WAL nobody
    // is writing, and what is read is verified.
    opened = Connection::Open(file.path(), OpenMode::kImmutable, file.vfs);
  }
  if (!opened.ok()) {
    return std::move(opened).error();
  }
  // A reader changes nothing, so a file of another version is refused instead of set aside.
  const Result<Identity> identity = IdentityOf(*opened);
  if (!identity.ok()) {
    return AsDamage(identity.error());
  }
  if (!identity->ours()) {
    return Error{.code = ErrorCode::kCorrupt,
                 .context = file.path() + " is no cache of this version",
                 .reason = std::string(kNotADatabase)};
  }
  KILN_TRY_VOID(RefuseForeignSchema(*opened));
  KILN_TRY_VOID(opened->Execute(kReaderPragmas));
  return std::move(*opened);
}

}  // namespace kiln::cache::sqlite
