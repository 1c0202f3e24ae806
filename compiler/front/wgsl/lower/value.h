// SPDX-License-Identifier: MIT
// Values and places of expressions.
#pragma once

#include "compiler/front/wgsl/lower/context.h"

namespace kiln::wgsl::front {

// Of anything but a place or pointer; of a texture or sampler its handle. Invalid for what gives
// nothing.
ir::InstId ValueOf(LowerContext& context, ExprId id);
// Evaluates what is in the place once. Requires: a place.
Place PlaceOf(LowerContext& context, ExprId id);
// What a pointer points to.
Place PointedBy(LowerContext& context, ExprId id);
// Makes a variable for each computed index of a pointer: see ComputedStep.
void KeepSteps(LowerContext& context, ExprId pointer);
// The place as one instruction.
ir::InstId PlaceInst(LowerContext& context, const Place& place);
ir::InstId Load(LowerContext& context, const Place& place);
void Store(LowerContext& context, const Place& place, ir::InstId value);

}  // namespace kiln::wgsl::front
