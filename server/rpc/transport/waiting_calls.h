// SPDX-License-Identifier: MIT
// Calls whose headers have come and whose requests have not, by party. gRPC shows a call to its
// handler when the whole request is there and does not tell when one ends before: what began and
// never arrived is counted here, so that calls which send headers and nothing else end some time.
// Calls that their clients gave up meanwhile are counted as well; few of them harm nobody.
// See spec/daemon 9.3, 10
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "compiler/base/clock.h"
#include "server/ops/party_table.h"

namespace kiln::rpc {

// One thread at a time.
class WaitingCalls {
 public:
  static constexpr size_t kMost = 256;     // of one party
  static constexpr size_t kHarmless = 16;  // for as long as they want
  static constexpr Duration kLongest = std::chrono::seconds(60);
  static constexpr size_t kMostParties = 10'000;

  // False if there are too many of the party's: this one does not count.
  bool Began(const std::string& party, Duration now);
  void Arrived(const std::string& party);
  void Forget(const std::string& party);  // they were ended
  // Parties of which more than a few wait for too long; all of theirs are forgotten.
  std::vector<std::string> TakeStale(Duration now);
  bool empty() const { return waiting_ == 0; }

 private:
  using Begun = std::deque<Duration>;  // when; the oldest first

  ops::PartyTable<Begun> parties_{kMostParties};
  size_t waiting_ = 0;  // of all
};

}  // namespace kiln::rpc
