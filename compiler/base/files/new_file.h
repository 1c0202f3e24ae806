// SPDX-License-Identifier: MIT
// A file that appears whole or not at all: made under a name that nobody else has, beside the one
// it gets in the end. Two that are written at once do not meet; the last one stays.
#pragma once

#include <string>
#include <sys/stat.h>
#include <sys/types.h>

#include "compiler/base/bytes.h"
#include "compiler/base/result.h"

namespace kiln {

inline constexpr mode_t kOutputMode = 0644;  // less what the umask takes: never written by others

// One thread. A file that was not published is removed.
class NewFile {
 public:
  // In the open folder `folder`, which must outlive it (AT_FDCWD: the working directory). `name`
  // may have further folders before it only with AT_FDCWD. A link of that name is replaced, not
  // followed. Errors: FileError, naming `shown`; here and below.
  static Result<NewFile> Create(int folder, const std::string& name, const std::string& shown,
                                mode_t mode = kOutputMode);
  ~NewFile();
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;

  Result<void> Write(ByteView bytes);
  // Gives it the mode and, as far as this user may, the owner of another file.
  Result<void> MakeLike(const struct stat& other);
  // Gives it its name.
  Result<void> Publish();

 private:
  NewFile(int folder, std::string name, std::string temporary, std::string shown, int file)
      : folder_(folder),
        name_(std::move(name)),
        temporary_(std::move(temporary)),
        shown_(std::move(shown)),
        file_(file) {}

  int folder_;
  std::string name_, temporary_, shown_;
  int file_;
};

}  // namespace kiln
