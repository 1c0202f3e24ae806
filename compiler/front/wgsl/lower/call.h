// SPDX-License-Identifier: MIT
// Calls of functions of the module.
#pragma once

#include "compiler/front/wgsl/lower/context.h"

namespace kiln::wgsl::front {

// How a parameter is passed: as a value; as a variable that is copied in and out, which is what a
// pointer to memory of the invocation means where nothing else names it; or as a place of its own.
enum class Passing : uint8_t { kValue, kCopied, kPlace };
Passing PassingOf(const Type& parameter);

// Requires: kCall. Invalid where it gives nothing.
ir::InstId CallFunction(LowerContext& context, const Expr& expr);

}  // namespace kiln::wgsl::front
