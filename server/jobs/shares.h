// SPDX-License-Identifier: MIT
// How a bounded number of places is divided: the owner of the daemon, who is the tenant without a
// name, has a quarter for himself and takes what is free besides; a named tenant has half at most,
// all of them together three quarters. So no two of them lock out the owner, and no one of them the
// others. See spec/daemon 9.4
#pragma once

#include <cstdint>
#include <string>

namespace kiln::jobs {

// Who has how many of the places.
struct PlaceUsage {
  uint64_t all = 0;
  uint64_t owner = 0;   // of those
  uint64_t tenant = 0;  // the one that asks
};

enum class Room : uint8_t {
  kYes,
  kOwnShare,  // the tenant has its half
  kFull,      // of what it could have at all
};

// Whether a tenant may have one more of `limit` places. At least one is everybody's.
Room RoomFor(const std::string& tenant, uint64_t limit, const PlaceUsage& taken);

}  // namespace kiln::jobs
