// SPDX-License-Identifier: MIT
// The text of one module of typed sources, in the order of module_writer.h. Entry points take their
// inputs as parameters and return their outputs; buffers are variables of their content; names are
// those of the source. See spec/wgsl 3.16.
#pragma once

#include <optional>
#include <string>

#include "compiler/emit/wgsl/module_writer.h"

namespace kiln::wgsl {

std::string WriteTypedModule(const ModuleInputs& inputs, std::optional<uint32_t> entry);

// Buffers that the entry points use and whose layout WGSL cannot say: WGSL8202.
std::vector<Diagnostic> CheckBuffers(const ir::SpecialisedProgram& variant,
                                     std::span<const ModuleNeeds> needs, Types& types,
                                     layout::TypeLayouts& layouts);

}  // namespace kiln::wgsl
