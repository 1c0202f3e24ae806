// SPDX-License-Identifier: MIT
// How many lines of a log each party may cause, and all of them together: some at once, and then
// one in a while. Lines beyond that are held back, counted and told as a number. So nobody writes
// away what is told of others, whatever number of names he has. See spec/daemon 11.7
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/clock.h"
#include "server/ops/party_table.h"

namespace kiln::ops {

// One thread at a time.
class LineQuota {
 public:
  static constexpr size_t kMostParties = 10'000;  // that are remembered

  struct Rate {
    uint32_t at_once = 1;
    Duration each = std::chrono::minutes(1);  // then one
  };
  struct Rates {
    Rate party;
    Rate all = {.at_once = 1000, .each = std::chrono::milliseconds(100)};
  };
  struct HeldBack {
    std::string party;
    uint64_t lines = 0;
  };

  explicit LineQuota(const Rates& rates) : rates_(rates) {}

  // How many lines of the party were held back since its last one, if this one may be written.
  std::optional<uint64_t> Take(const std::string& party, Duration now);

  // What was held back of parties that have caused none for a while, of those that had to be
  // forgotten, and with `all` of everybody; it is told once.
  std::vector<HeldBack> Untold(Duration now, bool all = false);

 private:
  struct Bucket {
    bool known = false;
    double left = 0;  // lines
    Duration at{};    // when that was so
    bool HasOne(const Rate& rate, Duration now);
  };
  struct Row {
    Bucket bucket;
    uint64_t held_back = 0;
  };

  const Rates rates_;
  Bucket all_;
  PartyTable<Row> parties_{kMostParties};
  HeldBack forgotten_{.party = "others", .lines = 0};
};

}  // namespace kiln::ops
