// SPDX-License-Identifier: MIT
// Functions of memory: atomics, arrayLength, barriers, workgroupUniformLoad.
#pragma once

#include <span>

#include "compiler/front/wgsl/check/context.h"

namespace kiln::wgsl::front {

ExprId CheckMemoryCall(CheckContext& context, Function function, std::span<const ExprId> arguments,
                       TokenRange at);

}  // namespace kiln::wgsl::front
