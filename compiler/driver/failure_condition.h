// SPDX-License-Identifier: MIT
// The shortest condition over options that tells the variants with a message from those without:
// "skinning && !instancing". Spec: daemon.md 3.1
//
// A condition is a literal, literals joined by '&&', or such terms joined by '||'; what is looked
// for has the fewest literals of those that a search of bounded size finds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kiln::driver {

// One option and the values it takes in the variants that were tried.
struct Axis {
  std::string name;
  bool is_flag = false;
  std::vector<std::string> values;  // as RPL writes them; a flag has "false" and "true"
};

// Every combination of the values, the last axis varying fastest; `failing` has one item for each.
// Requires: failing.size() is the product of the numbers of values. Empty if all or none fail.
std::string ShortestCondition(const std::vector<Axis>& axes, const std::vector<bool>& failing);

}  // namespace kiln::driver
