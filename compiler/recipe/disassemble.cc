// SPDX-License-Identifier: MIT
#include "compiler/recipe/disassemble.h"

#include <string>

#include <spirv-tools/libspirv.hpp>

#include "compiler/recipe/validate.h"

namespace kiln::recipe {

RecipeResult Disassemble(std::span<const uint32_t> words) {
  // The newest universal environment reads every older module; whether it is valid is not asked
  // here.
  spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_6);
  Report report;
  tools.SetMessageConsumer([&](spv_message_level_t, const char*, const spv_position_t&,
                               const char* message) { report.Add(message); });
  std::string text;
  if (!tools.Disassemble(
          words.data(), words.size(), &text,
          SPV_BINARY_TO_TEXT_OPTION_INDENT | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES)) {
    // The library refuses without a word what does not even begin as a module.
    std::string why = std::move(report).text();
    return {.ok = false, .bytes = {}, .report = why.empty() ? "the module is not SPIR-V" : why};
  }
  const ByteView bytes = AsBytes(text);
  return {.ok = true, .bytes = {bytes.begin(), bytes.end()}, .report = {}};
}

}  // namespace kiln::recipe
