// SPDX-License-Identifier: MIT
// enable, requires and diagnostic.
#pragma once

#include "compiler/front/wgsl/check/context.h"

namespace kiln::wgsl::front {

void CheckDirectives(CheckContext& context);

}  // namespace kiln::wgsl::front
