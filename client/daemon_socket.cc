// SPDX-License-Identifier: MIT
#include "client/daemon_socket.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "client/process_state.h"
#include "compiler/base/files/own_folder.h"
#include "compiler/base/files/user_folders.h"
#include "compiler/base/mutex.h"

namespace kiln::client {
namespace {

// Folders that stay open: two clients of one folder give gRPC the same name, and a name never comes
// to mean another folder. A process has one or two.
struct PinnedFolders {
  Mutex mutex;
  std::map<std::pair<dev_t, ino_t>, OwnFolder> folders KILN_GUARDED_BY(mutex);
};

// The descriptor of the folder. Errors: as OwnFolder::Open.
Result<int> Pin(const std::string& path) {
  PinnedFolders& pinned = OfProcess<PinnedFolders>();
  KILN_TRY(OwnFolder folder, OwnFolder::Open(path));
  struct stat found {};
  (void)::fstat(folder.descriptor(), &found);
  const MutexLock lock(pinned.mutex);
  // The folder is known by device and number and not by its path. If it is pinned already, the new
  // descriptor closes again and the old one serves.
  const auto [at, is_new] =
      pinned.folders.try_emplace({found.st_dev, found.st_ino}, std::move(folder));
  return at->second.descriptor();
}

Error Foreign(const std::string& path, std::string_view what, uid_t uid) {
  return {.code = ErrorCode::kPermissionDenied,
          .context = fmt::format("'{}' {} user {}, not of user {}; nothing was sent. Remove it, or "
                                 "name another socket with --daemon unix:PATH",
                                 path, what, uid, ::geteuid()),
          .reason = kForeignSocket};
}

}  // namespace

Door DoorAt(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return Door::kNobody;
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  Door door = Door::kNobody;
  if (fd >= 0) {
    const int result = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    // EAGAIN of a socket that does not block means a full backlog: somebody is there and does not
    // come round to answering.
    door = result == 0 ? Door::kAnswers : errno == EAGAIN ? Door::kFull : Door::kNobody;
    (void)::close(fd);
  }
  return door;
}

std::optional<uid_t> ListenerAt(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return std::nullopt;
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  ucred peer{};
  socklen_t size = sizeof peer;
  const bool known =
      fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      // Whom the kernel recorded when the socket was listened on. No peer can lie about it.
      ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  if (fd >= 0) {
    (void)::close(fd);
  }
  return known ? std::optional(peer.uid) : std::nullopt;
}

// The path leads through the pinned descriptor in /proc, which is the folder that was checked,
// whatever happens to its name.
std::optional<std::string> OwnersTarget(const std::string& path) {
  const std::filesystem::path whole(OwnersSocket(path));
  const Result<int> folder = Pin(whole.parent_path().string());
  if (!folder.ok()) {
    return std::nullopt;  // there is none, or it is another user's
  }
  std::string target = fmt::format("/proc/self/fd/{}/{}", *folder, whole.filename().string());
  return ListenerAt(target) == ::geteuid() ? std::optional("unix:" + std::move(target))
                                           : std::nullopt;
}

// Three checks, each before a byte is sent: the folder is this user's alone (Pin), the socket in it
// is this user's, and the process that listens runs as this user.
Result<std::string> OwnTarget(const std::string& path) {
  const std::filesystem::path whole(path);
  const Result<int> folder = Pin(whole.parent_path().string());
  if (!folder.ok() && folder.error().code == ErrorCode::kNotFound) {
    return Error{
        .code = ErrorCode::kUnavailable,
        .context = fmt::format("no daemon answers at unix:{}: {}; start it with 'kiln start'", path,
                               folder.error().context),
        .reason = "DAEMON_UNREACHABLE"};
  }
  if (!folder.ok()) {
    return folder.error();
  }
  if (std::optional<std::string> owners = OwnersTarget(path); owners.has_value()) {
    return *std::move(owners);
  }
  const std::string name = whole.filename().string();
  struct stat found {};
  if (::fstatat(*folder, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0) {
    if (!S_ISSOCK(found.st_mode)) {
      return Error{.code = ErrorCode::kPermissionDenied,
                   .context = fmt::format("'{}' is no socket; nothing was sent", path),
                   .reason = kForeignSocket};
    }
    if (found.st_uid != ::geteuid()) {
      return Foreign(path, "is a socket of", found.st_uid);
    }
  }
  const std::string target = fmt::format("/proc/self/fd/{}/{}", *folder, name);
  // A file may be ours while another user's process listens on it, if ours handed the socket over.
  const std::optional<uid_t> listener = ListenerAt(target);
  if (listener.has_value() && *listener != ::geteuid()) {
    return Foreign(path, "is answered by a process of", *listener);
  }
  return "unix:" + target;
}

}  // namespace kiln::client
