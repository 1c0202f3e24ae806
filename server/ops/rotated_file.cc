// SPDX-License-Identifier: MIT
#include "server/ops/rotated_file.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "compiler/base/files/beneath.h"
#include "compiler/base/files/file.h"
#include "compiler/base/files/own_folder.h"

namespace kiln::ops {

Result<std::unique_ptr<RotatedFile>> RotatedFile::Open(const std::string& path,
                                                       const Limits& limits) {
  const std::filesystem::path file(path);
  const std::string folder = file.has_parent_path() ? file.parent_path().string() : ".";
  (void)MakeFolders(folder, 0700);  // the open says what is wrong
  std::unique_ptr<RotatedFile> opened(new RotatedFile(folder, file.filename().string(), limits));
  KILN_TRY_VOID(opened->OpenFile());
  return Result<std::unique_ptr<RotatedFile>>(std::move(opened));
}

RotatedFile::~RotatedFile() {
  if (fd_ >= 0) {
    (void)close(fd_);
  }
}

Result<void> RotatedFile::OpenFile() {
  // No link below the folder is followed, and O_NONBLOCK keeps a pipe that somebody put there from
  // holding the daemon up. See spec/daemon 11.6
  KILN_TRY(fd_, OpenBeneath(folder_, name_, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0600));
  struct stat status {};
  // A second name would let another file of this user be written through this one, and a file of
  // somebody else can be read by him whatever the mode.
  if (fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
      status.st_nlink != 1) {
    (void)close(std::exchange(fd_, -1));
    return Error{.code = ErrorCode::kPermissionDenied,
                 .context = "'" + path() + "' is no regular file of this user with one name",
                 .reason = kNotOwn};
  }
  size_ = static_cast<uint64_t>(status.st_size);
  (void)fchmod(fd_, 0600);
  return {};
}

void RotatedFile::Rotate() {
  const auto name = [this](uint32_t age) {
    return path() + (age == 0 ? std::string() : "." + std::to_string(age));
  };
  // From the oldest on, each takes the name of the one before it; the last one is overwritten. A
  // crash in the middle leaves a gap in the numbers and loses no file but that one.
  for (uint32_t age = limits_.files - 1; age > 0; --age) {
    (void)rename(name(age - 1).c_str(), name(age).c_str());
  }
  (void)close(fd_);
  fd_ = -1;
}

Result<void> RotatedFile::Append(std::string_view text) {
  // Lines are never cut in two: a file is full when the next one does not fit. A line that is
  // longer than a file has one for itself.
  if (fd_ >= 0 && size_ + text.size() > limits_.max_bytes && size_ != 0) {
    Rotate();
  }
  if (fd_ < 0) {
    KILN_TRY_VOID(OpenFile());
  }
  if (write(fd_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return FileError(path(), "cannot write", errno);
  }
  size_ += text.size();
  return {};
}

}  // namespace kiln::ops
