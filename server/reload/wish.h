// SPDX-License-Identifier: MIT
// What a client of a watch session wants to hear of. See spec/daemon 8.3
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "server/reload/generation.h"

namespace kiln::reload {

// The numbers of the wire.
enum class Role : uint8_t { kSource = 1, kSubscriber = 2, kBoth = 3 };

struct Wish {
  Role role = Role::kSubscriber;
  std::set<std::string> programs;  // names
  std::vector<std::string> globs;  // of programs; neither names nor globs: all
  std::set<std::string> targets;   // names; none: all
  std::map<std::string, std::vector<Interest>> interest;  // by program, each variant once

  bool Hears(const std::string& program) const;
  bool HearsTarget(const std::string& target) const;
  std::span<const Interest> InterestIn(const std::string& program) const;
  void SetInterest(std::vector<Interest> all);
};

}  // namespace kiln::reload
