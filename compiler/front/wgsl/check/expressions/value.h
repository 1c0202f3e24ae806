// SPDX-License-Identifier: MIT
// Values of what was checked: loads, conversions, constants.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "compiler/front/wgsl/check/context.h"

namespace kiln::wgsl::front {

// The value of an expression: a place is loaded. Says WGSL2002 of what is none.
ExprId ValueOf(CheckContext& context, ExprId id);
// Does a value of one type stand for one of the other without words?
bool Converts(CheckContext& context, TypeId from, TypeId to);
// The value as one of that type. Says WGSL2002, or WGSL3002 of a constant that does not fit.
ExprId Converted(CheckContext& context, ExprId id, TypeId to);
// With a concrete type.
ExprId Concrete(CheckContext& context, ExprId id);
// Zero, of a constructible type.
ExprId Zero(CheckContext& context, TypeId type, TokenRange at);
// A constant that is a whole number, of any integer type; nothing if it is none.
std::optional<int64_t> WholeOf(const CheckContext& context, ExprId id);
// Scalars of the leaves of a type, in order.
void AddLeafKinds(const Types& types, TypeId type, std::vector<ScalarKind>& kinds);
// The words of part `index` of a constant of a composite type.
std::span<const Word> PartOf(CheckContext& context, ExprId constant, uint32_t index);

}  // namespace kiln::wgsl::front
