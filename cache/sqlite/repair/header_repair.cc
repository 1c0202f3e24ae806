// SPDX-License-Identifier: MIT
// Page 1 has the header and the schema. Offsets are those of SQLite's file format.
#include "cache/sqlite/repair/header_repair.h"

#include <array>
#include <fstream>
#include <system_error>
#include <utility>

#include "cache/sqlite/database.h"
#include "cache/sqlite/session/read_statements.h"
#include "compiler/base/log.h"

namespace kiln::cache::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr size_t kChangeCounterAt = 24;
constexpr size_t kPageCountAt = 28;
constexpr size_t kFreelistAt = 32;  // first page of it, then its length
constexpr size_t kValidForAt = 92;  // the change counter for which the page count holds

using Page = std::array<char, kPageSize>;

void SetBig(Page& page, size_t at, uint32_t value) {
  for (size_t i = 0; i < 4; ++i) {
    page[at + i] = static_cast<char>(value >> (24 - 8 * i));
  }
}

// Whether every table that is read by a salvage can be asked for a row.
Result<void> TryReading(const std::string& file, const std::string& vfs) {
  KILN_TRY(Connection connection, Connection::Open(file, OpenMode::kReadOnly, vfs));
  KILN_TRY([[maybe_unused]] const int64_t version, connection.QueryInt("PRAGMA user_version"));
  KILN_TRY([[maybe_unused]] const ReadStatements reads, ReadStatements::Prepare(connection));
  // Any page of the tables may be damaged: only that SQLite knows them counts.
  for (const std::string_view sql :
       {"SELECT rid FROM blob LIMIT 1", "SELECT eid FROM entry LIMIT 1"}) {
    KILN_TRY([[maybe_unused]] const Statement statement, connection.Prepare(sql));
  }
  return {};
}

// Page 1 of a file that this version made.
Result<Page> FirstPage(const fs::path& scratch, Clock& clock) {
  NullLog log;
  // A real database is made and its first page taken. So the schema in it is always that of this
  // version, and no copy of it has to be kept.
  const DatabaseFile file{.dir = scratch / "empty", .vfs = {}};
  std::error_code error;
  fs::create_directories(file.dir, error);
  {
    KILN_TRY(Connection connection, OpenWriter(file, clock, log));
    // Until then the page is in the WAL and not in the file.
    KILN_TRY_VOID(connection.Checkpoint(CheckpointMode::kTruncate, 0));
  }
  Page page{};
  std::ifstream in(file.path(), std::ios::binary);
  if (!in.read(page.data(), static_cast<std::streamsize>(page.size()))) {
    return Error{.code = ErrorCode::kUnavailable, .context = "cannot read " + file.path()};
  }
  return page;
}

Result<std::string> CopyOf(const std::string& file, const fs::path& scratch) {
  std::error_code error;
  const uint64_t size = fs::file_size(file, error);
  const fs::space_info space = fs::space(scratch, error);
  // Half of the free room: the daemon goes on writing meanwhile, and a full disk would be the next
  // failure.
  if (error || space.available / 2 < size) {
    return Error{.code = ErrorCode::kFull, .context = "there is no room for a copy of it"};
  }
  const fs::path copy = scratch / "mended.db";
  fs::copy_file(file, copy, fs::copy_options::overwrite_existing, error);
  if (error) {
    return Error{.code = ErrorCode::kUnavailable,
                 .context = "cannot copy " + file + ": " + error.message()};
  }
  return copy.string();
}

// Overwrites the first page.
Result<void> Mend(const std::string& copy, Page page) {
  std::error_code error;
  const uint64_t pages = fs::file_size(copy, error) / kPageSize;
  // The new first page describes an empty database. These fields make it fit the pages behind it:
  // as many pages as there are, and no list of free ones, because the old list is not known. Pages
  // that were free are unreachable, which a salvage does not mind.
  SetBig(page, kPageCountAt, static_cast<uint32_t>(pages));
  SetBig(page, kChangeCounterAt, 1);
  SetBig(page, kValidForAt, 1);
  SetBig(page, kFreelistAt, 0);
  SetBig(page, kFreelistAt + 4, 0);
  std::fstream out(copy, std::ios::in | std::ios::out | std::ios::binary);
  out.write(page.data(), static_cast<std::streamsize>(page.size()));
  out.flush();
  if (!out) {
    return Error{.code = ErrorCode::kUnavailable, .context = "cannot write " + copy};
  }
  return {};
}

}  // namespace

Result<std::string> MakeReadable(const std::string& file, const std::string& vfs,
                                 const fs::path& scratch, Clock& clock) {
  const Result<void> as_it_is = TryReading(file, vfs);
  if (as_it_is.ok()) {
    return file;
  }
  std::error_code error;
  fs::create_directories(scratch, error);
  KILN_TRY(const Page page, FirstPage(scratch, clock));
  KILN_TRY(std::string copy, CopyOf(file, scratch));
  KILN_TRY_VOID(Mend(copy, page));
  // What was not yet in the file is in its WAL, which may have a first page of its own.
  fs::copy_file(file + "-wal", copy + "-wal", fs::copy_options::overwrite_existing, error);
  Result<void> readable = TryReading(copy, vfs);
  if (!readable.ok() && !error) {
    fs::remove(copy + "-wal", error);
    fs::remove(copy + "-shm", error);
    readable = TryReading(copy, vfs);
  }
  if (!readable.ok()) {
    return Error{.code = ErrorCode::kCorrupt,
                 .context = as_it_is.error().context +
                            "; with a new first page: " + readable.error().context};
  }
  return copy;
}

}  // namespace kiln::cache::sqlite
