// SPDX-License-Identifier: MIT
// A file that appears whole or not at all: a file without a name in the same folder, fsync, then
// its name, fsync of the folder. Of a process that was killed before nothing is left; where a file
// system has no files without a name (O_TMPFILE), a temporary one is. See spec/cache 10.8
#pragma once

#include <string>

#include "compiler/base/bytes.h"
#include "compiler/base/result.h"

namespace kiln::pack {

// One thread. A file that was not published is removed.
class FileWriter {
 public:
  // Errors: naming the file and why; here and below.
  static Result<FileWriter> Create(const std::string& path);
  ~FileWriter();
  FileWriter(FileWriter&& other) noexcept;
  FileWriter& operator=(FileWriter&&) = delete;

  Result<void> Write(ByteView bytes);
  uint64_t size() const { return size_; }
  // Appends what another, unpublished writer has.
  Result<void> Append(const FileWriter& other);
  Result<void> Publish();
  // What opens the file for reading before it is published, in this process and while this lives.
  std::string ReadableAs() const;

 private:
  // Gives a file without a name one that nobody else has, beside its place.
  Result<void> Link();

  FileWriter(std::string path, std::string temporary, int file)
      : path_(std::move(path)), temporary_(std::move(temporary)), file_(file) {}

  std::string path_;
  std::string temporary_;  // empty: the file has no name yet
  int file_ = -1;
  uint64_t size_ = 0;
};

}  // namespace kiln::pack
