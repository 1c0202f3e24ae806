// SPDX-License-Identifier: MIT
// Values that are put together from the leaves of others: constructors, initialisers, casts between
// aggregates.
#pragma once

#include "compiler/front/hlsl/lower/context.h"

namespace kiln::hlsl {

// Requires: kBuild.
ir::InstId BuildValue(LowerContext& context, const Expr& expr);

}  // namespace kiln::hlsl
