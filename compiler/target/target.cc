// SPDX-License-Identifier: MIT
#include "compiler/target/target.h"

#include <cstddef>
#include <iterator>

namespace kiln::target {
namespace {

struct EnvironmentRow {
  std::string_view text;
  uint32_t spirv_version;
};
// By Environment.
// The SPIR-V version is the highest that every device of the Vulkan version takes: 1.4 came with no
// version of its own, and Vulkan 1.4 kept 1.6.
constexpr EnvironmentRow kEnvironments[] = {
    {"vulkan1.0", SpirvVersion(1, 0)}, {"vulkan1.1", SpirvVersion(1, 3)},
    {"vulkan1.2", SpirvVersion(1, 5)}, {"vulkan1.3", SpirvVersion(1, 6)},
    {"vulkan1.4", SpirvVersion(1, 6)},
};
constexpr std::string_view kDebugTexts[] = {"none", "names", "full"};

const EnvironmentRow& RowOf(Environment environment) {
  return kEnvironments[static_cast<size_t>(environment)];
}

}  // namespace

uint32_t SpirvVersionOf(Environment environment) { return RowOf(environment).spirv_version; }

// Limits of the language that are limits of a device as well: a target must not differ from what
// the source was checked with.
Limits LimitsOf(const LanguageLimits& limits) {
  return {.uniform_buffer_size = limits.uniform_buffer,
          .push_constant_size = limits.push_constant,
          .workgroup_invocations = limits.workgroup,
          .bindings_per_set = limits.bindings};
}

Target MakeTarget(Environment environment) {
  return {.environment = environment, .spirv_version = SpirvVersionOf(environment), .limits = {}};
}

std::optional<Environment> ParseEnvironment(std::string_view text) {
  for (size_t i = 0; i < std::size(kEnvironments); ++i) {
    if (kEnvironments[i].text == text) {
      return static_cast<Environment>(i);
    }
  }
  return std::nullopt;
}

std::string_view EnvironmentText(Environment environment) { return RowOf(environment).text; }

std::optional<Form> ParseForm(std::string_view text) {
  return text == "spirv"  ? std::optional(Form::kSpirv)
         : text == "wgsl" ? std::optional(Form::kWgsl)
                          : std::nullopt;
}

std::optional<Debug> ParseDebug(std::string_view text) {
  for (size_t i = 0; i < std::size(kDebugTexts); ++i) {
    if (kDebugTexts[i] == text) {
      return static_cast<Debug>(i);
    }
  }
  return std::nullopt;
}

}  // namespace kiln::target
