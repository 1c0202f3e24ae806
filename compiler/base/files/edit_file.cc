// SPDX-License-Identifier: MIT
#include "compiler/base/files/edit_file.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>

#include "compiler/base/files/file.h"
#include "compiler/base/files/new_file.h"

namespace kiln {
namespace {

struct Free {
  void operator()(char* text) const { std::free(text); }  // NOLINT(cppcoreguidelines-no-malloc)
};

}  // namespace

Result<void> EditFile(const std::string& path, ByteView bytes) {
  // The file behind all links: the new one is made beside that and takes its place.
  const std::unique_ptr<char, Free> real(::realpath(path.c_str(), nullptr));
  struct stat status {};
  if (real == nullptr || ::lstat(real.get(), &status) != 0) {
    return FileError(path, "cannot write", errno);
  }
  if (!S_ISREG(status.st_mode)) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = "cannot write '" + path + "': it is not a file",
                 .reason = "FILE"};
  }
  constexpr mode_t kPrivate = 0600;  // until it has the mode of the other
  KILN_TRY(NewFile file, NewFile::Create(AT_FDCWD, real.get(), path, kPrivate));
  KILN_TRY_VOID(file.Write(bytes));
  KILN_TRY_VOID(file.MakeLike(status));
  return file.Publish();
}

}  // namespace kiln
