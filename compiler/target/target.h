// SPDX-License-Identifier: MIT
// What the output is made for: language, environment, version, limits. A value; equal targets make
// equal outputs.
//
// Text of an environment: "vulkan1.0" … "vulkan1.4". See spec/rpl 11.1.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "compiler/base/language_limits.h"

namespace kiln::target {

enum class Form : uint8_t { kSpirv, kWgsl };
enum class Environment : uint8_t { kVulkan10, kVulkan11, kVulkan12, kVulkan13, kVulkan14 };
// kNames writes OpName and OpMemberName; kFull adds OpSource and OpLine.
enum class Debug : uint8_t { kNone, kNames, kFull };

// What the environment guarantees, unless somebody chose others; exceeding it is an error of the
// program; bindings of a set are what kiln is tested with. Sizes in bytes.
struct Limits {
  uint32_t uniform_buffer_size = LanguageLimits{}.uniform_buffer;
  uint32_t push_constant_size = LanguageLimits{}.push_constant;
  uint32_t workgroup_invocations = LanguageLimits{}.workgroup;
  uint32_t bindings_per_set = LanguageLimits{}.bindings;
  friend bool operator==(const Limits&, const Limits&) = default;
};

Limits LimitsOf(const LanguageLimits& limits);

// A SPIR-V version as the header word has it: 0x00010300 is 1.3.
constexpr uint32_t SpirvVersion(uint32_t major, uint32_t minor) { return major << 16 | minor << 8; }

struct Target {
  Form form = Form::kSpirv;
  Environment environment = Environment::kVulkan11;
  uint32_t spirv_version = SpirvVersion(1, 3);
  Debug debug = Debug::kNames;
  bool combined = false;  // one module for all entry points instead of one for each
  Limits limits;
  friend bool operator==(const Target&, const Target&) = default;
};

// The SPIR-V version of an environment.
uint32_t SpirvVersionOf(Environment environment);

// A SPIR-V target with everything else at its default.
Target MakeTarget(Environment environment);

// "vulkan1.1" -> the environment; nothing for any other text.
std::optional<Environment> ParseEnvironment(std::string_view text);
std::string_view EnvironmentText(Environment environment);

// "spirv", "wgsl".
std::optional<Form> ParseForm(std::string_view text);

// "none", "names", "full".
std::optional<Debug> ParseDebug(std::string_view text);

}  // namespace kiln::target
