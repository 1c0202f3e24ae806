// SPDX-License-Identifier: MIT
// Whose socket a client connects to, before a byte is sent. Private to client/*.cc and the doctor.
//
// The user's own socket (the default one, and that of a private daemon) must be the work of this
// user. gRPC opens it by name, again after every break, so the name must stay right for as long as
// the client lives:
//  - its folder is opened once, must be no link, belong to this user and be writable by nobody
//    else, and gRPC is given the name below the open folder (/proc/self/fd/N/kilnd.sock). Whatever
//    others do to the path above it, the name leads to that folder and only this user can put a
//    socket there or replace it;
//  - a socket that is there already must belong to this user, and so must the process that listens
//    (SO_PEERCRED): it could be older than the folder's present mode.
// A socket that somebody named with --daemon, KILN_DAEMON or an Endpoint may be another user's:
// that is how neighbours share a daemon. `kiln doctor` says whose it is. Spec: daemon §11.2
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>

#include "compiler/base/result.h"

namespace kiln::client {

inline constexpr const char* kForeignSocket = "FOREIGN_SOCKET";

// The user of the process that listens at a path; nullopt if nobody does.
std::optional<uid_t> ListenerAt(const std::string& path);

// What gRPC is to be given for this user's own socket. There may be no socket yet. Errors:
// kUnavailable if there is no folder; kPermissionDenied with reason NOT_OWN (OwnFolder) or
// FOREIGN_SOCKET if somebody else could have put it there.
Result<std::string> OwnTarget(const std::string& path);

}  // namespace kiln::client
