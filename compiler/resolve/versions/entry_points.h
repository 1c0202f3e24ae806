// SPDX-License-Identifier: MIT
// The entry points of a request: which functions they are in this variant, and, of typed modules,
// through which variables they exchange values.
#pragma once

#include <span>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/resolve/specialise/specialise_program.h"
#include "compiler/resolve/versions/entry_interface.h"

namespace kiln::resolve {

// Whether it fits the pipeline and those before it in the request.
// Diagnostics: RPL5005 to RPL5007.
bool CheckEntry(const Program& program, std::span<const EntryPoint> entries,
                const EntryPoint& entry, std::vector<Diagnostic>& diagnostics);

// The function, if it can be an entry point. Diagnostics: RPL5001 to RPL5003.
ir::DeclId FindEntry(const EntryPoint& entry, VariantEvaluator& answers,
                     std::vector<Diagnostic>& diagnostics);

struct ChosenEntry {
  ir::Stage stage = ir::Stage::kVertex;
  ir::DeclId function{};  // as it is declared
};
// The interfaces of those that typed modules declare, null for others; all of one variant together,
// because stages agree on locations. Nothing if one of them is wrong.
// Diagnostics: those of interface_leaves.h, interface_rows.h and interface_locations.h.
std::vector<const EntryInterface*> InterfacesOf(std::span<const ChosenEntry> entries,
                                                VariantEvaluator& answers, EntryInterfaces& known,
                                                std::vector<Diagnostic>& diagnostics);

// The locations that a fragment entry point writes, counted from 0; 0 for others.
uint32_t ColorOutputsOf(ir::Stage stage, const EntryInterface& interface);

}  // namespace kiln::resolve
