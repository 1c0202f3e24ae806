// SPDX-License-Identifier: MIT
// Who may put a job into a queue (spec/daemon 5): the owner has a quarter for himself, and no
// tenant has more than half.
#include "server/jobs/shares.h"

#include <algorithm>

namespace kiln::jobs {

Room RoomFor(const std::string& tenant, uint64_t limit, const PlaceUsage& taken) {
  // Every share is at least one place, or a queue of one would take nobody. With so few places
  // shares may overlap, and together exceed the limit by one.
  const uint64_t of_owner = std::max<uint64_t>(1, limit / 4);
  if (tenant.empty()) {  // his own quarter even if others have a place of it, as of a single one
    return taken.all < limit || taken.owner < of_owner ? Room::kYes : Room::kFull;
  }
  if (taken.tenant >= std::max<uint64_t>(1, limit / 2)) {
    return Room::kOwnShare;
  }
  const uint64_t of_others = std::max<uint64_t>(1, limit - std::min(limit, of_owner));
  return taken.all < limit && taken.all - taken.owner < of_others ? Room::kYes : Room::kFull;
}

}  // namespace kiln::jobs
