// SPDX-License-Identifier: MIT
// For tests of this folder: a layout of a specialised variant by plain counting, and SPIRV-Tools as
// the judge of what was written. Not part of the library, which does not link SPIRV-Tools.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "compiler/ir/specialised.h"
#include "compiler/layout/layout.h"
#include "compiler/target/target.h"

namespace kiln::spirv {

// Bindings count per set, locations per direction of containers, in the order of the interface.
layout::Layout CountingLayout(const ir::SpecialisedProgram& variant);

// Empty if the validator accepts the module for the target, else its complaint and the module.
enum class BlockLayouts : uint8_t { kStandard, kScalar };  // scalar: a feature of devices
std::string Validate(std::span<const uint32_t> words, const target::Target& target,
                     BlockLayouts layouts = BlockLayouts::kStandard);

// Without header and indentation; ids are numbers.
std::string Disassemble(std::span<const uint32_t> words, const target::Target& target);

}  // namespace kiln::spirv
