// SPDX-License-Identifier: MIT
// SPIR-V words of one entry point -> MSL, GLSL or HLSL text. Private to compiler/recipe.
#pragma once

#include <span>
#include <string>

#include "compiler/recipe/recipe.h"

namespace kiln::recipe {

RecipeResult Translate(std::span<const uint32_t> words, const Dialect& dialect);

std::string TranslatorVersion();

}  // namespace kiln::recipe
