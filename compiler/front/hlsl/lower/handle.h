// SPDX-License-Identifier: MIT
// Resources as places of the IR: a declaration, an item of an array of them, or a parameter that
// stands for one. See spec/hlsl 14.3; docs/IR.md, "Place parameters"
#pragma once

#include <vector>

#include "compiler/front/hlsl/lower/context.h"

namespace kiln::hlsl {

// What a declaration says of an image besides its type.
struct ImageWords {
  const Attributes* written = nullptr;
  bool compared = false;  // it holds depths
};
ir::TypeId ImageTypeOf(LowerContext& context, const Type& object, const ImageWords& words);

// The type of a place that stands for a resource or an array of them: images and samplers
// themselves; of a structured buffer or one of bytes the array of its items; of a block what it
// holds.
ir::TypeId HandleTypeOf(LowerContext& context, TypeId type, const ImageWords& words);
ImageWords WordsOf(const LowerContext& context, const Global& global);
ImageWords WordsOf(const Local& local);

// The row of the object that a type or the items of an array are; null: it is none.
const Type* ObjectOf(const LowerContext& context, TypeId type);

// A resource as an operand of an image instruction or as an argument. Requires: an expression of an
// object type, or of an array of them.
ir::InstId HandleOf(LowerContext& context, ExprId id);

}  // namespace kiln::hlsl
