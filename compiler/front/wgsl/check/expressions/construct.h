// SPDX-License-Identifier: MIT
// Values that are made of values: `vec3f (a, b)`, `array (1, 2)`, `i32 (x)`, `Light ()`.
#pragma once

#include <span>

#include "compiler/front/wgsl/check/context.h"

namespace kiln::wgsl::front {

ExprId Construct(CheckContext& context, TypeId type, std::span<const ExprId> arguments,
                 TokenRange at);
// Of a name that leaves the scalar or the whole to the arguments: `vec3 (…)`, `array (…)`.
ExprId ConstructOf(CheckContext& context, std::string_view name, std::span<const ExprId> arguments,
                   TokenRange at);

}  // namespace kiln::wgsl::front
