// SPDX-License-Identifier: MIT
#include "compiler/base/file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <sys/stat.h>

namespace kiln {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { (void)std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

bool IsOtherThanAFile(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

// Writes and closes; a full disk may show only then.
Result<void> WriteBytes(const std::string& name, const std::string& path, ByteView bytes) {
  File file(std::fopen(path.c_str(), "wb"));
  if (file == nullptr) {
    return FileError(name, "cannot write", errno);
  }
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  const int write_error = errno;
  const bool closed = std::fclose(file.release()) == 0;
  if (!written || !closed) {
    return FileError(name, "cannot write", written ? errno : write_error);
  }
  return {};
}

}  // namespace

Error FileError(const std::string& path, std::string_view what, int number) {
  const bool full = number == ENOSPC || number == EDQUOT || number == EFBIG;
  return {.code = full               ? ErrorCode::kFull
                  : number == EACCES ? ErrorCode::kPermissionDenied
                                     : ErrorCode::kNotFound,
          .context = std::string(what) + " '" + path + "': " + std::strerror(number) +
                     (full ? "; free space there and repeat" : ""),
          .reason = "FILE"};
}

Result<std::string> ReadFile(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    return FileError(path, "cannot read", EISDIR);
  }
  const File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    return FileError(path, "cannot read", errno);
  }
  std::string text;
  char buffer[65536];
  for (size_t count = 0; (count = std::fread(buffer, 1, sizeof buffer, file.get())) > 0;) {
    text.append(buffer, count);
    if (text.size() > kMaxWholeFile) {
      return Error{.code = ErrorCode::kResourceExhausted,
                   .context = "'" + path + "' exceeds the limit of " +
                              std::to_string(kMaxWholeFile) + " bytes",
                   .reason = "LIMIT_EXCEEDED"};
    }
  }
  if (std::ferror(file.get()) != 0) {
    return FileError(path, "cannot read", errno);
  }
  return text;
}

Result<void> WriteFile(const std::string& path, ByteView bytes) {
  if (IsOtherThanAFile(path)) {
    return WriteBytes(path, path, bytes);  // a pipe or a terminal is not replaced
  }
  const Result<std::string> present = ReadFile(path);
  if (present.ok() && *present == AsText(bytes)) {
    return {};
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;  // the open below says what is wrong
  if (!folder.empty()) {
    std::filesystem::create_directories(folder, ignored);
  }
  const std::string temporary = path + ".part";
  const Result<void> written = WriteBytes(path, temporary, bytes);
  if (!written.ok()) {
    (void)std::remove(temporary.c_str());
    return written.error();
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    return FileError(path, "cannot write", errno);
  }
  return {};
}

}  // namespace kiln
