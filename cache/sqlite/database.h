// SPDX-License-Identifier: MIT
// Opens cache.db: makes it when there is none, sets it aside when it belongs to another version or
// is no database, and gives every connection its pragmas. See spec/cache 6.2, 6.7, 6.9.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "cache/sqlite/connection.h"
#include "compiler/base/clock.h"
#include "compiler/base/log.h"

namespace kiln::cache::sqlite {

inline constexpr int64_t kApplicationId = 0x4B494C4E;  // "KILN"
inline constexpr int64_t kSchemaVersion = 5;
inline constexpr int64_t kPageSize = 16384;

struct DatabaseFile {
  std::filesystem::path dir;  // as PrepareDirectory gives it
  std::string vfs;            // empty: SQLite's default

  std::string path() const { return (dir / "cache.db").string(); }
};

// The one connection that writes. Whatever had to be set aside is logged. Requires: this process
// owns the directory; no other connection is open.
// Errors: kFailedPrecondition, kFull, kUnavailable; never kCorrupt.
Result<Connection> OpenWriter(const DatabaseFile& file, Clock& clock, LogSink& log);

// Renames what is there to cache.corrupt-<n>.db. Requires: no connection is open.
Result<void> SetDamagedAside(const DatabaseFile& file, std::string_view why, LogSink& log);

// Whether an error of opening a file says that it is not what kiln wrote. Our statements are right,
// so one that SQLite does not understand tells of a damaged schema.
bool TellsOfDamage(const Error& error);

// The same error as damage, if it tells of damage.
Error AsDamage(Error error);

// A connection that only reads. Errors: kCorrupt if the file is no database of this version.
Result<Connection> OpenReader(const DatabaseFile& file);

}  // namespace kiln::cache::sqlite
