// SPDX-License-Identifier: MIT
// What a subscriber wants to hear of (spec/daemon 8.3): programs by name or glob, targets, and
// variants of interest. Empty lists mean everything.
#include "server/reload/wish.h"

#include <algorithm>
#include <utility>

#include "server/reload/glob.h"

namespace kiln::reload {

bool Wish::Hears(const std::string& program) const {
  if (role == Role::kSource) {
    return false;
  }
  return (programs.empty() && globs.empty()) || programs.contains(program) ||
         std::ranges::any_of(globs,
                             [&](const std::string& glob) { return GlobMatches(glob, program); });
}

bool Wish::HearsTarget(const std::string& target) const {
  return targets.empty() || targets.contains(target);
}

std::span<const Interest> Wish::InterestIn(const std::string& program) const {
  const auto found = interest.find(program);
  return found == interest.end() ? std::span<const Interest>() : std::span(found->second);
}

// A variant that is named twice counts once.
void Wish::SetInterest(std::vector<Interest> all) {
  interest.clear();
  std::set<std::pair<std::string, std::string>> seen;
  for (Interest& one : all) {
    if (seen.insert({one.program, one.variant}).second) {
      interest[one.program].push_back(std::move(one));
    }
  }
}

}  // namespace kiln::reload
