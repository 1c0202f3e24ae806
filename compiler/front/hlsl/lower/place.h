// SPDX-License-Identifier: MIT
// Storage: a root, the steps to a part of it, and the components that are meant.
#pragma once

#include <optional>
#include <vector>

#include "compiler/front/hlsl/lower/context.h"

namespace kiln::hlsl {

struct Place {
  ir::InstId root;   // of a texel the image
  ir::InstId texel;  // where in the image; invalid: memory
  ir::TypeId root_type;
  std::vector<ir::InstId> steps;  // u1 each
  bool non_uniform = false;       // invocations may pick different buffers of an array
  TypeId type;                    // of what the steps lead to
  // Components of a vector, in the order of a swizzle; or elements of a matrix as PackElements has
  // them. Both empty: all of it.
  std::vector<uint8_t> letters;
  std::vector<uint8_t> elements;

  bool is_texel() const { return texel.valid(); }
  bool whole() const { return letters.empty() && elements.empty(); }
};

// What makes a place of a place: both are stored, or none is.
bool IsPart(ExprKind kind);
// Whether an expression denotes storage in the IR: a parameter that nobody writes is a value there.
bool IsStored(const LowerContext& context, ExprId id);
// The local that a place is, or is a part of. Nothing for other storage, and for values.
std::optional<uint32_t> RootLocal(const LowerContext& context, ExprId id);

// Evaluates what is in the place once. Requires: IsStored.
Place PlaceOf(LowerContext& context, ExprId id);
ir::InstId Load(LowerContext& context, const Place& place);
void Store(LowerContext& context, const Place& place, ir::InstId value);
// What lies in a buffer, as an argument: the array of its items, or the content of a block.
ir::InstId BufferInst(LowerContext& context, ExprId id);
// The place as one instruction. Requires: whole().
ir::InstId PlaceInst(LowerContext& context, const Place& place);

}  // namespace kiln::hlsl
