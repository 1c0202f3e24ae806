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
// Where the daemon has one, the owner comes by a socket that others cannot reach (OwnersSocket).
// A socket that somebody named with --daemon, KILN_DAEMON or an Endpoint may be another user's:
// that is how neighbours share a daemon. `kiln doctor` says whose it is. See spec/daemon 11.2
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>

#include "compiler/base/result.h"

namespace kiln::client {

inline constexpr const char* kForeignSocket = "FOREIGN_SOCKET";

// The user of the process that listens at a path; nullopt if nobody does.
std::optional<uid_t> ListenerAt(const std::string& path);

// What connecting to a path gives at this moment.
enum class Door : uint8_t {
  kNobody,  // or no path of a socket
  kAnswers,
  kFull,  // somebody listens, and more want in than he has taken: worth trying again
};
Door DoorAt(const std::string& path);

// The first answer, or that of a second attempt, if nobody was reached and somebody is behind the
// door: others may keep its queue full. `again` waits for a connection, and is told what it found.
template <class T, class DoorNow, class Again>
Result<T> OrAgain(Result<T> first, const DoorNow& door_now, const Again& again) {
  // What a daemon says itself has a reason.
  const bool unreached =
      !first.ok() && first.error().code == ErrorCode::kUnavailable && first.error().reason.empty();
  const Door door = unreached ? door_now() : Door::kNobody;
  if (door == Door::kNobody) {
    return first;
  }
  Result<T> second = again(door);
  const bool silent = !second.ok() && second.error().code == ErrorCode::kDeadlineExceeded;
  return silent ? std::move(first) : std::move(second);  // who waited in vain was not reached
}

// The owner's own socket beside a shared one (OwnersSocket), as gRPC is to be given it; nullopt
// unless this user's process listens there.
std::optional<std::string> OwnersTarget(const std::string& path);

// What gRPC is to be given for this user's own socket. There may be no socket yet. Errors:
// kUnavailable if there is no folder; kPermissionDenied with reason NOT_OWN (OwnFolder) or
// FOREIGN_SOCKET if somebody else could have put it there.
Result<std::string> OwnTarget(const std::string& path);

}  // namespace kiln::client
