// SPDX-License-Identifier: MIT
#include "compiler/base/files/file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/base/files/new_file.h"
#include "compiler/base/files/own_folder.h"

namespace kiln {
namespace {

// Large enough that system calls do not show, small enough to be taken from the heap at once.
constexpr size_t kReadAtOnce = size_t{64} << 10;
constexpr mode_t kFolderMode = 0755;

// Reading a pipe could block for ever, and reading a device could act on it.
Error NoFile(const std::string& path) {
  return {.code = ErrorCode::kInvalidArgument,
          .context = "cannot read '" + path + "': it is a pipe, a device or a socket, not a file",
          .reason = "FILE"};
}

Error TooLarge(const std::string& path, size_t most) {
  return {.code = ErrorCode::kResourceExhausted,
          .context = "'" + path + "' exceeds the limit of " + std::to_string(most) + " bytes",
          .reason = "LIMIT_EXCEEDED"};
}

// False for what is not there: it is made as a file.
bool IsOtherThanAFile(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

// To a device, or a pipe that somebody has open to read: one that nobody reads is an error at once.
Result<void> WriteThrough(const std::string& path, ByteView bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (file < 0) {
    return FileError(path, "cannot write", errno);
  }
  const int flags = ::fcntl(file, F_GETFL);
  (void)::fcntl(file, F_SETFL, flags & ~O_NONBLOCK);  // a slow reader is waited for
  int error = 0;
  while (!bytes.empty() && error == 0) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    error = count < 0 && errno != EINTR ? errno : 0;
    bytes = bytes.subspan(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  }
  (void)::close(file);
  return error == 0 ? Result<void>() : FileError(path, "cannot write", error);
}

// Of an open file. `text` has what was read; gives an errno, or 0.
// Does not trust the size that the system names: files of /proc say 0, others grow while they are
// read. One byte more than `most` is asked for, which tells "too large" from "just fits".
int ReadAll(int file, size_t most, std::string& text) {
  for (;;) {
    const size_t at = text.size();
    text.resize(at + std::min(kReadAtOnce, most + 1 - at));
    const ssize_t count = ::read(file, text.data() + at, text.size() - at);
    const int error = count < 0 ? errno : 0;
    text.resize(at + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0 || text.size() > most || (error != 0 && error != EINTR)) {
      return error;
    }
  }
}

}  // namespace

Error FileError(const std::string& path, std::string_view what, int number) {
  // A full disk has a code of its own: it is the one failure that passes without anybody changing
  // the command.
  const bool full = number == ENOSPC || number == EDQUOT || number == EFBIG;
  return {.code = full               ? ErrorCode::kFull
                  : number == EACCES ? ErrorCode::kPermissionDenied
                                     : ErrorCode::kNotFound,
          .context = std::string(what) + " '" + path + "': " + std::strerror(number) +
                     (full ? "; free space there and repeat" : ""),
          .reason = "FILE"};
}

// The folder and other than files are told by what is open and not by the path, which could have
// changed. O_NONBLOCK keeps the open itself from waiting for a writer of a pipe.
Result<std::string> ReadFile(const std::string& path, size_t most) {
  // O_NOCTTY: a terminal that is named as a source must not become the terminal of the process.
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (file < 0) {
    return errno == ENXIO ? NoFile(path) : FileError(path, "cannot read", errno);  // a socket
  }
  struct stat status {};
  int error = ::fstat(file, &status) == 0 ? 0 : errno;
  error = error == 0 && S_ISDIR(status.st_mode) ? EISDIR : error;
  const bool regular = S_ISREG(status.st_mode);
  std::string text;
  bool large = error == 0 && regular && static_cast<uint64_t>(status.st_size) > most;
  if (error == 0 && regular && !large) {
    text.reserve(static_cast<size_t>(status.st_size) + 1);  // files of /proc say 0
    error = ReadAll(file, most, text);
    large = error == 0 && text.size() > most;
  }
  (void)::close(file);
  if (error != 0) {
    return FileError(path, "cannot read", error);
  }
  if (!regular) {
    return NoFile(path);
  }
  return large ? Result<std::string>(TooLarge(path, most)) : Result<std::string>(std::move(text));
}

// All or nothing: a file is written beside its place and renamed, so a reader sees the old bytes or
// the new ones.
Result<void> WriteFile(const std::string& path, ByteView bytes) {
  if (IsOtherThanAFile(path)) {
    return WriteThrough(path, bytes);  // a pipe or a terminal is not replaced
  }
  // An output that has not changed keeps its time: what depends on it is not built again.
  const Result<std::string> present = ReadFile(path, bytes.size());
  if (present.ok() && *present == AsText(bytes)) {
    return {};
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) {
    (void)MakeFolders(folder.string(), kFolderMode);  // what follows says what is wrong
  }
  KILN_TRY(NewFile file, NewFile::Create(AT_FDCWD, path, path));
  KILN_TRY_VOID(file.Write(bytes));
  return file.Publish();
}

}  // namespace kiln
