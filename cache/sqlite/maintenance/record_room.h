// SPDX-License-Identifier: MIT
// Room that records make when a store is full and all that is left is too young for the collector:
// a principal may not keep the store full for everybody by what he had made in the last minutes.
// See spec/cache 8.4
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "cache/sqlite/store_parts.h"

namespace kiln::cache::sqlite {

// Threads: safe from any thread but for Note; no state of its own.
class RecordRoom {
 public:
  // Requires: the parts outlive this.
  explicit RecordRoom(StoreParts& parts) : parts_(parts) {}

  // On the writer thread, behind a put: what its records and their content take counts for whoever
  // had them made. Records of the owner of the daemon count for nobody: nobody takes room from him.
  Result<void> Note(TableWrites& writes, std::string_view principal, std::span<const Item> put);

  // Removes records until the store uses at most so much, however young they are: first those of
  // whoever has most of them, the oldest first, then whatever was used least lately. Pins keep what
  // they name. Leases do, too, but not for one who has more than his share (owner_shares.h).
  void MakeRoom(uint64_t target_bytes, const Call& call);

 private:
  struct Meant {
    std::vector<int64_t> records;
    bool leases_count = true;
  };

  void Trim();
  Meant OfWhoeverHasMost(uint64_t bytes) const;
  Result<Meant> LeastLatelyUsed(uint64_t bytes) const;
  // Gives how many are gone.
  Result<size_t> Drop(Meant meant, const Call& call);
  // How much more than the target is used; 0 if it is reached.
  uint64_t Surplus(uint64_t target_bytes) const;
  int64_t NowSeconds() const;

  StoreParts& parts_;
};

}  // namespace kiln::cache::sqlite
