// SPDX-License-Identifier: MIT
// The file of a store: its directory, the lock on it, and how the database is opened. See
// spec/cache 6.1, 6.7
//
// Threads: the thread that opens the store until a session is there, then the maintenance thread;
// owned() and dir() from any.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string_view>

#include "cache/sqlite/data_dir.h"
#include "cache/sqlite/database.h"
#include "cache/sqlite/session/session.h"
#include "cache/sqlite/store_parts.h"

namespace kiln::cache::sqlite {

inline constexpr std::string_view kLocked = "LOCKED";

class StoreFile {
 public:
  // Requires: parts outlive the file.
  explicit StoreFile(StoreParts& parts);

  // Directory, lock and session, as far as they are not there yet. Errors: as SqliteStore::Open.
  Result<void> Start();
  // Makes a session the current one. What could not be opened was set aside and is to be salvaged.
  // Requires: there is no session.
  Result<void> OpenSession();

  // Whether this process has the lock: then, and only then, it writes.
  bool owned() const { return owned_; }
  // As the store was opened with it, links and all.
  const std::filesystem::path& dir() const { return parts_.options.dir; }
  const DatabaseFile& database() const { return session_options_.file; }

 private:
  Result<void> TakeLock();

  StoreParts& parts_;
  Session::Options session_options_;
  std::optional<OwnerLock> lock_;
  std::atomic<bool> owned_{false};  // whether there is a lock
};

}  // namespace kiln::cache::sqlite
