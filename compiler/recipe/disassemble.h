// SPDX-License-Identifier: MIT
// SPIR-V words -> text of the assembler, indented and with names. Private to compiler/recipe.
#pragma once

#include <cstdint>
#include <span>

#include "compiler/recipe/recipe.h"

namespace kiln::recipe {

RecipeResult Disassemble(std::span<const uint32_t> words);

}  // namespace kiln::recipe
