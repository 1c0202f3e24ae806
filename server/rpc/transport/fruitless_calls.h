// SPDX-License-Identifier: MIT
// How many calls that come to nothing a party may make: without a token that is known, reset by
// their client before they were answered, or of what gRPC answers itself. Each costs gRPC tens of
// KiB for a moment, and its client tens of bytes. See spec/daemon 10, 11.3
#pragma once

#include <algorithm>
#include <chrono>

#include "compiler/base/clock.h"
#include "server/ops/party.h"
#include "server/ops/party_table.h"

namespace kiln::rpc {

// One thread at a time.
class FruitlessCalls {
 public:
  static constexpr double kPerSecond = 10;
  static constexpr double kAtOnce = 100;
  static constexpr double kOfClients = 100;  // so many times more for those that are let in
  static constexpr size_t kMostParties = 10'000;

  // False: it was one too many.
  bool Take(const ops::Party& party, Duration now) {
    const bool is_in =
        party.kind() == ops::Party::Kind::kToken || party.kind() == ops::Party::Kind::kUser;
    const double times = is_in ? kOfClients : 1;
    Spent& spent = parties_.At(party.name());
    const double seconds = std::chrono::duration<double>(now - spent.at).count();
    spent.calls = std::max(0.0, spent.calls - std::max(seconds, 0.0) * kPerSecond * times);
    spent.at = now;
    if (spent.calls + 1 > kAtOnce * times) {
      return false;
    }
    spent.calls += 1;
    return true;
  }

 private:
  struct Spent {
    double calls = 0;
    Duration at{};
  };
  ops::PartyTable<Spent> parties_{kMostParties};
};

}  // namespace kiln::rpc
