// SPDX-License-Identifier: MIT
// The code with which an entry version takes its inputs and gives its outputs. See docs/IR.md,
// "Entry points".
#pragma once

#include <span>

#include "compiler/resolve/specialise/region_builder.h"
#include "compiler/resolve/versions/entry_interface.h"

namespace kiln::resolve {

// Parameters are variables of the body.
void DeclareInputs(RegionBuilder& region);
// At the start of the body: every input into its variable.
void LoadInputs(RegionBuilder& region, const EntryInterface& interface);
// Before it ends: outputs from the variables and from `result`, which is invalid where there is
// none.
void StoreOutputs(RegionBuilder& region, const EntryInterface& interface, ir::InstId result);

}  // namespace kiln::resolve
