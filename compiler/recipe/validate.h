// SPDX-License-Identifier: MIT
// SPIR-V words -> the same, if they are valid in an environment. Private to compiler/recipe.
#pragma once

#include <span>
#include <string>

#include "compiler/recipe/recipe.h"

namespace kiln::recipe {

// One line for each thing that a library says, at most 16 KiB.
class Report {
 public:
  void Add(std::string_view line);
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

Bytes BytesOf(std::span<const uint32_t> words);

RecipeResult Validate(std::span<const uint32_t> words, target::Environment environment);

}  // namespace kiln::recipe
