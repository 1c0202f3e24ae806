// SPDX-License-Identifier: MIT
// RPL's way to the engine: a specialised variant is described as a program of policy `rpl`, and the
// numbers come back by declaration, as emitters want them. See spec/layout 7.4, 12.1; spec/rpl 10.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/specialised.h"
#include "compiler/layout/ir_types.h"
#include "compiler/layout/layout.h"
#include "compiler/layout/program.h"
#include "compiler/layout/program_layout.h"
#include "compiler/target/target.h"

namespace kiln::layout {

// What is written at the block; else uniform buffers std140, storage buffers and push constants
// std430, whatever the target is.
Rules RulesOf(const ir::SpecialisedDecl& block);

// The block of a buffer or push constant, whose numbers are the placement's. Nothing if Assign has
// something to say about what lies inside.
std::optional<Block> GoodBlock(const ir::SpecialisedDecl& decl, const target::Target& target,
                               TypeLayouts& types);

// Invocations of a compute pipeline in x, y and z, as the settings have them.
std::array<uint32_t, 3> WorkgroupSize(const ir::SpecialisedProgram& variant);

// The live interface of a variant as declarations of the engine, and where they came from.
struct DescribedVariant {
  Program program;
  // Parallel to the parameters and containers of each unit.
  std::vector<std::vector<const ir::SpecialisedDecl*>> parameters;
  std::vector<std::vector<const ir::SpecialisedDecl*>> containers;
};
// `types` is of the pool of the variant and gets its types; texts are those of the pool.
DescribedVariant Describe(const ir::SpecialisedProgram& variant, const target::Target& target,
                          TypeLayouts& types);

// Requires: what specialising has checked (no wrong pack format, run-time arrays only as storage
// tails, at most one push constant). Diagnostics: RPL4003, RPL4053, RPL8106 and LIM1001. Their
// locations have module and span number; whoever holds the modules fills in the bytes.
Diagnosed<Layout> Assign(const ir::SpecialisedProgram& variant, const target::Target& target,
                         TypeLayouts& types);

}  // namespace kiln::layout
