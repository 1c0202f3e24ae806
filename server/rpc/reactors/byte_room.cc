// SPDX-License-Identifier: MIT
// A bound on bytes that all calls hold together, with shares of parties (spec/daemon 9). Taking is
// refused and never waited for. The mutex guards the shares of others than the owner.
#include "server/rpc/reactors/byte_room.h"

namespace kiln::rpc {

bool ByteRoom::TakeOfAll(uint64_t bytes) {
  // Compare and exchange, because a sum that was exceeded for a moment would refuse others for
  // nothing.
  uint64_t held = held_.load(std::memory_order_relaxed);
  do {
    if (bytes > most_ - held) {
      return false;
    }
  } while (!held_.compare_exchange_weak(held, held + bytes));
  return true;
}

// Others than the owner have three quarters together and half each; a party that holds nothing may
// take more than its half at once, or a long message could never be received. What is taken of all
// is an atomic, so the owner never waits for the mutex of the others.
bool ByteRoom::Take(const ops::Party& party, uint64_t bytes) {
  if (party.is_owner()) {
    return TakeOfAll(bytes);
  }
  const uint64_t of_others = most_ - most_ / 4;
  const MutexLock lock(mutex_);
  const auto known = of_party_.find(party.name());
  const uint64_t before = known == of_party_.end() ? 0 : known->second;
  const bool is_its_turn = before == 0 || before + bytes <= most_ / 2;
  if (!is_its_turn || others_ > of_others || bytes > of_others - others_ || !TakeOfAll(bytes)) {
    return false;
  }
  others_ += bytes;
  if (bytes != 0) {
    of_party_[party.name()] = before + bytes;
  }
  return true;
}

// Must be called once for each Take, with the same party and number.
void ByteRoom::GiveBack(const ops::Party& party, uint64_t bytes) {
  if (bytes == 0) {
    return;
  }
  held_.fetch_sub(bytes);
  if (party.is_owner()) {
    return;
  }
  const MutexLock lock(mutex_);
  others_ -= bytes;
  const auto known = of_party_.find(party.name());
  known->second -= bytes;
  if (known->second == 0) {
    of_party_.erase(known);
  }
}

}  // namespace kiln::rpc
