// SPDX-License-Identifier: MIT
// Closes the active settings of a variant and checks each against settings.def. See spec/rpl 9.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/specialised.h"
#include "compiler/resolve/variant_evaluator.h"

namespace kiln::resolve {

// All active settings in program order; wrong ones are left out, and those of
// functions that are not among `entries`, the names of the chosen ones. `color_outputs` is the
// number of live colour outputs of the variant. Diagnostics: RPL7001 to RPL7008 and those of
// expressions.
std::vector<ir::SpecialisedSetting> SpecialiseSettings(const Program& program,
                                                       std::span<const std::string_view> entries,
                                                       uint32_t color_outputs,
                                                       VariantEvaluator& answers,
                                                       std::vector<Diagnostic>& diagnostics);

}  // namespace kiln::resolve
