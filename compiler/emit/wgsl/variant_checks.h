// SPDX-License-Identifier: MIT
// What is wrong with a variant for WGSL: what its functions say, samplers of two kinds, formats
// that cannot be read and written, and what devices need not have. See
// spec/wgsl 3.9, 3.12, 3.15, 6.
#pragma once

#include <span>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/emit/wgsl/module_needs.h"
#include "compiler/emit/wgsl/object_table.h"
#include "compiler/emit/wgsl/variant_facts.h"
#include "compiler/ir/specialised.h"
#include "compiler/layout/layout.h"

namespace kiln::wgsl {

struct CheckInputs {
  const ir::SpecialisedProgram& variant;
  const layout::Layout& layout;
  const VariantFacts& facts;
  std::span<const ModuleNeeds> needs;  // by entry point
  ObjectTable& table;
};

// Locations have module and span number only.
std::vector<Diagnostic> CheckVariant(const CheckInputs& inputs);

}  // namespace kiln::wgsl
