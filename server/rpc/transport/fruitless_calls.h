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
  static constexpr double kOfClients = 100;  // so many times more of those that are let in
  static constexpr size_t kMostParties = 10'000;

  // `of_clients`: how many times more those may make that are let in.
  explicit FruitlessCalls(double of_clients = kOfClients) : of_clients_(of_clients) {}

  // False: it was one too many.
  bool Take(const ops::Party& party, Duration now) {
    if (Left(party, now) < 1) {
      return false;
    }
    Spend(party, 1);
    return true;
  }
  // Calls that the party may make now; below zero after a Pause.
  double Left(const ops::Party& party, Duration now) {
    Spent& spent = parties_.At(party.name());
    const double seconds = std::chrono::duration<double>(now - spent.at).count();
    spent.calls = std::max(0.0, spent.calls - std::max(seconds, 0.0) * kPerSecond * Times(party));
    spent.at = now;
    return kAtOnce * Times(party) - spent.calls;
  }
  void Spend(const ops::Party& party, double calls) { parties_.At(party.name()).calls += calls; }
  // From now on it may make none for so long.
  void Pause(const ops::Party& party, Duration now, Duration pause) {
    Spend(party, Left(party, now) +
                     std::chrono::duration<double>(pause).count() * kPerSecond * Times(party));
  }

 private:
  struct Spent {
    double calls = 0;
    Duration at{};
  };
  double Times(const ops::Party& party) const {
    const bool is_in =
        party.kind() == ops::Party::Kind::kToken || party.kind() == ops::Party::Kind::kUser;
    return is_in ? of_clients_ : 1;
  }

  const double of_clients_;
  ops::PartyTable<Spent> parties_{kMostParties};
};

}  // namespace kiln::rpc
