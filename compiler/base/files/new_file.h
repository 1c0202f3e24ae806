// SPDX-License-Identifier: MIT
// A file that appears whole or not at all: it has no name, or one that nobody else has, until it
// gets its own in the end. Two that are written at once do not meet; the last one stays. A durable
// one is also on the disk when it has its name (spec/cache 10.8).
#pragma once

#include <cstdint>
#include <string>
#include <sys/stat.h>
#include <sys/types.h>
#include <utility>

#include "compiler/base/bytes.h"
#include "compiler/base/result.h"

namespace kiln {

inline constexpr mode_t kOutputMode = 0644;  // less what the umask takes: never written by others

// One thread. A file that was not published is removed. Until then it has no name at all, so that a
// process that is killed leaves nothing; only where a file system has no such files (O_TMPFILE), or
// /proc is not there, it is `.kiln-` and 16 digits in the folder of its place.
class NewFile {
 public:
  // In the open folder `folder`, which must outlive it (AT_FDCWD: the working directory). `name`
  // may have further folders before it only with AT_FDCWD. A link of that name is replaced, not
  // followed. Errors: FileError, naming `shown`; here and below.
  static Result<NewFile> Create(int folder, const std::string& name, const std::string& shown,
                                mode_t mode = kOutputMode);
  // Bytes, name and folder are synchronised by Publish. It has `mode`, whatever the umask.
  static Result<NewFile> CreateDurable(const std::string& path, mode_t mode = kOutputMode);
  ~NewFile();
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;

  Result<void> Write(ByteView bytes);
  // Gives it the mode and, as far as this user may, the owner of another file.
  Result<void> MakeLike(const struct stat& other);
  uint64_t size() const { return size_; }
  // Appends what another, unpublished file has.
  Result<void> Append(const NewFile& other);
  // What opens the file for reading before it is published, in this process and while this lives.
  std::string ReadableAs() const;
  // Gives it its name.
  Result<void> Publish();

 private:
  enum class Kind : uint8_t { kUsual, kDurable };
  NewFile(int folder, std::string name, std::string temporary, std::string shown, int file,
          Kind kind)
      : folder_(folder),
        name_(std::move(name)),
        temporary_(std::move(temporary)),
        shown_(std::move(shown)),
        file_(file),
        kind_(kind) {}
  Error WriteError() const;
  // Gives a file without a name one that nobody else has, beside its place.
  Result<void> Link();
  Result<void> SyncFolder() const;

  int folder_;
  std::string name_;
  std::string temporary_;  // empty: the file has no name yet
  std::string shown_;
  int file_;
  Kind kind_;
  uint64_t size_ = 0;
};

}  // namespace kiln
