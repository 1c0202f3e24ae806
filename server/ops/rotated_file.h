// SPDX-License-Identifier: MIT
// Lines appended to a file of mode 0600; when it is full it becomes FILE.1, that one FILE.2, and
// the oldest goes. See spec/daemon 11.7, 13.4
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "compiler/base/result.h"

namespace kiln::ops {

class RotatedFile {
 public:
  struct Limits {
    uint64_t max_bytes = uint64_t{64} << 20;  // of one file
    uint32_t files = 8;
  };

  // Makes the folder, which must not be reached through a link below its parent. Errors: FileError.
  static Result<std::unique_ptr<RotatedFile>> Open(const std::string& path, const Limits& limits);
  ~RotatedFile();
  RotatedFile(const RotatedFile&) = delete;
  RotatedFile& operator=(const RotatedFile&) = delete;

  // Whole, or an error. A file that could not be written is opened again the next time.
  Result<void> Append(std::string_view text);
  std::string path() const { return folder_ + "/" + name_; }

 private:
  RotatedFile(std::string folder, std::string name, const Limits& limits)
      : folder_(std::move(folder)), name_(std::move(name)), limits_(limits) {}
  Result<void> OpenFile();
  void Rotate();

  const std::string folder_, name_;
  const Limits limits_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

}  // namespace kiln::ops
