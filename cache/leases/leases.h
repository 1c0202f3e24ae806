// SPDX-License-Identifier: MIT
// Leases and pins: what eviction must leave alone. See spec/cache 8.4, 8.6.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/store.h"

namespace kiln::cache {

// Threads: safe from any thread.
class Leases {
 public:
  virtual ~Leases() = default;

  // Everything that is used from now on stays until the lease ends: 15 minutes after the last
  // Hold of the same owner, which is to come every minute. Errors: as BlobStore::Put.
  virtual Result<void> Hold(std::string_view owner) = 0;
  // The lease ends in 10 minutes.
  virtual Result<void> Release(std::string_view owner) = 0;
};

struct Pin {
  std::string name;
  int64_t made_s = 0;
  std::optional<int64_t> until_s;  // nullopt: for ever
  std::string note;
  uint64_t records = 0;
  std::string
      owner;  // the principal that made it (cache/leases/actor.h); empty: the owner of the cache
};

// Threads: safe from any thread.
class Pins {
 public:
  virtual ~Pins() = default;

  // Makes the set or adds to it; a set that is there keeps its owner. Aliases pin the record that
  // they lead to; keys that are not stored are skipped. Gives the number of records found.
  virtual Result<uint64_t> Add(const Pin& pin, std::span<const Key> keys) = 0;
  // Errors: kNotFound.
  virtual Result<void> Remove(std::string_view name) = 0;
  // The same for a pin of this owner: another one of this name is kNotFound.
  virtual Result<void> RemoveOf(std::string_view name, std::string_view owner) = 0;
  // Sorted by name.
  virtual Result<std::vector<Pin>> List() = 0;
};

}  // namespace kiln::cache
