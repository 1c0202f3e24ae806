// SPDX-License-Identifier: MIT
// Who changes what has a name: pins and batches belong to the principal that made them, and nobody
// else stops, removes or replaces them but the owner of the daemon and scope admin. Principals are
// texts here, as `ops::Principal::id` has them. See spec/daemon 11.4
#pragma once

#include <string>
#include <string_view>

#include "compiler/base/result.h"

namespace kiln::cache {

// Whoever has a cache to himself, without a daemon, is its owner.
struct Actor {
  std::string id = "owner";
  bool any = true;  // the owner or scope admin: may change what others made
};

// Reason of the error of a change of what somebody else made.
inline constexpr char kNotYours[] = "NOT_YOURS";

// The principal that a stored text names: what has none belongs to the owner.
std::string_view OwnerName(std::string_view stored);
bool MayChange(const Actor& actor, std::string_view owner);
// kPermissionDenied. `what` begins the sentence: "pin 'release'".
Error NotYours(std::string_view what, std::string_view owner, std::string_view actor);

}  // namespace kiln::cache
