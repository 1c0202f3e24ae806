// SPDX-License-Identifier: MIT
// Checks of one dumped plan that need no history: order of uses, placement, batches. Reads JSON
// only. See spec/graph 12.7
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kiln::test {

// Sentences about what is wrong; empty if nothing is.
std::vector<std::string> FindBrokenRules(const nlohmann::json& plan);

}  // namespace kiln::test
