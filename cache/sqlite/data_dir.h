// SPDX-License-Identifier: MIT
// The directory of a store: who owns it, whether it is fit for WAL, and files that are set aside.
// See spec/cache 6.1, 6.7, 6.9.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "compiler/base/files/file_lock.h"
#include "compiler/base/result.h"

namespace kiln::cache::sqlite {

// Owns the lock of <dir>/cache.lock, in which its pid is written.
class OwnerLock {
 public:
  // Nullopt if another process has it. Errors: kFailedPrecondition with reason READ_ONLY if the
  // lock file cannot be made or written.
  static Result<std::optional<OwnerLock>> TryTake(const std::filesystem::path& dir);

 private:
  explicit OwnerLock(FileLock lock) : lock_(std::move(lock)) {}
  FileLock lock_;
};

// The pid of the process that owns the store of a directory; nullopt if nobody does.
std::optional<pid_t> FindOwner(const std::filesystem::path& dir);

// f_type of the file system of a directory, as statfs gives it.
using FileSystemType = std::function<long(const std::filesystem::path&)>;
long StatFileSystemType(const std::filesystem::path& dir);

// Makes the directory (0700) if need be; gives its path without links. Errors: kFailedPrecondition,
// with reason NETWORK_FILE_SYSTEM for NFS, SMB and FUSE, where WAL's shared memory does not work;
// kPermissionDenied with reason NOT_OWN (OwnFolder) for one that another user can change.
Result<std::filesystem::path> PrepareDirectory(const std::filesystem::path& dir,
                                               const FileSystemType& type_of);

// Makes an empty file (0600) unless there is one. Errors: kFailedPrecondition; kPermissionDenied
// with reason NOT_OWN if it, or the WAL beside it, is another user's or a link.
Result<void> CreatePrivateFile(const std::filesystem::path& file);

// After this, names made in the directory survive loss of power.
Result<void> SyncDirectory(const std::filesystem::path& dir);

// Renames <dir>/cache.db and its WAL to <dir>/<name>.db, over whatever has that name, then removes
// all but the two newest files that were set aside. Requires: no connection is open.
Result<void> SetAside(const std::filesystem::path& dir, std::string_view name);

// A database that was set aside, with its WAL.
struct QuarantinedFile {
  std::filesystem::path path;
  uint64_t bytes = 0;
  bool damaged = false;  // else it is of another version, which may come back
};

// The newest first.
std::vector<QuarantinedFile> ListSetAside(const std::filesystem::path& dir);
// With its WAL. Whatever cannot be removed stays.
void RemoveSetAside(const QuarantinedFile& file);

// "cache.corrupt-<n>" for the first n that is free.
std::string FreeCorruptName(const std::filesystem::path& dir);

}  // namespace kiln::cache::sqlite
