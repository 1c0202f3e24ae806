// SPDX-License-Identifier: MIT
// The folder of a cache: who owns it, which files are in it, and how files are set aside
// (spec/cache 6.1). Everything that another user could have put there is refused. statfs, rename,
// fsync.
#include "cache/sqlite/data_dir.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "cache/store.h"
#include "compiler/base/files/descriptor.h"
#include "compiler/base/files/own_folder.h"

namespace kiln::cache::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLockFile = "cache.lock";
// Two files of other versions or of damaged caches: enough to go back to the last version, and
// never more than the cache itself is worth.
constexpr size_t kMaxSetAside = 2;

Error Failed(std::string what, const fs::path& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT;
  return {.code = full ? ErrorCode::kFull : ErrorCode::kFailedPrecondition,
          .context = std::move(what) + " " + path.string() + ": " + std::strerror(error),
          .reason = error == EROFS || error == EACCES || error == EPERM ? std::string(kReadOnly)
                                                                        : std::string()};
}

// A user who can change the cache decides what everybody compiles.
Error NotOwnCache(const Error& error) {
  return {.code = error.code,
          .context = error.context +
                     "; a cache is used if only this user can change it: repair "
                     "that, or set cache.dir to another path",
          .reason = error.reason};
}

// Made with mode 0600 unless it is there. Errors: kFailedPrecondition; kPermissionDenied with
// reason NOT_OWN for what another user could have put there.
Result<Descriptor> OpenOwnFile(const fs::path& path) {
  Result<OwnFolder> folder = OwnFolder::Open(path.parent_path().string());
  if (!folder.ok()) {
    return NotOwnCache(folder.error());
  }
  errno = 0;
  const Result<int> file = folder->OpenFile(path.filename().string(), O_RDWR | O_CREAT);
  const int number = errno;
  if (file.ok()) {
    return Descriptor(*file);
  }
  return file.error().reason == kNotOwn ? NotOwnCache(file.error())
                                        : Failed("cannot open", path, number);
}

// Why the file system is unfit for WAL; nullopt if it is fit. WAL needs memory that all processes
// of one machine share through the file, which these do not give.
std::optional<std::string_view> NetworkFileSystemName(long type) {
  // Numbers of the kernel that the header of this system does not have.
  constexpr long kSmb2 = 0xFE534D42;
  constexpr long kCifs = 0xFF534D42;
  switch (type) {
    case NFS_SUPER_MAGIC:
      return "NFS";
    case SMB_SUPER_MAGIC:
    case kSmb2:
    case kCifs:
      return "SMB";
    case FUSE_SUPER_MAGIC:
      return "FUSE";
    default:
      return std::nullopt;
  }
}

bool IsDamaged(std::string_view name) { return name.starts_with("cache.corrupt-"); }

bool IsSetAside(std::string_view name) {
  return name.ends_with(".db") && (name.starts_with("cache.v") || IsDamaged(name));
}

// The database goes first: a crash in between leaves a log that nobody opens, and not a database
// that lacks its latest changes.
void RemoveWithWal(const fs::path& file) {
  std::error_code ignored;  // nothing depends on their being gone
  fs::remove(file, ignored);
  fs::remove(file.string() + "-wal", ignored);
  fs::remove(file.string() + "-shm", ignored);
}

uint64_t SizeOf(const fs::path& file) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  return error ? 0 : size;
}

void PruneSetAside(const fs::path& dir) {
  const std::vector<QuarantinedFile> files = ListSetAside(dir);
  for (size_t i = kMaxSetAside; i < files.size(); ++i) {
    RemoveSetAside(files[i]);
  }
}

}  // namespace

Result<std::optional<OwnerLock>> OwnerLock::TryTake(const fs::path& dir) {
  const fs::path path = dir / kLockFile;
  KILN_TRY(Descriptor file, OpenOwnFile(path));
  FileLock lock(file.Release());
  if (!lock.Try()) {
    // Somebody else owns the cache: that is an answer and no error.
    if (errno == EWOULDBLOCK) {
      return std::optional<OwnerLock>();
    }
    return Failed("cannot lock", path, errno);
  }
  if (!lock.WriteHolder() && errno != ENOSPC) {  // on a full disk the lock alone must do
    return Failed("cannot write", path, errno);
  }
  return std::optional(OwnerLock(std::move(lock)));
}

