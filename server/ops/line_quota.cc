// SPDX-License-Identifier: MIT
#include "server/ops/line_quota.h"

#include <algorithm>
#include <utility>

namespace kiln::ops {

std::optional<uint64_t> LineQuota::Take(const std::string& party, Duration now) {
  Row& row = parties_.At(
      party, [this](const std::string&, Row& gone) { forgotten_.lines += gone.held_back; });
  const double most = rate_.at_once;
  const double since =
      std::chrono::duration<double>(now - row.at) / std::chrono::duration<double>(rate_.each);
  row.left = row.known ? std::min(most, row.left + std::max(since, 0.0)) : most;
  row.at = now;
  row.known = true;
  if (row.left < 1) {
    ++row.held_back;
    return std::nullopt;
  }
  row.left -= 1;
  return std::exchange(row.held_back, 0);
}

std::vector<LineQuota::HeldBack> LineQuota::Untold(Duration now, bool all) {
  std::vector<HeldBack> untold;
  for (auto& [party, row] : parties_.rows()) {
    if (row.held_back != 0 && (all || now - row.at >= rate_.each)) {
      untold.push_back({.party = party, .lines = std::exchange(row.held_back, 0)});
    }
  }
  if (forgotten_.lines != 0) {
    untold.push_back({.party = forgotten_.party, .lines = std::exchange(forgotten_.lines, 0)});
  }
  return untold;
}

}  // namespace kiln::ops
