// SPDX-License-Identifier: MIT
// Compares costs per byte without division.
#include "cache/collect.h"

#include <algorithm>

namespace kiln::cache {
namespace {

bool GoesBefore(const Candidate& a, const Candidate& b) {
  __extension__ using Wide = unsigned __int128;
  // a/b < c/d as a·d < c·b, exact for any 64-bit numbers. The cheapest to make again, for the room
  // that it takes, goes first; ties go by key, so every run collects the same.
  const Wide left = Wide{a.cost_us} * b.bytes;
  const Wide right = Wide{b.cost_us} * a.bytes;
  return left != right ? left < right : a.record < b.record;
}

}  // namespace

int64_t EvictionQuantum(Level level, int64_t used_q) {
  // A module is asked for by every miss of its programs and is small, so it counts as used later
  // than it was.
  return level == Level::kModule ? used_q + kModuleBonusQuanta : used_q;
}

void SortForEviction(std::vector<Candidate>& candidates) {
  for (Candidate& candidate : candidates) {
    candidate.bytes = std::max<uint64_t>(candidate.bytes, 1);
  }
  std::ranges::sort(candidates, GoesBefore);
}

}  // namespace kiln::cache