std::optional<pid_t> FindOwner(const fs::path& dir) {
  FileLock lock(::open((dir / kLockFile).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return lock.IsHeld() ? lock.ReadHolder() : std::nullopt;
}

// 0 is no type of a network file system: what cannot be asked is taken for fit, and opening will
// show.
long StatFileSystemType(const fs::path& dir) {
  struct statfs info {};
  return ::statfs(dir.c_str(), &info) == 0 ? static_cast<long>(info.f_type) : 0;
}

// The order is make, resolve, check. Whatever is checked on the resolved path cannot be exchanged
// by somebody else any more, since the folders above belong to this user.
Result<fs::path> PrepareDirectory(const fs::path& dir, const FileSystemType& type_of) {
  std::error_code error;
  if (dir.has_parent_path()) {
    (void)MakeFolders(dir.parent_path().string(), 0700);  // mkdir says what is wrong
  }
  if (::mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST) {
    return Failed("cannot make the cache directory", dir, errno);
  }
  // Links are resolved before the checks, so what is checked is what is used.
  const fs::path real = fs::canonical(dir, error);
  if (error) {
    return Failed("cannot use the cache directory", dir, error.value());
  }
  if (!fs::is_directory(real, error)) {
    return Failed("cannot use the cache directory", dir, ENOTDIR);
  }
  if (const Result<OwnFolder> own = OwnFolder::Open(real.string()); !own.ok()) {
    return NotOwnCache(own.error());
  }
  if (const auto name = NetworkFileSystemName(type_of(real))) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = "the cache directory " + real.string() + " is on " +
                            std::string(*name) +
                            ", where SQLite's WAL does not work; set cache.dir to a local path",
                 .reason = "NETWORK_FILE_SYSTEM"};
  }
  return real;
}

Result<void> CreatePrivateFile(const fs::path& file) {
  // SQLite would open these by name. Each is looked at as the file itself is: a link that somebody
  // else put there leads anywhere.
  for (const char* beside : {"-wal", "-shm"}) {
    const fs::path path = file.string() + beside;
    std::error_code error;
    if (fs::symlink_status(path, error).type() != fs::file_type::not_found) {
      KILN_TRY_VOID(OpenOwnFile(path));
    }
  }
  KILN_TRY_VOID(OpenOwnFile(file));
  return {};
}

// A rename is on disk only when its folder is. Without this a loss of power could bring the old
// file back.
Result<void> SyncDirectory(const fs::path& dir) {
  const Descriptor fd(::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0 || ::fsync(fd.get()) != 0) {
    return Failed("cannot sync", dir, errno);
  }
  return {};
}

Result<void> SetAside(const fs::path& dir, std::string_view name) {
  const fs::path from = dir / "cache.db";
  const fs::path to = dir / (std::string(name) + ".db");
  std::error_code error;
  // A file that was set aside under this name before.
  RemoveWithWal(to);
  fs::remove(from.string() + "-shm", error);
  // The WAL goes first: a new cache.db must never meet the WAL of an old one. So the database stays
  // where its WAL stays.
  const fs::path wal = from.string() + "-wal";
  fs::rename(wal, to.string() + "-wal", error);
  if (error && error != std::errc::no_such_file_or_directory) {
    return Failed("cannot set aside", wal, error.value());
  }
  fs::rename(from, to, error);
  if (error) {
    return Failed("cannot set aside", from, error.value());
  }
  PruneSetAside(dir);
  return SyncDirectory(dir);
}

std::vector<QuarantinedFile> ListSetAside(const fs::path& dir) {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> paths;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    if (IsSetAside(it->path().filename().string())) {
      std::error_code no_time;
      paths.emplace_back(fs::last_write_time(it->path(), no_time), it->path());
    }
  }
  // The newest first, as PruneSetAside keeps the first ones.
  std::ranges::sort(paths, std::greater<>());
  std::vector<QuarantinedFile> files;
  files.reserve(paths.size());
  for (const auto& [time, path] : paths) {
    files.push_back({.path = path,
                     .bytes = SizeOf(path) + SizeOf(path.string() + "-wal"),
                     .damaged = IsDamaged(path.filename().string())});
  }
  return files;
}

void RemoveSetAside(const QuarantinedFile& file) { RemoveWithWal(file.path); }

std::string FreeCorruptName(const fs::path& dir) {
  std::error_code error;
  // It ends: each number that is taken is a file, of which only a few are kept.
  for (int n = 1;; ++n) {
    std::string name = "cache.corrupt-" + std::to_string(n);
    if (!fs::exists(dir / (name + ".db"), error)) {
      return name;
    }
  }
}

}  // namespace kiln::cache::sqlite
