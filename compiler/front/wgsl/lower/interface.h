// SPDX-License-Identifier: MIT
// Attributes of interfaces and resources in the IR.
#pragma once

#include "compiler/front/wgsl/lower/context.h"

namespace kiln::wgsl::front {

// Of a member or parameter, or of a function's result or a resource. `row`: of Unit::attributes.
void AddInterface(LowerContext& context, uint32_t row, bool of_member, uint32_t owner);
// `builtin ("Name")` alone.
void AddBuiltin(LowerContext& context, std::string_view name, uint32_t member);

}  // namespace kiln::wgsl::front
