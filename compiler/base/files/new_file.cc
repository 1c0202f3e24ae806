// SPDX-License-Identifier: MIT
#include "compiler/base/files/new_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/core.h>

#include "compiler/base/files/file.h"

namespace kiln {
namespace {

// Names of 64 random bits do not meet by chance; that many failures mean that somebody makes them
// on purpose, or that the system has no randomness.
constexpr int kTries = 100;
constexpr size_t kCopyBytes = size_t{1} << 20;

// Beside `name`; short, so that no name is too long for it.
std::string TemporaryFor(const std::string& name) {
  uint64_t random = 0;
  (void)!::getrandom(&random, sizeof random, 0);
  const size_t slash = name.rfind('/');
  return fmt::format("{}.kiln-{:016x}",
                     slash == std::string::npos ? std::string() : name.substr(0, slash + 1),
                     random);
}

// A name without a folder means the current one.
std::string FolderOf(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

// What gives a file without a name one (Link).
std::string NameOfOpen(int file) { return fmt::format("/proc/self/fd/{}", file); }

// In the folder of `name`; negative where there is none that could be given a name.
int OpenNameless(int folder, const std::string& name, mode_t mode) {
  const int file = ::openat(folder, FolderOf(name).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
  if (file >= 0 && ::access(NameOfOpen(file).c_str(), F_OK) != 0) {
    (void)::close(file);
    return -1;
  }
  return file;
}

}  // namespace

// A file without a name vanishes with the process, so a writer that is killed leaves nothing
// behind. Some file systems cannot make one; there, and where it could not be given a name later
// (Link), O_EXCL and O_NOFOLLOW keep a file or link that somebody else put at the guessed name from
// being written through, and the destructor removes it. The final name is untouched until Publish.
Result<NewFile> NewFile::Create(int folder, const std::string& name, const std::string& shown,
                                mode_t mode) {
  const int nameless = OpenNameless(folder, name, mode);
  if (nameless >= 0) {
    return NewFile(folder, name, {}, shown, nameless, Kind::kUsual);
  }
  for (int i = 0; i < kTries; ++i) {
    std::string temporary = TemporaryFor(name);
    const int file = ::openat(folder, temporary.c_str(),
                              O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (file >= 0) {
      return NewFile(folder, name, std::move(temporary), shown, file, Kind::kUsual);
    }
    if (errno != EEXIST) {
      break;
    }
  }
  return FileError(shown, "cannot write", errno);
}

Result<NewFile> NewFile::CreateDurable(const std::string& path, mode_t mode) {
  Result<NewFile> file = Create(AT_FDCWD, path, path, mode);
  if (file.ok()) {
    file->kind_ = Kind::kDurable;
    // Whoever may enter the folder may read the file, also if the umask of its writer says no.
    if (::fchmod(file->file_, mode) != 0) {
      return file->WriteError();
    }
  }
  return file;
}

NewFile::NewFile(NewFile&& other) noexcept
    : folder_(other.folder_),
      name_(std::move(other.name_)),
      temporary_(std::move(other.temporary_)),
      shown_(std::move(other.shown_)),
      file_(std::exchange(other.file_, -1)),
      kind_(other.kind_),
      size_(other.size_) {}

// Not published, for whatever reason: nothing is left behind.
NewFile::~NewFile() {
  if (file_ >= 0) {
    (void)::close(file_);
    (void)(temporary_.empty() ? 0 : ::unlinkat(folder_, temporary_.c_str(), 0));
  }
}

Error NewFile::WriteError() const {
  return FileError(shown_, "cannot write", errno == 0 ? EIO : errno);
}

std::string NewFile::ReadableAs() const { return NameOfOpen(file_); }

// A write may take a part of the bytes only, and a signal may stop it in between.
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
    size_ += static_cast<uint64_t>(count);
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

// Read by position, so the other file may go on.
Result<void> NewFile::Append(const NewFile& other) {
  Bytes buffer(std::min<uint64_t>(kCopyBytes, other.size_));
  for (uint64_t at = 0; at < other.size_;) {
    const ssize_t count =
        ::pread(other.file_, buffer.data(), buffer.size(), static_cast<off_t>(at));
    if (count <= 0) {
      return other.WriteError();
    }
    KILN_TRY_VOID(Write(ByteView(buffer).first(static_cast<size_t>(count))));
    at += static_cast<uint64_t>(count);
  }
  return {};
}

// A link replaces nothing, a rename does: so the file gets a name of its own first, which nobody
// can foresee. Until now it had none, so a process that died before left nothing behind.
Result<void> NewFile::Link() {
  for (int i = 0; i < kTries; ++i) {
    std::string name = TemporaryFor(name_);
    if (::linkat(AT_FDCWD, ReadableAs().c_str(), folder_, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = std::move(name);
      return {};
    }
    if (errno != EEXIST) {
      break;
    }
  }
  return WriteError();
}

Result<void> NewFile::SyncFolder() const {
  const int folder = ::openat(folder_, FolderOf(name_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = folder >= 0 && ::fsync(folder) == 0;
  const Result<void> result = synced ? Result<void>() : WriteError();
  (void)(folder >= 0 ? ::close(folder) : 0);
  return result;
}

// Renaming is atomic: at any moment the name is that of the old file or of the new one, whole. The
// order makes a crash harmless to durable ones: bytes on disk, then the name, then the folder that
// has the name. Of the others nothing is synchronised here.
Result<void> NewFile::Publish() {
  const bool durable = kind_ == Kind::kDurable;
  if (durable && ::fsync(file_) != 0) {
    return WriteError();
  }
  if (temporary_.empty()) {
    KILN_TRY_VOID(Link());
  }
  if (::renameat(folder_, temporary_.c_str(), folder_, name_.c_str()) != 0) {
    return FileError(shown_, "cannot write", errno);
  }
  // A full disk of another machine may show only here. The destructor must not remove what has its
  // name now.
  if (::close(std::exchange(file_, -1)) != 0) {
    return FileError(shown_, "cannot write", errno);
  }
  return durable ? SyncFolder() : Result<void>();
}

}  // namespace kiln
