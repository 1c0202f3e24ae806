// SPDX-License-Identifier: MIT
// Specialises one live declaration: drops members that are not live, specialises the types of the
// others and checks what the declaration itself can be wrong about. Its own condition is its
// asker's business.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/specialised.h"
#include "compiler/resolve/values/variant_evaluator.h"

namespace kiln::resolve {

// Struct, container, buffer, push constant, sampler, image, workgroup variable, or the signature of
// a function. A pure function of the program and of what it asks. No value if anything is wrong.
// Diagnostics: RPL4011, RPL4015, RPL4021, RPL4024, RPL4025, RPL4030, RPL4031, RPL4040 to RPL4044,
// RPL4050 to RPL4052, RPL5022, and those of types and conditions.
// Requires: not a constant or a setting. See spec/rpl 4.1, 8.4, 8.6, 10.2, 10.3.
Diagnosed<ir::SpecialisedDecl> SpecialiseDecl(const Program& program, ir::DeclId decl,
                                              VariantEvaluator& answers);

}  // namespace kiln::resolve
