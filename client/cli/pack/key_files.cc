// SPDX-License-Identifier: MIT
#include "client/cli/pack/key_files.h"

#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

#include "compiler/base/files/file.h"

namespace kiln::cli {
namespace {

// The number of the error; 0: all is on the disk. fsync before success is reported: a key that has
// signed a pack and is lost in a power failure cannot be made again.
int WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno != EINTR) {
      return errno;
    }
    text.remove_prefix(count < 0 ? 0 : static_cast<size_t>(count));
  }
  return ::fsync(file) == 0 ? 0 : errno;
}

Result<void> WriteSecret(const std::string& path, const std::string& text) {
  // The mode is set when the file is made, so there is no moment in which others can read it.
  // O_EXCL keeps a key that exists: replacing one would make every pack that it signed
  // unverifiable.
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) {
    return FileError(path, "cannot write", errno);
  }
  const int error = WriteAll(file, text);
  (void)::close(file);
  if (error != 0) {
    (void)::unlink(path.c_str());
    return FileError(path, "cannot write", error);
  }
  return {};
}

}  // namespace

// The secret first: a public key without its private one is of no use to anybody.
Result<void> WriteKeyPair(const std::string& secret, const std::string& open,
                          const pack::SigningKey& key) {
  KILN_TRY_VOID(WriteSecret(secret, key.Pem()));
  Result<void> written = WriteFile(open, AsBytes(key.public_key().Pem()));
  if (!written.ok()) {
    (void)::unlink(secret.c_str());
  }
  return written;
}

}  // namespace kiln::cli
