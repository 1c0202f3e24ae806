// SPDX-License-Identifier: MIT
// Assignment: live interface declarations in binding order -> sets, bindings, locations and sizes.
// Linear, never in hash order, never looks into bodies. Policy `rpl`: nothing is claimed, so first
// fit in the set a declaration names is one counter per set. Spec: layout.md 7.2, 7.4, 9.2;
// rpl.md 10.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/closed.h"
#include "compiler/layout/bytes.h"
#include "compiler/layout/layout.h"
#include "compiler/target/target.h"

namespace kiln::layout {

// Policy rpl: uniform buffers std140, storage buffers and push constants std430, whatever the
// target is.
Rules RulesOf(const ir::ClosedDecl& block);

// Requires: what closing has checked (no wrong pack format, run-time arrays only as storage tails,
// at most one push constant); `types` is of the pool of the variant.
// Diagnostics: RPL4003 and RPL4053. Their locations have module and span number; whoever holds the
// modules fills in the bytes.
Diagnosed<Layout> Assign(const ir::ClosedVariant& variant, const target::Target& target,
                         TypeLayouts& types);

}  // namespace kiln::layout
