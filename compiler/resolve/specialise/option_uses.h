// SPDX-License-Identifier: MIT
// What each live option of a variant influences: layout, settings, code, or only whether it is
// right. See spec/rpl 12.3
#pragma once

#include "compiler/ir/specialised.h"
#include "compiler/resolve/program.h"
#include "compiler/resolve/specialise/specialiser_cache.h"
#include "compiler/resolve/values/variant_evaluator.h"

namespace kiln::resolve {

// Appends the rows of `out.live_options` to `out.option_uses`, by name. `memory` has what the
// variant read for which part, and remembers the rows: making one interns texts.
void ListOptionUses(const Program& program, VariantEvaluator& answers, SpecialiserCache& memory,
                    ir::SpecialisedProgram& out);

}  // namespace kiln::resolve
