// SPDX-License-Identifier: MIT
// Random fragment stages in HLSL and WGSL whose paths end early: returns, jumps and discards that
// options choose, that values choose and that nothing chooses, at any depth of loops, switches and
// choices, with statements behind them. Equal seeds give equal text.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/ir/module.h"

namespace kiln::property {

// The entry point is `main`. The values of options are those of their declarations.
std::string EndingProgram(ir::Language language, uint64_t seed);

}  // namespace kiln::property
