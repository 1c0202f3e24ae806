// SPDX-License-Identifier: MIT
// The shortest condition over options that tells the variants with a message from those without:
// "skinning && !instancing". See spec/daemon 3.1
//
// A condition is a literal, literals joined by '&&', or such terms joined by '||'; what is looked
// for has the fewest literals of those that a search of bounded size finds. Combinations that were
// not tried (because they are excluded) may fall on either side of it.
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

inline constexpr uint32_t kNoValue = ~uint32_t{0};

struct TriedVariants {
  std::vector<Axis> axes;
  // For each variant, for each axis the number of its value, or kNoValue: the variant does not say.
  std::vector<uint32_t> values;

  size_t size() const { return axes.empty() ? 1 : values.size() / axes.size(); }
};

// Every combination of the values, the last axis varying fastest.
TriedVariants EveryCombination(std::vector<Axis> axes);

// `failing` has one item for each variant. Empty if all or none fail, or if nothing short tells
// them apart.
std::string ShortestCondition(const TriedVariants& tried, const std::vector<bool>& failing);

}  // namespace kiln::driver
