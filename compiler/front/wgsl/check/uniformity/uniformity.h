// SPDX-License-Identifier: MIT
// Whether control is uniform where barriers, derivatives and implicit levels stand: WGSL4001,
// WGSL4002. The rules are those of the language (WGSL, "Uniformity"), function by function with
// callees first; where pointers are followed no further nothing is said. See spec/wgsl 5.6
#pragma once

#include "compiler/front/wgsl/check/context.h"

namespace kiln::wgsl::front {

// Requires: no error so far.
void CheckUniformity(CheckContext& context);

}  // namespace kiln::wgsl::front
