// SPDX-License-Identifier: MIT
// Inputs and outputs of an entry point: what WGSL hands over as parameters and a result, and which
// private variables stand for it in the functions. A matrix goes column by column. See spec/wgsl 2.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/emit/wgsl/decl_names.h"
#include "compiler/emit/wgsl/module_needs.h"
#include "compiler/emit/wgsl/types.h"
#include "compiler/ir/specialised.h"
#include "compiler/layout/layout.h"

namespace kiln::wgsl {

// One value that crosses the edge of the entry point.
struct InterfaceLeaf {
  std::string attributes;  // "@location(2) @interpolate(flat)"
  std::string name;        // of the member or, with "__arg" behind it, the parameter
  std::string type;
  std::string variable;  // that stands for it, or a column of it
};

struct EntryInterface {
  std::vector<InterfaceLeaf> inputs;
  std::vector<InterfaceLeaf> outputs;
  uint32_t handed_on = 0;  // stage variables that the inner function takes
};

struct InterfaceInputs {
  const ir::SpecialisedProgram& variant;
  const layout::Layout& layout;
  const DeclNames& names;
  Types& types;
};

// `needs`: of the functions of the entry. `declared`: outputs besides those that are written, which
// the next stage reads.
EntryInterface InterfaceOf(ir::Stage stage, const ModuleNeeds& needs, const ModuleNeeds* next_stage,
                           const InterfaceInputs& inputs);

// "@builtin(position)"; its type.
std::string_view BuiltinAttribute(ir::StageVariable variable);
std::string_view BuiltinType(ir::StageVariable variable);

}  // namespace kiln::wgsl
