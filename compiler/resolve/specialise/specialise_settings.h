// SPDX-License-Identifier: MIT
// Specialises the active settings of a variant and checks each against settings.def. See
// spec/rpl 9.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/specialised.h"
#include "compiler/resolve/specialise/specialise_program.h"
#include "compiler/resolve/values/variant_evaluator.h"

namespace kiln::resolve {

// All active settings in program order, then those of chosen entry points in stage order; wrong
// ones are left out. `color_outputs` is the number of live colour outputs of the variant.
// Diagnostics: RPL7001 to RPL7008 and those of expressions.
std::vector<ir::SpecialisedSetting> SpecialiseSettings(const Program& program,
                                                       std::span<const EntryPoint> entries,
                                                       uint32_t color_outputs,
                                                       VariantEvaluator& answers,
                                                       std::vector<Diagnostic>& diagnostics);

}  // namespace kiln::resolve
