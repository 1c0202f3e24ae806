// SPDX-License-Identifier: MIT
// The text of one module: directives; structs, each before its users; overrides; private and
// workgroup variables; resources by group and binding; functions, callees first; entry points. See
// spec/wgsl 3.2.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/emit/wgsl/module_needs.h"
#include "compiler/emit/wgsl/object_table.h"
#include "compiler/emit/wgsl/variant_facts.h"
#include "compiler/ir/specialised.h"
#include "compiler/layout/ir_types.h"
#include "compiler/layout/layout.h"

namespace kiln::wgsl {

struct ModuleInputs {
  const ir::SpecialisedProgram& variant;
  const layout::Layout& layout;
  const VariantFacts& facts;
  std::span<const ModuleNeeds> needs;  // parallel to the entries of the variant
  ObjectTable& table;
  layout::TypeLayouts& layouts;
};

// The module of one entry point, or of all of them.
std::string WriteModule(const ModuleInputs& inputs, std::optional<uint32_t> entry);

// What an entry point is called in its module, which has a function of this source name.
std::string EntryName(std::string_view function);

}  // namespace kiln::wgsl
