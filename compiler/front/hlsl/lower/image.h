// SPDX-License-Identifier: MIT
// Images: what they are in the IR, and their methods. See spec/hlsl 14.2, 19
#pragma once

#include "compiler/front/hlsl/lower/context.h"
#include "compiler/front/hlsl/lower/place.h"

namespace kiln::hlsl {

// Requires: kMethod, but no texel that is written.
ir::InstId MethodValue(LowerContext& context, const Expr& expr);

// A texel of a storage image.
struct TexelPlace {
  ir::InstId image;
  ir::InstId at;
  TypeId type;  // of its items
};
TexelPlace TexelOf(LowerContext& context, const Expr& expr);
// The same as memory, for atomics. Requires: a texel, whole.
ir::InstId TexelInst(LowerContext& context, const Place& place);
ir::InstId ReadTexel(LowerContext& context, const TexelPlace& texel);
void WriteTexel(LowerContext& context, const TexelPlace& texel, ir::InstId value);

}  // namespace kiln::hlsl
