// SPDX-License-Identifier: MIT
// The walk: from a program and answers to the ordered list of specialised units that make up one
// variant, with everything that is wrong with it. See spec/rpl 8.1; spec/architecture 7, 10.8.
#pragma once

#include <span>
#include <string>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/specialised.h"
#include "compiler/resolve/values/variant_evaluator.h"

namespace kiln::resolve {

struct EntryPoint {
  ir::Stage stage = ir::Stage::kVertex;
  std::string function;

  friend bool operator==(const EntryPoint&, const EntryPoint&) = default;
};

// A pure function of program, entry points and option values. `units` are those the answers were
// made with; the result refers to what they own and to the program. To learn what a failed variant
// read, wrap the call in Answers::BeginReads and EndReads.
// Diagnostics, sorted and merged: all of resolve, those of the units included.
Diagnosed<ir::SpecialisedProgram> SpecialiseVariant(const Program& program,
                                                    std::span<const EntryPoint> entries,
                                                    VariantEvaluator& answers, UnitSource& units);

// The same into memory that is used again. False: there are errors, and `out` means nothing.
bool SpecialiseVariant(const Program& program, std::span<const EntryPoint> entries,
                       VariantEvaluator& answers, UnitSource& units, ir::SpecialisedProgram& out,
                       std::vector<Diagnostic>& diagnostics);

}  // namespace kiln::resolve
