// SPDX-License-Identifier: MIT
#include "server/ops/line_quota.h"

#include <algorithm>
#include <utility>

namespace kiln::ops {

// A token bucket without a timer: what has flowed in since the last look is added now, up to what
// may be written at once. A clock that stands still adds nothing.
bool LineQuota::Bucket::HasOne(const Rate& rate, Duration now) {
  const double since =
      std::chrono::duration<double>(now - at) / std::chrono::duration<double>(rate.each);
  left = known ? std::min<double>(rate.at_once, left + std::max(since, 0.0)) : rate.at_once;
  at = now;
  known = true;
  return left >= 1;
}

std::optional<uint64_t> LineQuota::Take(const std::string& party, Duration now) {
  // A party that is forgotten leaves its count to the others, so no line is lost from the sum.
  Row& row = parties_.At(
      party, [this](const std::string&, Row& gone) { forgotten_.lines += gone.held_back; });
  // Both buckets must have one, and only then both lose one: a line that is refused by the sum
  // costs its party nothing.
  const bool party_has = row.bucket.HasOne(rates_.party, now);
  if (!party_has || !all_.HasOne(rates_.all, now)) {
    ++row.held_back;
    return std::nullopt;
  }
  row.bucket.left -= 1;
  all_.left -= 1;
  return std::exchange(row.held_back, 0);
}

std::vector<LineQuota::HeldBack> LineQuota::Untold(Duration now, bool all) {
  std::vector<HeldBack> untold;
  for (auto& [party, row] : parties_.rows()) {
    // A party that is still active tells its count with its own next line, so only the silent ones
    // are looked for here.
    if (row.held_back != 0 && (all || now - row.bucket.at >= rates_.party.each)) {
      untold.push_back({.party = party, .lines = std::exchange(row.held_back, 0)});
    }
  }
  if (forgotten_.lines != 0) {
    untold.push_back({.party = forgotten_.party, .lines = std::exchange(forgotten_.lines, 0)});
  }
  return untold;
}

}  // namespace kiln::ops
