// SPDX-License-Identifier: MIT
// Rule sets: how the bytes of a block are placed, as facts that the one placing algorithm reads.
// See spec/layout 4.1, 4.5.
#pragma once

#include <cstdint>
#include <string_view>

namespace kiln::layout {

enum class Rules : uint8_t {
  kStd140,
  kStd430,
  kScalar,
  kC,
  kD3dCbuffer,
  kStd140Relaxed,
  kStd430Relaxed,
  kWgsl,  // numbers of std430; blocks are also checked (wgsl_checks.h)
};
inline constexpr uint32_t kRulesCount = 8;

struct RuleTraits {
  std::string_view name;      // as in dumps
  uint32_t struct_alignment;  // least alignment of a struct
  uint32_t array_alignment;   // least alignment of an array, hence of its stride
  bool power_of_two_vectors;  // a vector is aligned to the power of two that holds it
  bool padded_last_item;      // the last item of an array takes a whole stride
  bool rounded_structs;       // the size of a struct is rounded up to its alignment
  bool register_lines;        // no member crosses a 16-byte line unless it starts on one
  bool relaxed_vectors;       // a vector member needs no more than the alignment of a component
};

inline constexpr RuleTraits kRuleTraits[kRulesCount] = {
    {"std140", 16, 16, true, true, true, false, false},
    {"std430", 1, 1, true, true, true, false, false},
    {"scalar", 1, 1, false, false, false, false, false},
    {"c", 1, 1, false, true, true, false, false},
    {"d3d_cbuffer", 16, 16, false, false, false, true, false},
    {"std140_relaxed", 16, 16, true, true, true, false, true},
    {"std430_relaxed", 1, 1, true, true, true, false, true},
    {"wgsl", 1, 1, true, true, true, false, false},
};

constexpr const RuleTraits& TraitsOf(Rules rules) {
  return kRuleTraits[static_cast<uint32_t>(rules)];
}

}  // namespace kiln::layout
