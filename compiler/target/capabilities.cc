// SPDX-License-Identifier: MIT
#include "compiler/target/capabilities.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace kiln::target {
namespace {

constexpr uint32_t kNoCapability = 0xffffffffu;

struct NeedRow {
  uint32_t capability;
  uint32_t core;
  std::string_view extension;
};
// By Need.
constexpr NeedRow kNeeds[] = {
#define KILN_NEED(name, capability, core, extension) {capability, core, extension},
#include "compiler/target/capabilities.def"
};

bool Has(Needs needs, size_t row) { return (needs >> row & 1u) != 0; }

}  // namespace

std::vector<uint32_t> CapabilitiesOf(Needs needs) {
  std::vector<uint32_t> numbers;
  for (size_t i = 0; i < std::size(kNeeds); ++i) {
    if (Has(needs, i) && kNeeds[i].capability != kNoCapability) {
      numbers.push_back(kNeeds[i].capability);
    }
  }
  std::ranges::sort(numbers);
  return numbers;
}

std::vector<std::string_view> ExtensionsOf(Needs needs, uint32_t spirv_version) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < std::size(kNeeds); ++i) {
    if (Has(needs, i) && spirv_version < kNeeds[i].core) {
      names.push_back(kNeeds[i].extension);
    }
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace kiln::target
