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

// A set of needs is one word with a bit for each row, so the table may have 64 rows.
bool Has(Needs needs, size_t row) { return (needs >> row & 1u) != 0; }

}  // namespace

std::vector<uint32_t> CapabilitiesOf(Needs needs) {
  std::vector<uint32_t> numbers;
  for (size_t i = 0; i < std::size(kNeeds); ++i) {
    if (Has(needs, i) && kNeeds[i].capability != kNoCapability) {
      numbers.push_back(kNeeds[i].capability);
    }
  }
  // By number and not by row: the order in a module must not change when a row is added to the
  // table. Rows name different capabilities, so nothing is there twice.
  std::ranges::sort(numbers);
  return numbers;
}

std::vector<std::string_view> ExtensionsOf(Needs needs, uint32_t spirv_version) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < std::size(kNeeds); ++i) {
    // `core` is the first version that has it without an extension. Several needs share an
    // extension (16-bit storage, descriptor indexing), which is declared once.
    if (Has(needs, i) && spirv_version < kNeeds[i].core) {
      names.push_back(kNeeds[i].extension);
    }
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace kiln::target
