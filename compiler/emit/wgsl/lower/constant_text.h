// SPDX-License-Identifier: MIT
// A constant as WGSL spells it. See spec/wgsl 3.4
#pragma once

#include <string>

#include "compiler/emit/wgsl/types.h"

namespace kiln::wgsl {

// Type and value, of types that have literals and of what is composed of them: what the first value
// of a variable can be. Asks CheckStop for each part.
std::string ConstantText(ir::ConstId constant, Types& types);

}  // namespace kiln::wgsl
