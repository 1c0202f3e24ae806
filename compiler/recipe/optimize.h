// SPDX-License-Identifier: MIT
// SPIR-V words -> fewer or faster ones that mean the same. Private to compiler/recipe.
#pragma once

#include <span>

#include "compiler/recipe/recipe.h"

namespace kiln::recipe {

RecipeResult Optimize(std::span<const uint32_t> words, const Recipe& recipe);

}  // namespace kiln::recipe
