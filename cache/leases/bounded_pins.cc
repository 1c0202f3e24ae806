// SPDX-License-Identifier: MIT
// Checks in front of the pins of a store: name and note, whose the name is, how many there are and
// how much of the cache they hold (spec/cache 8.6). What a pin holds is
// looked up once.
#include "cache/leases/bounded_pins.h"

#include <algorithm>
#include <string>

#include "cache/leases/owner_shares.h"
#include "cache/leases/pin_share.h"
#include "compiler/base/printable.h"
#include "compiler/base/threads/stop.h"

namespace kiln::cache {
namespace {

constexpr size_t kLargestPins = 3;  // that are named

std::string NamedPin(std::string_view name) { return "pin '" + std::string(name) + "'"; }

}  // namespace

Result<void> CheckPin(const Pin& pin) {
  if (pin.name.empty() || pin.name.size() > kMaxPinName || !IsPrintable(pin.name)) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = "a pin has a name of at most " + std::to_string(kMaxPinName) +
                            " bytes without control characters",
                 .reason = "MALFORMED_REQUEST"};
  }
  if (pin.note.size() > kMaxPinNote || !IsPrintable(pin.note)) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = "the note of a pin has at most " + std::to_string(kMaxPinNote) +
                            " bytes without control characters",
                 .reason = "MALFORMED_REQUEST"};
  }
  return {};
}

// For callers that check before long work: Add decides again under its lock. A name that is free
// will belong to the actor. Errors: kPermissionDenied if somebody else has it.
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
// is a row that stays, so they are divided as bytes are.
Result<void> BoundedPins::CheckOwnerAndNumber(const Pin& pin) {
  KILN_TRY(const std::vector<Pin> all, pins_.List());
  OwnerShares number(kMaxPins);
  for (const Pin& other : all) {
    if (other.name == pin.name) {
      return OwnerName(other.owner) == OwnerName(pin.owner)
                 ? Result<void>()
                 : Result<void>(NotYours(NamedPin(pin.name), other.owner, pin.owner));
    }
    number.Add(other.owner, 1);
  }
  number.Add(pin.owner, 1);
  if (number.Fits(pin.owner)) {
    return {};
  }
  return Error{.code = ErrorCode::kResourceExhausted,
               .context = "there are " + std::to_string(all.size()) + " pins, " +
                          std::to_string(number.Of(pin.owner) - 1) + " of " +
                          std::string(OwnerName(pin.owner)) + "; remove some",
               .reason = kTooManyPins};
}

// Content that the name holds already stays with it, and counts.
Result<BoundedPins::Wanted> BoundedPins::LookUp(const Pin& pin, std::span<const Key> keys) {
  KILN_TRY(Wanted wanted, StateOf(pin.name));
  std::vector<Key> all(keys.begin(), keys.end());
  if (const Result<PinUsage> before = HeldByPin(maintenance_, pin.name); before.ok()) {
    all.insert(all.end(), before->records.begin(), before->records.end());
  } else if (before.error().code != ErrorCode::kNotFound) {
    return before.error();
  }
  KILN_TRY(const PinUsage held, HeldByKeys(store_, all, {}));
  wanted.bytes = held.bytes;
  return wanted;
}

Result<BoundedPins::Wanted> BoundedPins::StateOf(const std::string& name) {
  KILN_TRY(const std::vector<Pin> all, pins_.List());
  const auto found = std::ranges::find(all, name, &Pin::name);
  return found == all.end() ? Wanted{} : Wanted{.made_s = found->made_s, .records = found->records};
}

Result<void> BoundedPins::CheckShare(const Pin& pin, uint64_t held) {
  KILN_TRY(const PinShare share, ShareWith(sizes_, pins_, pin.name, held, max_bytes_));
  OwnerShares bytes(share.allowed);
  bytes.Add(pin.owner, held);
  for (const PinSize& other : share.others) {
    bytes.Add(other.owner, other.bytes);
  }
  if (bytes.Fits(pin.owner)) {
    return {};
  }
  // The largest ones are named, since removing them helps most.
  std::string largest;
  for (size_t i = 0; i < std::min(share.others.size(), kLargestPins); ++i) {
    largest += (i == 0 ? "; the largest are " : ", ") + share.others[i].name + " (" +
               std::to_string(share.others[i].bytes) + " bytes)";
  }
  const std::string whose = std::string(OwnerName(pin.owner));
  return Error{.code = ErrorCode::kResourceExhausted,
               .context = share.fits()
                              ? "pins of " + whose + " would keep " +
                                    std::to_string(bytes.Of(pin.owner)) + " bytes; " +
                                    std::to_string(bytes.MostOfOne()) + " are allowed to one, " +
                                    std::to_string(share.allowed) + " to all" + largest
                              : "pins would keep " + std::to_string(share.total) + " bytes, " +
                                    std::to_string(share.allowed) + " are allowed" + largest,
               .reason = kPinsTooLarge};
}

Result<uint64_t> BoundedPins::Add(const Pin& pin, std::span<const Key> keys) {
  KILN_TRY_VOID(CheckPin(pin));
  // What is to be held may be a million rows, so it is looked up while others pin. The mutex is
  // held over the checks and the write, so two pins that fit alone cannot both be added. A name
  // that has changed meanwhile is looked up again, which ends: each time somebody else's call has
  // succeeded.
  for (;;) {
    KILN_TRY(const Wanted wanted, LookUp(pin, keys));
    const MutexLock lock(mutex_);
    KILN_TRY(const Wanted now, StateOf(pin.name));
    if (now.made_s != wanted.made_s || now.records != wanted.records) {
      CheckStop();
      continue;
    }
    KILN_TRY_VOID(CheckOwnerAndNumber(pin));
    KILN_TRY_VOID(CheckShare(pin, wanted.bytes));
    sizes_.Forget(pin.name);
    return pins_.Add(pin, keys);
  }
}

Result<void> BoundedPins::Remove(std::string_view name) {
  const MutexLock lock(mutex_);
  sizes_.Forget(name);
  return pins_.Remove(name);
}

Result<void> BoundedPins::RemoveOf(std::string_view name, std::string_view owner) {
  const MutexLock lock(mutex_);
  sizes_.Forget(name);
  return pins_.RemoveOf(name, owner);
}

}  // namespace kiln::cache
