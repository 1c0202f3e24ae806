// SPDX-License-Identifier: MIT
// What a service manager gives and wants: listening sockets by LISTEN_FDS, and to be told when the
// daemon is ready or stops. Nothing happens without one. See spec/daemon 14.6, 14.7
#pragma once

#include <string_view>

#include "compiler/base/result.h"
#include "server/config.h"
#include "server/daemon.h"

namespace kiln::server {

// The sockets of LISTEN_FDS, by their LISTEN_FDNAMES `unix`, `tcp` and `metrics`; a single one
// without a name is the unix socket. They are not inherited further. Errors: kInvalidArgument with
// reason BAD_CONFIG for another name, or if it is not a listening socket.
Result<PassedSockets> SocketsOf(const Environment& environment, int first_fd = 3);

// "READY=1", "STOPPING=1", "RELOADING=1": to the socket of NOTIFY_SOCKET, if there is one.
void Notify(const Environment& environment, std::string_view state);

}  // namespace kiln::server
