// SPDX-License-Identifier: MIT
// What pins keep, and the share of a cache that all of them together may have. See spec/cache 8.6
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/leases/leases.h"
#include "cache/maintenance.h"

namespace kiln::cache {

// Reason of the error of a pin that would go beyond the share.
inline constexpr char kPinsTooLarge[] = "PINS_TOO_LARGE";

// Records and the bytes that they keep: their rows and the content that they name, each once.
struct PinUsage {
  std::set<Key> records;
  uint64_t bytes = 0;
};

// Errors: those of the store; kNotFound if there is no such pin.
Result<PinUsage> HeldByPin(Maintenance& maintenance, const std::string& pin);
// Of records that are to be pinned. Aliases hold the record that they lead to; a key that leads to
// none holds nothing. Errors: kCorrupt.
Result<PinUsage> HeldByKeys(BlobStore& store, std::span<const Key> keys, const Call& call);

struct PinSize {
  uint64_t bytes = 0;
  std::string name, owner;
};

struct PinShare {
  uint64_t total = 0;
  uint64_t allowed = 0;
  std::vector<PinSize> others;  // largest first

  bool fits() const { return total <= allowed; }
};

// What each pin keeps, looked up once: a pin that is there keeps what it names. Bounded by the
// number of pins.
//
// Threads: one at a time.
class PinSizes {
 public:
  explicit PinSizes(Maintenance& maintenance) : maintenance_(maintenance) {}

  // Forgets pins that are not in `all`. Errors: those of the store.
  Result<std::vector<PinSize>> Of(const std::vector<Pin>& all);
  // Of a pin that was changed or removed.
  void Forget(std::string_view name) { known_.erase(std::string(name)); }

 private:
  struct KnownSize {
    int64_t made_s = 0;
    uint64_t records = 0;  // these two tell a pin from a later one of its name
    uint64_t bytes = 0;
  };

  Maintenance& maintenance_;
  std::map<std::string, KnownSize> known_;
};

// All pins if the one of this name keeps `bytes`, in a cache of at most `max_bytes`.
Result<PinShare> ShareWith(PinSizes& sizes, Pins& pins, std::string_view name, uint64_t bytes,
                           uint64_t max_bytes);

}  // namespace kiln::cache
