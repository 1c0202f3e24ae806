// SPDX-License-Identifier: MIT
// The socket of the daemon (spec/daemon 11, 14.1): a folder that only its user can change, a lock
// that says who serves, and the socket itself. The lock is taken before the socket is touched, so
// of two daemons that start together one fails with the pid of the other.
#include "server/rpc/transport/unix_listener.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

#include "compiler/base/files/descriptor.h"
#include "compiler/base/files/file_lock.h"
#include "compiler/base/files/own_folder.h"

namespace kiln::rpc {
namespace {

// Connections that wait for accept: a build that starts hundreds of commands at once comes in
// waves.
constexpr int kBacklog = 128;
constexpr mode_t kOwnerMode = 0700;
constexpr mode_t kNeighbourMode = 0711;

// Called right after the system call that failed, while errno is its.
Error Failed(std::string_view what, const std::string& path, std::string_view hint = {}) {
  return {.code = ErrorCode::kFailedPrecondition,
          .context = fmt::format("{} '{}': {}{}{}", what, path, std::strerror(errno),
                                 hint.empty() ? "" : "; ", hint),
          .reason = "SOCKET"};
}

// Errors of files and folders as those of a socket.
template <class T>
Result<T> ForSocket(Result<T> result) {
  return result.ok()
             ? std::move(result)
             : Result<T>(Error{.code = ErrorCode::kFailedPrecondition,
                               .context = result.error().context +
                                          "; repair it or choose another with --listen.unix",
                               .reason = "SOCKET"});
}

Result<OwnFolder> MakeDirectory(const std::string& path, mode_t mode) {
  KILN_TRY(OwnFolder folder, ForSocket(OwnFolder::Make(path)));
  // Each of the two modes may become the other one; any other mode is a mistake of the user.
  if (folder.mode() != kOwnerMode && folder.mode() != kNeighbourMode) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = fmt::format("'{}' must be a directory of this user with mode {:04o}; "
                                        "repair it or choose another with --listen.unix",
                                        path, mode),
                 .reason = "SOCKET"};
  }
  if (folder.mode() != mode) {
    KILN_TRY_VOID(ForSocket(folder.SetMode(mode)));
  }
  return folder;
}

// The lock file holds the pid of its owner.
Result<FileLock> TakeLock(const OwnFolder& folder, const std::string& name) {
  const std::string path = folder.path() + "/" + name;
  KILN_TRY(const int fd, ForSocket(folder.OpenFile(name, O_RDWR | O_CREAT)));
  FileLock lock(fd);
  if (!lock.Try()) {
    const std::optional<pid_t> pid = lock.ReadHolder();
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = fmt::format("'{}' is held by pid {}; use that kilnd, or stop it with "
                                        "kiln stop",
                                        path, pid.has_value() ? std::to_string(*pid) : "unknown"),
                 .reason = "LOCKED"};
  }
  if (!lock.WriteHolder()) {
    return Failed("cannot write the lock", path);
  }
  return lock;
}

// Requires: the path fits, which Listen checks first.
sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// Whether a process listens there.
bool IsAnswered(const std::string& path) {
  const Descriptor asking(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_un address = AddressOf(path);
  return asking.get() >= 0 && (connect(asking.get(), reinterpret_cast<const sockaddr*>(&address),
                                       sizeof(address)) == 0 ||
                               errno == EAGAIN);  // its queue is full
}

}  // namespace

Result<std::unique_ptr<UnixListener>> UnixListener::Listen(const std::string& path,
                                                           SocketAudience whom) {
  // The address has room for 107 bytes. A path that is cut off would be a socket that no client
  // looks for.
  if (path.size() >= sizeof(sockaddr_un{}.sun_path)) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = fmt::format("the socket path '{}' has {} bytes, the system allows {}; "
                                        "choose a shorter one with --listen.unix",
                                        path, path.size(), sizeof(sockaddr_un{}.sun_path) - 1),
                 .reason = "SOCKET"};
  }
  const std::filesystem::path whole(path);
  KILN_TRY(const OwnFolder folder,
           MakeDirectory(whole.parent_path().string(),
                         whom == SocketAudience::kOwner ? kOwnerMode : kNeighbourMode));
  KILN_TRY(FileLock lock, TakeLock(folder, whole.filename().string() + ".lock"));
  std::unique_ptr<UnixListener> listener(new UnixListener(path, std::move(lock)));
  KILN_TRY_VOID(listener->Bind(whom));
  return listener;
}

// A passed socket has no lock of ours; who may connect is decided by the unit.
std::unique_ptr<UnixListener> UnixListener::Adopt(int fd, const std::string& path) {
  std::unique_ptr<UnixListener> listener(new UnixListener(path, std::nullopt));
  listener->fd_ = fd;
  return listener;
}

Result<void> UnixListener::Bind(SocketAudience whom) {
  struct stat found {};
  if (lstat(path_.c_str(), &found) == 0) {  // we hold the lock: a socket here should be stale
    if (!S_ISSOCK(found.st_mode)) {
      return Error{.code = ErrorCode::kFailedPrecondition,
                   .context = fmt::format("'{}' is there and is no socket; remove it or choose "
                                          "another path with --listen.unix",
                                          path_),
                   .reason = "SOCKET"};
    }
    if (IsAnswered(path_)) {
      return Error{.code = ErrorCode::kFailedPrecondition,
                   .context = fmt::format("a process without our lock answers at '{}'; stop it or "
                                          "choose another path with --listen.unix",
                                          path_),
                   .reason = "SOCKET"};
    }
    (void)unlink(path_.c_str());
  }
  Descriptor made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (made.get() < 0) {
    return Failed("cannot make a socket for", path_);
  }
  const sockaddr_un address = AddressOf(path_);
  // The mode is set before anybody can connect, which is from listen on.
  if (bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      chmod(path_.c_str(), whom == SocketAudience::kOwner ? 0600 : 0666) != 0 ||
      listen(made.get(), kBacklog) != 0) {
    return Failed("cannot listen on", path_);
  }
  fd_ = made.Release();
  return {};
}

UnixListener::~UnixListener() {
  if (fd_ >= 0) {
    // Only who made the socket removes it; one that was passed belongs to the service manager.
    if (lock_.has_value()) {
      (void)unlink(path_.c_str());
    }
    (void)close(fd_);
  }
}  // the lock goes last

}  // namespace kiln::rpc
