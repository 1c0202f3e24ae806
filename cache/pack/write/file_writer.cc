// SPDX-License-Identifier: MIT
// Writes a file that appears under its name all at once, or not at all. One thread uses a writer.
#include "cache/pack/write/file_writer.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/files/file.h"

namespace kiln::pack {
namespace {

constexpr size_t kCopyBytes = size_t{1} << 20;
// Names are random, so a second try is rare and a hundredth a sign of something else.
constexpr int kTries = 100;

Error WriteError(const std::string& path) {
  const int number = errno == 0 ? EIO : errno;
  Error error = FileError(path, "cannot write", number);
  if (number == ENOSPC) {
    error.code = ErrorCode::kFull;
  }
  return error;
}

// A name without a folder means the current one.
std::string FolderOf(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

}  // namespace

Result<FileWriter> FileWriter::Create(const std::string& path) {
  std::string temporary;
  // A file without a name vanishes with the process, so a writer that is killed leaves nothing
  // behind. Some file systems cannot make one; there a file with a name is removed by the
  // destructor.
  int file = ::open(FolderOf(path).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0644);
  if (file < 0) {
    temporary = path + ".XXXXXX";
    file = ::mkostemp(temporary.data(), O_CLOEXEC);
  }
  // mkostemp makes files that only the owner may read; a pack is for whoever may enter its folder.
  if (file < 0 || ::fchmod(file, 0644) != 0) {
    const Error error = WriteError(path);
    (void)(file < 0 ? 0 : ::close(file));
    return error;
  }
  return FileWriter(path, std::move(temporary), file);
}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      file_(std::exchange(other.file_, -1)),
      size_(other.size_) {}

FileWriter::~FileWriter() {
  if (file_ >= 0) {
    (void)::close(file_);
    (void)(temporary_.empty() ? 0 : ::unlink(temporary_.c_str()));
  }
}

std::string FileWriter::ReadableAs() const { return fmt::format("/proc/self/fd/{}", file_); }

// A link replaces nothing, a rename does: so the file gets a name of its own first, which nobody
// can foresee. Until now it had none, so a process that died before left nothing behind.
Result<void> FileWriter::Link() {
  for (int i = 0; i < kTries; ++i) {
    uint64_t random = 0;
    (void)!::getrandom(&random, sizeof random, 0);
    std::string name = fmt::format("{}.{:016x}", path_, random);
    if (::linkat(AT_FDCWD, ReadableAs().c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = std::move(name);
      return {};
    }
    if (errno != EEXIST) {
      break;
    }
  }
  return WriteError(path_);
}

// A write may take a part of the bytes only, and a signal may stop it in between.
Result<void> FileWriter::Write(ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return WriteError(path_);
    }
    bytes = bytes.subspan(static_cast<size_t>(count));
    size_ += static_cast<uint64_t>(count);
  }
  return {};
}

// Read by position, so the other writer may go on.
Result<void> FileWriter::Append(const FileWriter& other) {
  Bytes buffer(std::min<uint64_t>(kCopyBytes, other.size_));
  for (uint64_t at = 0; at < other.size_;) {
    const ssize_t count =
        ::pread(other.file_, buffer.data(), buffer.size(), static_cast<off_t>(at));
    if (count <= 0) {
      return WriteError(other.path_);
    }
    KILN_TRY_VOID(Write(ByteView(buffer).first(static_cast<size_t>(count))));
    at += static_cast<uint64_t>(count);
  }
  return {};
}

// The order makes a crash harmless: bytes on disk, then the name, then the folder that has the
// name. At any moment the path names the old file or the whole new one.
Result<void> FileWriter::Publish() {
  if (::fsync(file_) != 0) {
    return WriteError(path_);
  }
  if (temporary_.empty()) {
    KILN_TRY_VOID(Link());
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return WriteError(path_);
  }
  // The file has its final name now; the destructor must not remove it.
  (void)::close(std::exchange(file_, -1));
  const int directory = ::open(FolderOf(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = directory >= 0 && ::fsync(directory) == 0;
  if (directory >= 0) {
    (void)::close(directory);
  }
  return synced ? Result<void>() : WriteError(path_);
}

}  // namespace kiln::pack
