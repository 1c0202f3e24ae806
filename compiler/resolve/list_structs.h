// SPDX-License-Identifier: MIT
// The structs that the interface of a variant holds, each once: what metadata says of their
// members.
#pragma once

#include <vector>

#include "compiler/ir/specialised.h"
#include "compiler/resolve/values/variant_evaluator.h"

namespace kiln::resolve {

// Adds to `variant.structs` those of its buffers and push constants, outer ones first. `pending` is
// memory, empty before and after.
void ListStructs(VariantEvaluator& answers, ir::SpecialisedProgram& variant,
                 std::vector<ir::TypeId>& pending);

}  // namespace kiln::resolve
