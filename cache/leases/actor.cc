// SPDX-License-Identifier: MIT
// Who may change a pin or lease: the one who made it, and those who may change any. An empty id is
// the owner of the daemon, as rows of older versions have it.
#include "cache/leases/actor.h"

namespace kiln::cache {

std::string_view OwnerName(std::string_view stored) { return stored.empty() ? "owner" : stored; }

bool MayChange(const Actor& actor, std::string_view owner) {
  return actor.any || OwnerName(actor.id) == OwnerName(owner);
}

Error NotYours(std::string_view what, std::string_view owner, std::string_view actor) {
  return {.code = ErrorCode::kPermissionDenied,
          .context = std::string(what) + " belongs to " + std::string(OwnerName(owner)) +
                     "; only it, the owner of the daemon and scope admin may change it, and this "
                     "is " +
                     std::string(OwnerName(actor)),
          .reason = kNotYours};
}

}  // namespace kiln::cache
