// SPDX-License-Identifier: MIT
// A file that is read through memory. Pages come from the disk when they are touched, so opening a
// large pack costs nothing but its index. A file that is cut off while it is mapped raises SIGBUS
// at the next touch; packs are replaced by rename and never changed in place.
#include "cache/pack/mapped_file.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/base/files/file.h"

namespace kiln::pack {
namespace {

Error ReadError(const std::string& path, int number) {
  return FileError(path, "cannot read", number);
}

Result<ByteView> Map(const std::string& path, int file) {
  struct stat status {};
  if (::fstat(file, &status) != 0) {
    return ReadError(path, errno);
  }
  // A pipe or a device has no size to map. O_NONBLOCK keeps the open of a pipe from waiting for its
  // other end.
  if (!S_ISREG(status.st_mode)) {
    return ReadError(path, S_ISDIR(status.st_mode) ? EISDIR : EINVAL);
  }
  // mmap refuses a length of zero.
  if (status.st_size == 0) {
    return ByteView();
  }
  const auto size = static_cast<size_t>(status.st_size);
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (memory == MAP_FAILED) {
    return ReadError(path, errno);
  }
  return ByteView(static_cast<const std::byte*>(memory), size);
}

}  // namespace

Result<MappedFile> MappedFile::Open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    return ReadError(path, errno);
  }
  Result<ByteView> bytes = Map(path, file);
  // The mapping holds the file by itself.
  (void)::close(file);
  if (!bytes.ok()) {
    return std::move(bytes).error();
  }
  return MappedFile(*bytes);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) {
    (void)::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
}

}  // namespace kiln::pack
