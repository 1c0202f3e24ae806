// SPDX-License-Identifier: MIT
#include "runtime/pipeline/cache_files.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compiler/base/files/descriptor.h"
#include "compiler/base/files/file_lock.h"
#include "compiler/base/files/own_folder.h"

namespace kiln::runtime {
namespace {

namespace fs = std::filesystem;

// A full disk is told apart from other faults, because whoever writes the cache can make room and
// go on.
Error Failed(std::string_view what, const std::string& path, int number) {
  const bool full = number == ENOSPC || number == EDQUOT || number == EFBIG;
  // Of a file that must be new, this says that another process writes it.
  return {number == EEXIST ? ErrorCode::kAlreadyExists
          : full           ? ErrorCode::kResourceExhausted
                           : ErrorCode::kUnavailable,
          fmt::format("cannot {} {}: {}", what, path, std::strerror(number)), ""};
}

// Caches hold code that the driver runs, so files of other users are not read, and links are not
// followed: both would let somebody else decide what runs.
class RealFiles final : public CacheFiles {
 public:
  Result<void> MakeFolder(const std::string& path) override {
    const Result<OwnFolder> folder = OwnFolder::Make(path);
    return folder.ok() ? Result<void>() : Result<void>(folder.error());
  }

  Result<std::optional<Bytes>> Read(const std::string& path, uint64_t limit) override {
    // O_NONBLOCK matters for a pipe in the place of the file: opening it would wait for a writer.
    // For regular files it changes nothing.
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file.get() < 0) {
      if (errno == ENOENT) {
        return std::optional<Bytes>();
      }
      return Failed("open", path, errno);
    }
    // The checks ask the open file and not the path, so nothing can be exchanged between check and
    // use.
    struct stat info {};
    if (fstat(file.get(), &info) != 0) {
      return Failed("look at", path, errno);
    }
    // Group and others must not be able to write the file, or they could put code into it.
    if (!S_ISREG(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & 022) != 0) {
      return Error{ErrorCode::kPermissionDenied,
                   fmt::format("{} is not a file that only this user can write", path), ""};
    }
    const auto size = static_cast<uint64_t>(info.st_size);
    // The size comes from a file that may be damaged, and memory is taken only below the limit.
    if (size > limit) {
      return Error{ErrorCode::kResourceExhausted,
                   fmt::format("{} has {} bytes, at most {} are read", path, size, limit), ""};
    }
    Bytes bytes(size);
    for (size_t at = 0; at < bytes.size();) {
      const ssize_t got = read(file.get(), bytes.data() + at, bytes.size() - at);
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got <= 0) {
        // A file that became shorter meanwhile is an error and no short result.
        return Failed("read", path, got == 0 ? EIO : errno);
      }
      at += static_cast<size_t>(got);
    }
    return std::optional<Bytes>(std::move(bytes));
  }

  // O_EXCL: a file of this name is somebody else's work, and it is not overwritten. Synchronised
  // before it is renamed, because otherwise the name could reach the disk before the content.
  Result<void> WriteNew(const std::string& path, ByteView bytes) override {
    const Descriptor file(
        open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file.get() < 0) {
      return Failed("make", path, errno);
    }
    for (size_t at = 0; at < bytes.size();) {
      const ssize_t put = write(file.get(), bytes.data() + at, bytes.size() - at);
      if (put < 0 && errno == EINTR) {
        continue;
      }
      if (put < 0) {
        return Failed("write", path, errno);
      }
      at += static_cast<size_t>(put);
    }
    if (fsync(file.get()) != 0) {
      return Failed("write", path, errno);
    }
    return {};
  }

  Result<void> Rename(const std::string& from, const std::string& to) override {
    if (rename(from.c_str(), to.c_str()) != 0) {
      return Failed("rename", from, errno);
    }
    return {};
  }

  // A rename is durable when the folder is.
  Result<void> SyncFolder(const std::string& path) override {
    const Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() < 0 || fsync(folder.get()) != 0) {
      return Failed("write", path, errno);
    }
    return {};
  }

  Result<void> Remove(const std::string& path) override {
    if (unlink(path.c_str()) != 0 && errno != ENOENT) {
      return Failed("remove", path, errno);
    }
    return {};
  }

  Result<std::shared_ptr<void>> Lock(const std::string& path) override {
    auto lock = std::make_shared<FileLock>(
        open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    // The lock waits: without its turn a process would lose what it has built.
    if (lock->file() < 0 || !lock->Wait()) {
      return Failed("lock", path, errno);
    }
    return std::shared_ptr<void>(std::move(lock));
  }

  // Best effort: faults are ignored, as another process may remove the same files. Old ones all go
  // at once when the limit is passed, which happens rarely and then gives room for long.
  void RemoveOld(const std::string& folder, const std::string& suffix, uint64_t limit,
                 uint32_t days) override {
    const auto oldest = fs::file_time_type::clock::now() - std::chrono::hours(24) * days;
    std::error_code error;
    std::vector<fs::path> old;
    uint64_t bytes = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().extension() != suffix) {
        continue;
      }
      bytes += entry.file_size(error);
      // A file that has just vanished gives the earliest time, and removing it then does nothing.
      if (entry.last_write_time(error) < oldest) {
        old.push_back(entry.path());
      }
    }
    for (const fs::path& path : old) {
      if (bytes > limit) {
        fs::remove(path, error);
      }
    }
  }
};

}  // namespace

CacheFiles& SystemCacheFiles() {
  static RealFiles files;
  return files;
}

std::string DefaultCacheFolder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  // The XDG rules ask for absolute paths and for ignoring others.
  if (cache != nullptr && *cache == '/') {
    return std::string(cache) + "/kiln/pso";
  }
  const char* const home = std::getenv("HOME");
  // Without a home there is no folder; an empty text turns the cache off.
  return home == nullptr || *home != '/' ? "" : std::string(home) + "/.cache/kiln/pso";
}

}  // namespace kiln::runtime
