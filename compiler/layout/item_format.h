// SPDX-License-Identifier: MIT
// The format of packed vertex data by what the IR says of it.
#pragma once

#include <cstdint>

#include "compiler/ir/decls.h"
#include "compiler/layout/attributes.h"

namespace kiln::layout {

// Requires: a pack that specialising has checked.
ItemFormat FormatOf(ir::PackClass pack, uint32_t bits);

}  // namespace kiln::layout
