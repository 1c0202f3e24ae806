// SPDX-License-Identifier: MIT
#include "cache/leases/bounded_pins.h"

#include <algorithm>
#include <string>

#include "cache/leases/pin_share.h"

namespace kiln::cache {
namespace {

constexpr size_t kLargestPins = 3;  // that are named

}  // namespace

// Content that the name holds already stays with it, and counts.
Result<void> BoundedPins::CheckShare(const Pin& pin, std::span<const Key> keys) {
  std::vector<Key> all(keys.begin(), keys.end());
  if (const Result<PinUsage> before = HeldByPin(maintenance_, pin.name); before.ok()) {
    all.insert(all.end(), before->records.begin(), before->records.end());
  } else if (before.error().code != ErrorCode::kNotFound) {
    return before.error();
  }
  KILN_TRY(const PinUsage held, HeldByKeys(store_, all, {}));
  KILN_TRY(const PinShare share, ShareWith(maintenance_, pins_, pin.name, held.bytes, max_bytes_));
  if (share.fits()) {
    return {};
  }
  std::string largest;
  for (size_t i = 0; i < std::min(share.others.size(), kLargestPins); ++i) {
    largest += (i == 0 ? "; the largest are " : ", ") + share.others[i].second + " (" +
               std::to_string(share.others[i].first) + " bytes)";
  }
  return Error{.code = ErrorCode::kResourceExhausted,
               .context = "pins would keep " + std::to_string(share.total) + " bytes, " +
                          std::to_string(share.allowed) + " are allowed" + largest,
               .reason = kPinsTooLarge};
}

Result<uint64_t> BoundedPins::Add(const Pin& pin, std::span<const Key> keys) {
  if (pin.name.empty() || pin.name.size() > kMaxPinName) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = "a pin has a name of at most " + std::to_string(kMaxPinName) + " bytes",
                 .reason = "MALFORMED_REQUEST"};
  }
  const MutexLock lock(mutex_);
  KILN_TRY_VOID(CheckShare(pin, keys));
  return pins_.Add(pin, keys);
}

}  // namespace kiln::cache
