// SPDX-License-Identifier: MIT
// Checks dumped plans of consecutive frames for hazards. Reads JSON only and shares no code with
// the planner: quadratic and obvious on purpose. See spec/graph 12
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kiln::test {

enum class HazardMode {
  kVulkan,  // execution scopes count globally, as in the API
  kStrict,  // an entry acts only on records that overlap its own cells or bytes
};

// Sentences about what is wrong; empty if nothing is.
std::vector<std::string> FindHazards(const std::vector<nlohmann::json>& frames, HazardMode mode);

}  // namespace kiln::test
