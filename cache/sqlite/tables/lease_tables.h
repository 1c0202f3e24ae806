// SPDX-License-Identifier: MIT
// Leases and pins in cache.db: what eviction leaves alone. See spec/cache 8.4, 8.6.
#pragma once

#include "cache/leases/leases.h"
#include "cache/sqlite/sqlite_store.h"

namespace kiln::cache::sqlite {

// Threads: see Leases; no state of its own.
class LeaseTable final : public Leases {
 public:
  // Requires: store outlives this.
  explicit LeaseTable(SqliteStore& store) : store_(store) {}
  Result<void> Hold(std::string_view owner) override;
  Result<void> Release(std::string_view owner) override;

 private:
  SqliteStore& store_;
};

// Threads: see Pins; no state of its own.
class PinTable final : public Pins {
 public:
  // Requires: store outlives this.
  explicit PinTable(SqliteStore& store) : store_(store) {}
  Result<uint64_t> Add(const Pin& pin, std::span<const Key> keys) override;
  Result<void> Remove(std::string_view name) override;
  Result<void> RemoveOf(std::string_view name, std::string_view owner) override;
  Result<std::vector<Pin>> List() override;

 private:
  // Of any owner if none is named.
  Result<void> Delete(std::string_view name, const std::string& owner);

  SqliteStore& store_;
};

// Sorted by name. Errors: those of the file.
Result<std::vector<Pin>> ReadPins(Connection& connection);

}  // namespace kiln::cache::sqlite
