// SPDX-License-Identifier: MIT
#include "compiler/base/files/beneath.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compiler/base/files/file.h"
#include "compiler/base/files/new_file.h"
#include "compiler/base/files/own_folder.h"

namespace kiln {
namespace {

constexpr mode_t kFolderMode = 0755;

// Closes itself.
// A folder that was opened with O_PATH: it can only be gone on from, never read or written.
class Folder {
 public:
  explicit Folder(int descriptor) : descriptor_(descriptor) {}
  ~Folder() {
    if (descriptor_ >= 0) {
      (void)close(descriptor_);
    }
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

Error Outside(const std::string& root, const std::string& path, std::string_view what) {
  return {.code = ErrorCode::kInvalidArgument,
          .context = "'" + path + "' " + std::string(what) + " '" + root + "'",
          .reason = "OUTSIDE"};
}

// "cannot write 'out/a/b': cannot open 'out': Permission denied"
Error CannotWrite(const std::string& root, const std::string& path, const Error& why) {
  return WithContext(why, "cannot write '" + root + "/" + path + "'");
}

// For kernels before 5.6: one folder after the other, none of them a link.
// The kernel's own resolution is one call and has no gaps; here each step is made within the folder
// that is open already, so a name that is swapped for a link meanwhile is refused by O_NOFOLLOW.
int OpenStepwise(int folder, const std::string& path, int flags, mode_t mode) {
  int at = dup(folder);
  size_t begin = 0;
  while (at >= 0) {
    const size_t slash = path.find('/', begin);
    const std::string segment = path.substr(begin, slash - begin);
    const bool last = slash == std::string::npos;
    // An absolute path has an empty first part. Both are told as what the kernel would say.
    const bool odd = segment.empty() || segment == "..";
    const int next =
        odd ? -1
            : openat(at, segment.c_str(),
                     (last ? flags : O_PATH | O_DIRECTORY) | O_NOFOLLOW | O_CLOEXEC, mode);
    // `close` may change errno, which the caller reads.
    const int error = odd ? EXDEV : errno;
    (void)close(at);
    errno = error;
    if (last || next < 0) {
      return next;
    }
    at = next;
    begin = slash + 1;
  }
  return at;
}

// Makes the folders of a relative path below the root, each within the one before, which is opened
// and therefore is not a link.
Result<void> MakeFoldersBeneath(const std::string& root, const std::string& path) {
  for (size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    // Parents are opened again for each folder. Paths are a few parts long, and each opening passes
    // the same check as the one of the file.
    const size_t name = slash == 0 ? 0 : path.rfind('/', slash - 1) + 1;  // npos + 1 is 0
    const std::string parent = name == 0 ? "." : path.substr(0, name - 1);
    KILN_TRY(const int opened, OpenBeneath(root, parent, O_PATH | O_DIRECTORY));
    const Folder within(opened);
    if (mkdirat(within.descriptor(), path.substr(name, slash - name).c_str(), kFolderMode) != 0 &&
        errno != EEXIST) {
      return FileError(root + "/" + path.substr(0, slash), "cannot make the folder", errno);
    }
  }
  return {};
}

}  // namespace

Result<int> OpenBeneath(const std::string& root, const std::string& path, int flags, mode_t mode) {
  const int folder = open(root.empty() ? "." : root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    return FileError(root, "cannot open", errno);
  }
  open_how how{};
  how.flags = static_cast<uint64_t>(flags) | O_CLOEXEC;
  how.mode = mode;
  // Refuses absolute links, "..", and every link on the way: a manifest that names files must not
  // reach what its folder does not hold, nor depend on where a link points today.
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  int fd = static_cast<int>(syscall(SYS_openat2, folder, path.c_str(), &how, sizeof(how)));
  if (fd < 0 && errno == ENOSYS) {
    fd = OpenStepwise(folder, path, flags, mode);
  }
  const int error = errno;
  (void)close(folder);
  if (fd >= 0) {
    return fd;
  }
  if (error == EXDEV || error == ELOOP) {
    return Outside(root, path, "is a link or leads out of");
  }
  return FileError(root + "/" + path, "cannot open", error);
}

Result<std::string> ReadFileBeneath(const std::string& root, const std::string& path,
                                    uint64_t most) {
  // To open a pipe must not wait for its writer; what is no regular file is refused right after.
  KILN_TRY(const int fd, OpenBeneath(root, path, O_RDONLY | O_NONBLOCK));
  struct stat status {};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    (void)close(fd);
    return Outside(root, path, "is no regular file below");
  }
  std::string text;
  // The size is a hint: the file may grow or shrink meanwhile, and only what is read counts. One
  // read beyond the limit is made, because a file that is exactly as large as allowed passes.
  text.reserve(std::min(static_cast<uint64_t>(status.st_size), most));
  char buffer[65536];
  ssize_t count = 0;
  while (text.size() <= most &&
         ((count = read(fd, buffer, sizeof buffer)) > 0 || (count < 0 && errno == EINTR))) {
    text.append(buffer, count > 0 ? static_cast<size_t>(count) : 0);
  }
  const int error = errno;
  (void)close(fd);
  if (count < 0) {
    return FileError(root + "/" + path, "cannot read", error);
  }
  if (text.size() > most) {
    return Error{.code = ErrorCode::kResourceExhausted,
                 .context = "'" + root + "/" + path + "' exceeds the limit of " +
                            std::to_string(most) + " bytes",
                 .reason = "LIMIT_EXCEEDED"};
  }
  return text;
}

Result<void> WriteFileBeneath(const std::string& root, const std::string& path, ByteView bytes) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (path.starts_with('/') || name.empty() || name == "." || name == "..") {
    return Outside(root, path, "names no file below");
  }
  // A file that has these bytes keeps its time, so that a build tool does not work again. A longer
  // one is not read to its end.
  const Result<std::string> present = ReadFileBeneath(root, path, bytes.size());
  if (present.ok() && *present == AsText(bytes)) {
    return {};
  }
  (void)MakeFolders(root.empty() ? "." : root, kFolderMode);  // what follows says what is wrong
  if (const Result<void> made = MakeFoldersBeneath(root, path); !made.ok()) {
    return CannotWrite(root, path, made.error());
  }
  // The temporary file and the rename both happen within this open folder: the path is not resolved
  // a second time.
  const Result<int> opened = OpenBeneath(root, folder, O_PATH | O_DIRECTORY);
  if (!opened.ok()) {
    return CannotWrite(root, path, opened.error());
  }
  const Folder within(*opened);
  // As WriteFile has it: what was closed to others stays closed.
  struct stat status {};
  const bool is_there =
      fstatat(within.descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISREG(status.st_mode);
  KILN_TRY(NewFile file, NewFile::Create(within.descriptor(), name, root + "/" + path,
                                         is_there ? kOutputMode & status.st_mode : kOutputMode));
  KILN_TRY_VOID(file.Write(bytes));
  return file.Publish();
}

}  // namespace kiln
