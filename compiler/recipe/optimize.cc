// SPDX-License-Identifier: MIT
#include "compiler/recipe/optimize.h"

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spirv-tools/optimizer.hpp>

#include "compiler/recipe/validate.h"
#include "compiler/target/spirv_tools.h"

namespace kiln::recipe {

// Instances of passes are used up by a run, so each module gets its own.
RecipeResult Optimize(std::span<const uint32_t> words, const Recipe& recipe) {
  Report report;
  spvtools::Optimizer optimizer(target::SpirvToolsEnvironment(recipe.environment));
  optimizer.SetMessageConsumer(
      [&](spv_message_level_t, const char*, const spv_position_t& at, const char* message) {
        report.Add(fmt::format("word {}: {}", at.index, message));
      });
  // Both lists of passes are those of the library, so results change with its version;
  // ToolFingerprint has it.
  if (recipe.small) {
    optimizer.RegisterSizePasses();
  } else {
    optimizer.RegisterPerformancePasses();
  }
  spvtools::OptimizerOptions options;
  // Nothing is validated here but what `val=after` asks for.
  options.set_run_validator(false);
  options.set_preserve_bindings(true);  // metadata was written before
  std::vector<uint32_t> made;
  if (!optimizer.Run(words.data(), words.size(), &made, options)) {
    return {.ok = false, .bytes = {}, .report = std::move(report).text()};
  }
  if (recipe.validate_after) {
    return Validate(made, recipe.environment);
  }
  return {.ok = true, .bytes = BytesOf(made), .report = std::move(report).text()};
}

}  // namespace kiln::recipe
