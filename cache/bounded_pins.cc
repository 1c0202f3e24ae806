// SPDX-License-Identifier: MIT
#include "cache/bounded_pins.h"

#include <algorithm>
#include <string>

#include "cache/pin_share.h"
#include "compiler/base/printable.h"

namespace kiln::cache {
namespace {

constexpr size_t kLargestPins = 3;  // that are named

std::string NamedPin(std::string_view name) { return "pin '" + std::string(name) + "'"; }

}  // namespace

Result<std::string> PinOwnerFor(Pins& pins, std::string_view name, const Actor& actor) {
  KILN_TRY(const std::vector<Pin> all, pins.List());
  const auto taken = std::ranges::find(all, name, &Pin::name);
  if (taken == all.end()) {
    return actor.id;
  }
  if (!MayChange(actor, taken->owner)) {
    return NotYours(NamedPin(name), taken->owner, actor.id);
  }
  return taken->owner;
}

// A name that somebody has is his, whatever was known when the call began. Names are not free: each
// is a row that stays, so all together are bounded, and those of one principal, which leaves names
// to the others and to the owner.
Result<void> BoundedPins::CheckOwnerAndNumber(const Pin& pin) {
  KILN_TRY(const std::vector<Pin> all, pins_.List());
  const std::string_view owner = OwnerName(pin.owner);
  size_t own = 0;
  for (const Pin& other : all) {
    const bool same = OwnerName(other.owner) == owner;
    if (other.name == pin.name) {
      return same ? Result<void>()
                  : Result<void>(NotYours(NamedPin(pin.name), other.owner, pin.owner));
    }
    own += same ? 1 : 0;
  }
  const size_t others_most = kMaxPins - kMaxPinsOfOne;
  const bool is_owner = owner == OwnerName({});
  if (all.size() >= kMaxPins ||
      (!is_owner && (own >= kMaxPinsOfOne || all.size() >= others_most))) {
    return Error{.code = ErrorCode::kResourceExhausted,
                 .context = "there are " + std::to_string(all.size()) + " pins, " +
                            std::to_string(own) + " of " + std::string(owner) + "; remove some",
                 .reason = kTooManyPins};
  }
  return {};
}

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
  if (pin.note.size() > kMaxPinNote || !IsPrintable(pin.note)) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = "the note of a pin has at most " + std::to_string(kMaxPinNote) +
                            " bytes without control characters",
                 .reason = "MALFORMED_REQUEST"};
  }
  const MutexLock lock(mutex_);
  KILN_TRY_VOID(CheckOwnerAndNumber(pin));
  KILN_TRY_VOID(CheckShare(pin, keys));
  return pins_.Add(pin, keys);
}

}  // namespace kiln::cache
