// SPDX-License-Identifier: MIT
// Pins whose names are short and which together keep at most their share of the cache, whoever
// makes them: by a call, with a batch, with a pack. See spec/cache 8.6
//
// Threads: see Pins; one mutex, so that two new pins cannot both have the same rest of the share.
// What a pin is to hold is looked up outside of it.
#pragma once

#include "cache/leases/actor.h"
#include "cache/leases/leases.h"
#include "cache/leases/pin_share.h"
#include "cache/maintenance.h"
#include "cache/store.h"
#include "compiler/base/mutex.h"

namespace kiln::cache {

inline constexpr uint64_t kMaxPinName = 128;   // bytes
inline constexpr uint64_t kMaxPinNote = 1024;  // bytes
inline constexpr size_t kMaxPins = 1024;       // divided as OwnerShares say, as their bytes are

// Reason of the error of one pin more than there may be.
inline constexpr char kTooManyPins[] = "TOO_MANY_PINS";

// Names and notes are shown to others. Errors: kInvalidArgument for a name that is empty, and for
// what is too long or not printable (IsPrintable).
Result<void> CheckPin(const Pin& pin);

// As whose a pin of this name is made or changed: whoever may change what others made acts for the
// one it belongs to. Errors: kPermissionDenied, NOT_YOURS; those of the store.
Result<std::string> PinOwnerFor(Pins& pins, std::string_view name, const Actor& actor);

class BoundedPins final : public Pins {
 public:
  // All must outlive the object. `store`: where the rows are that are to be pinned; `max_bytes`: of
  // the whole cache.
  BoundedPins(Pins& pins, Maintenance& maintenance, BlobStore& store, uint64_t max_bytes)
      : pins_(pins),
        maintenance_(maintenance),
        store_(store),
        max_bytes_(max_bytes),
        sizes_(maintenance) {}

  // Errors, before anything is pinned: those of CheckPin; kPermissionDenied, NOT_YOURS, for a
  // name that belongs to another owner; kResourceExhausted with TOO_MANY_PINS, or with
  // PINS_TOO_LARGE, naming the largest others; those of the store.
  Result<uint64_t> Add(const Pin& pin, std::span<const Key> keys) override;
  Result<void> Remove(std::string_view name) override;
  Result<void> RemoveOf(std::string_view name, std::string_view owner) override;
  Result<std::vector<Pin>> List() override { return pins_.List(); }

 private:
  Result<void> CheckOwnerAndNumber(const Pin& pin);
  // What the pin of a name is, by which a change shows, and what it would keep.
  struct Wanted {
    int64_t made_s = 0;
    uint64_t records = 0;
    uint64_t bytes = 0;
  };
  Result<Wanted> StateOf(const std::string& name);
  Result<Wanted> LookUp(const Pin& pin, std::span<const Key> keys);
  Result<void> CheckShare(const Pin& pin, uint64_t held) KILN_REQUIRES(mutex_);

  Pins& pins_;
  Maintenance& maintenance_;
  BlobStore& store_;
  const uint64_t max_bytes_;
  Mutex mutex_;
  PinSizes sizes_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::cache
