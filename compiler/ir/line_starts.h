// SPDX-License-Identifier: MIT
// Where the lines of a module's source begin: a section of its image like the spans, and like them
// no part of what the module means.
#pragma once

#include <cstdint>
#include <span>

#include "compiler/ir/module.h"

namespace kiln::ir {

// The section of images that holds them.
inline constexpr uint32_t kLineStartsSection = 48;

// Offset of the first byte of each line, ascending. Empty if the image was made without the source.
// Views the module.
std::span<const uint32_t> LineStartsOf(const Module& module);

}  // namespace kiln::ir
