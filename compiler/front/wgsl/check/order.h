// SPDX-License-Identifier: MIT
// The order in which declarations of a module are checked: what a declaration mentions comes before
// it, whatever the order of the source. See spec/wgsl 5.3
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/front/wgsl/check/context.h"

namespace kiln::wgsl::front {

// Numbers of declarations. Says WGSL2003 of names that are declared twice, and leaves the second
// out; WGSL2004 of cycles, and leaves out what is in them.
std::vector<uint32_t> OrderOf(CheckContext& context);

}  // namespace kiln::wgsl::front
