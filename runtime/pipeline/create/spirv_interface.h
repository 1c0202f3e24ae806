// SPDX-License-Identifier: MIT
// What an entry point reads and writes by location, from its SPIR-V words: a reader of the few
// instructions that say so. For debug checks only; pipelines are made from metadata.
// See spec/pso 6.2.3, P5
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/artifact/metadata_enums.h"
#include "compiler/base/result.h"
#include "runtime/vk/table.h"

namespace kiln::runtime {

struct InterfaceLocation {
  uint32_t location = 0;
  artifact::OutputItem item = artifact::OutputItem::kFloat;
  uint32_t components = 1;  // of the vector, or of the column of a matrix

  friend bool operator==(const InterfaceLocation&, const InterfaceLocation&) = default;
};

// Ascending; without built-in variables.
struct SpirvInterface {
  std::vector<InterfaceLocation> inputs;
  std::vector<InterfaceLocation> outputs;
};

// Requires nothing of the words: they may be damaged or hostile.
// Errors: METADATA_INVALID if they are no SPIR-V up to the first function, have no such entry
// point,
//         or a location holds what no stage exchanges.
// Spec: SPIR-V 1.6 §2.3, §2.4
Result<SpirvInterface> ReadInterface(std::span<const uint32_t> words, VkShaderStageFlagBits stage,
                                     std::string_view entry);

}  // namespace kiln::runtime
