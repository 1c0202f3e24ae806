// SPDX-License-Identifier: MIT
#include "cache/pack/file_writer.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "compiler/base/file.h"

namespace kiln::pack {
namespace {

constexpr size_t kCopyBytes = size_t{1} << 20;

Error WriteError(const std::string& path) {
  const int number = errno == 0 ? EIO : errno;
  Error error = FileError(path, "cannot write", number);
  if (number == ENOSPC) {
    error.code = ErrorCode::kFull;
  }
  return error;
}

}  // namespace

Result<FileWriter> FileWriter::Create(const std::string& path) {
  std::string temporary = path + ".XXXXXX";
  const int file = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0 || ::fchmod(file, 0644) != 0) {
    return WriteError(path);
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
    (void)::unlink(temporary_.c_str());
  }
}

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

Result<void> FileWriter::Publish() {
  if (::fsync(file_) != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return WriteError(path_);
  }
  (void)::close(std::exchange(file_, -1));
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  const int directory =
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = directory >= 0 && ::fsync(directory) == 0;
  if (directory >= 0) {
    (void)::close(directory);
  }
  return synced ? Result<void>() : WriteError(path_);
}

}  // namespace kiln::pack
