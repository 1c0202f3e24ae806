// SPDX-License-Identifier: MIT
#include "compiler/base/files/own_folder.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/core.h>

#include "compiler/base/files/file.h"

namespace kiln {
namespace {

// Of the group or of all. Whoever may write into a folder may replace what lies in it, and what is
// read from it is run or trusted.
constexpr mode_t kWritableByOthers = 022;

Error NotOwn(const std::string& path, std::string_view what) {
  return {.code = ErrorCode::kPermissionDenied,
          .context = fmt::format("'{}' {}", path, what),
          .reason = kNotOwn};
}

std::string OfAnother(uid_t owner) {
  return fmt::format("belongs to user {}, not to user {}", owner, ::geteuid());
}

// Without what would make a link at its end be followed: "a/link/." and "a/link/" are "a/link".
std::string WithoutEnd(std::string path) {
  while (path.size() > 1 && (path.ends_with('/') || path.ends_with("/."))) {
    path.pop_back();
  }
  return path.empty() ? "." : path;
}

}  // namespace

// Checks the folder itself; who may replace one of the folders above it is not asked.
Result<OwnFolder> OwnFolder::Open(const std::string& path) {
  const std::string bare = WithoutEnd(path);
  // Everything is asked of the open folder and not of its path, which could name another one by the
  // next call.
  const int folder = ::open(bare.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0 && (errno == ENOTDIR || errno == ELOOP)) {
    return NotOwn(path, "is a link or no folder");
  }
  if (folder < 0) {
    return FileError(path, "cannot open", errno);
  }
  struct stat found {};
  const bool seen = ::fstat(folder, &found) == 0;
  // Made before the checks, so that each way out closes the descriptor.
  OwnFolder opened(bare, folder, found.st_mode & 0777);
  if (!seen) {
    return FileError(path, "cannot look at", errno);
  }
  if (found.st_uid != ::geteuid()) {
    return NotOwn(path, OfAnother(found.st_uid));
  }
  // The message names the command that mends it: the folder is often made by another program, with
  // a loose umask.
  if ((found.st_mode & kWritableByOthers) != 0) {
    return NotOwn(path, fmt::format("may be written by others (mode {:04o}); chmod go-w would make "
                                    "it yours alone",
                                    found.st_mode & 07777));
  }
  return opened;
}

// The mode is that of folders that are made now; one that was there is checked like any other.
Result<OwnFolder> OwnFolder::Make(const std::string& path) {
  KILN_TRY_VOID(MakeFolders(path, 0700));
  return Open(path);
}

OwnFolder::OwnFolder(OwnFolder&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      mode_(other.mode_) {}

OwnFolder::~OwnFolder() {
  if (descriptor_ >= 0) {
    (void)::close(descriptor_);
  }
}

// On the open folder, by ".", since a descriptor of O_PATH cannot be changed itself.
Result<void> OwnFolder::SetMode(mode_t mode) {
  if (::fchmodat(descriptor_, ".", mode, 0) != 0) {
    return FileError(path_, "cannot set the mode of", errno);
  }
  mode_ = mode;
  return {};
}

// The file is checked after it was opened, since what a name means may change before that. The
// caller closes it.
Result<int> OwnFolder::OpenFile(const std::string& name, int flags) const {
  const std::string path = path_ + "/" + name;
  // O_NOFOLLOW looks at the last part of a path only, so there must be no other.
  if (name.find('/') != std::string::npos) {
    return NotOwn(path, "is not directly in its folder");
  }
  // O_NONBLOCK keeps a planted pipe from holding the process up.
  constexpr int kAlways = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
  const int file = ::openat(descriptor_, name.c_str(), flags | kAlways, 0600);
  if (file < 0 && (errno == ELOOP || errno == ENXIO)) {
    return NotOwn(path, "is no regular file");
  }
  if (file < 0) {
    return FileError(path, "cannot open", errno);
  }
  struct stat found {};
  const bool seen = ::fstat(file, &found) == 0;
  // More than one name means that somebody linked a file of this user into the folder to have it
  // overwritten or read.
  const std::string wrong = !seen || !S_ISREG(found.st_mode) ? "is no regular file"
                            : found.st_uid != ::geteuid()    ? OfAnother(found.st_uid)
                            : found.st_nlink != 1            ? "has another name elsewhere"
                            : (found.st_mode & kWritableByOthers) != 0 ? "may be written by others"
                                                                       : "";
  if (!wrong.empty()) {
    (void)::close(file);
    return NotOwn(path, wrong);
  }
  return file;
}

// Nothing is checked of the folders that are there; Open looks at the last one.
Result<void> MakeFolders(const std::string& path, mode_t mode) {
  const std::string bare = WithoutEnd(path);
  // From the top down; what is there already is left as it is, its mode included.
  for (size_t slash = bare.find('/', 1);; slash = bare.find('/', slash + 1)) {
    const std::string folder = bare.substr(0, slash);
    if (::mkdir(folder.c_str(), mode) != 0 && errno != EEXIST) {
      const int error = errno;
      struct stat found {};
      if (::stat(folder.c_str(), &found) != 0) {  // of a file system that cannot be written
        return FileError(folder, "cannot make the folder", error);
      }
    }
    if (slash == std::string::npos) {
      return {};
    }
  }
}

}  // namespace kiln
