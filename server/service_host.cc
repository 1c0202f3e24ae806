// SPDX-License-Identifier: MIT
#include "server/service_host.h"

#include <charconv>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

#include "compiler/base/printable.h"

namespace kiln::server {
namespace {

// unix, tcp and metrics.
constexpr int kMostSockets = 3;

int NumberOf(const std::optional<std::string>& text) {
  int number = -1;
  if (text.has_value()) {
    (void)std::from_chars(text->data(), text->data() + text->size(), number);
  }
  return number;
}

// A unit with Accept=yes passes connections instead of a socket that listens. That is found here
// and not by a daemon that never gets a call.
bool Listens(int fd) {
  int on = 0;
  socklen_t size = sizeof(on);
  return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &size) == 0 && on != 0;
}

// The names are those of the environment.
Error Bad(std::string_view context) {
  return {.code = ErrorCode::kInvalidArgument,
          .context = PrintableMessage(context),
          .reason = "BAD_CONFIG"};
}

}  // namespace

Result<PassedSockets> SocketsOf(const Environment& environment, int first_fd) {
  PassedSockets passed;
  const int count = NumberOf(environment("LISTEN_FDS"));
  // The variables are for this process only if they name it: children inherit them.
  if (count <= 0 || NumberOf(environment("LISTEN_PID")) != getpid()) {
    return passed;
  }
  if (count > kMostSockets) {
    return Bad(fmt::format("LISTEN_FDS={}: at most {} sockets are known", count, kMostSockets));
  }
  // A single socket without a name is the unix socket, which every daemon has.
  std::string names = environment("LISTEN_FDNAMES").value_or(count == 1 ? "unix" : "");
  for (int i = 0; i < count; ++i) {
    const size_t colon = names.find(':');
    const std::string name = names.substr(0, colon);
    names = colon == std::string::npos ? std::string() : names.substr(colon + 1);
    int* const place = name == "unix"      ? &passed.unix_socket
                       : name == "tcp"     ? &passed.tcp
                       : name == "metrics" ? &passed.metrics
                                           : nullptr;
    if (place == nullptr || *place >= 0) {
      return Bad(
          fmt::format("LISTEN_FDNAMES: '{}' is not one of unix, tcp and metrics, each once", name));
    }
    if (!Listens(first_fd + i)) {
      return Bad(fmt::format("the socket that was passed as '{}' does not listen", name));
    }
    // Workers are started by this process and must not inherit what it listens on.
    (void)fcntl(first_fd + i, F_SETFD, FD_CLOEXEC);
    *place = first_fd + i;
  }
  return passed;
}

// One datagram and no library: the protocol is one line of text. Whoever listens is not waited for,
// and nobody listening is the usual case.
void Notify(const Environment& environment, std::string_view state) {
  const std::optional<std::string> path = environment("NOTIFY_SOCKET");
  sockaddr_un address{};
  if (!path.has_value() || path->empty() || path->size() >= sizeof(address.sun_path)) {
    return;
  }
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path->data(), path->size());
  if (address.sun_path[0] == '@') {
    address.sun_path[0] = '\0';  // the abstract name space
  }
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd >= 0) {
    // The length ends behind the name: an abstract one has no zero at its end, and each byte of it
    // counts.
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path->size());
    (void)sendto(fd, state.data(), state.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&address), size);
    (void)close(fd);
  }
}

}  // namespace kiln::server
