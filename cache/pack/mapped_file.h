// SPDX-License-Identifier: MIT
// A file as read-only memory.
#pragma once

#include <string>
#include <utility>

#include "compiler/base/bytes.h"
#include "compiler/base/result.h"

namespace kiln::pack {

// Move only. The bytes live as long as the object and do not move with it.
class MappedFile {
 public:
  // Errors: kNotFound or kPermissionDenied with reason FILE, naming the file and why.
  static Result<MappedFile> Open(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&&) = delete;

  ByteView bytes() const { return bytes_; }

 private:
  explicit MappedFile(ByteView bytes) : bytes_(bytes) {}

  ByteView bytes_;
};

}  // namespace kiln::pack
