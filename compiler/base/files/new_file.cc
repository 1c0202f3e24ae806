// SPDX-License-Identifier: MIT
#include "compiler/base/files/new_file.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>
#include <utility>

#include <fmt/core.h>

#include "compiler/base/files/file.h"

namespace kiln {
namespace {

// Names of 64 random bits do not meet by chance; that many failures mean that somebody makes them
// on purpose, or that the system has no randomness.
constexpr int kTries = 100;

// Beside `name`; short, so that no name is too long for it.
std::string TemporaryFor(const std::string& name) {
  uint64_t random = 0;
  (void)!::getrandom(&random, sizeof random, 0);
  const size_t slash = name.rfind('/');
  return fmt::format("{}.kiln-{:016x}",
                     slash == std::string::npos ? std::string() : name.substr(0, slash + 1),
                     random);
}

}  // namespace

// O_EXCL and O_NOFOLLOW: a file or link that somebody else put at the guessed name is never written
// through. The final name is untouched until Publish.
Result<NewFile> NewFile::Create(int folder, const std::string& name, const std::string& shown,
                                mode_t mode) {
  for (int i = 0; i < kTries; ++i) {
    std::string temporary = TemporaryFor(name);
    const int file = ::openat(folder, temporary.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (file >= 0) {
      return NewFile(folder, name, std::move(temporary), shown, file);
    }
    if (errno != EEXIST) {
      break;
    }
  }
  return FileError(shown, "cannot write", errno);
}

NewFile::NewFile(NewFile&& other) noexcept
    : folder_(other.folder_),
      name_(std::move(other.name_)),
      temporary_(std::move(other.temporary_)),
      shown_(std::move(other.shown_)),
      file_(std::exchange(other.file_, -1)) {}

// Not published, for whatever reason: nothing is left behind.
NewFile::~NewFile() {
  if (file_ >= 0) {
    (void)::close(file_);
    (void)::unlinkat(folder_, temporary_.c_str(), 0);
  }
}

Result<void> NewFile::Write(ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return FileError(shown_, "cannot write", count == 0 ? EIO : errno);
    }
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return {};
}

Result<void> NewFile::MakeLike(const struct stat& other) {
  constexpr mode_t kModeBits = 0777;  // nothing that runs as somebody else
  // The owner first: giving a file away clears bits of its mode. It stays this user's if he may
  // not.
  (void)!::fchown(file_, other.st_uid, other.st_gid);
  return ::fchmod(file_, other.st_mode & kModeBits) == 0 ? Result<void>()
                                                         : FileError(shown_, "cannot write", errno);
}

Result<void> NewFile::Publish() {
  // Renaming is atomic: readers see the old file or the new one, whole. Nothing is synchronised to
  // the disk here.
  if (::renameat(folder_, temporary_.c_str(), folder_, name_.c_str()) != 0) {
    return FileError(shown_, "cannot write", errno);
  }
  // A full disk of another machine may show only here.
  return ::close(std::exchange(file_, -1)) == 0 ? Result<void>()
                                                : FileError(shown_, "cannot write", errno);
}

}  // namespace kiln
