// SPDX-License-Identifier: MIT
// What entry points take and give, the stages of what they call, and the bindings that they use
// (WGSL4003, WGSL4004, WGSL2010). See spec/wgsl 5.5
#pragma once

#include "compiler/front/wgsl/check/context.h"

namespace kiln::wgsl::front {

void CheckEntryPoint(CheckContext& context, FunctionId id);

}  // namespace kiln::wgsl::front
