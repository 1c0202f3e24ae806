// SPDX-License-Identifier: MIT
// The settings of pipelines as data: settings.def with look-up by name. Read by specialising,
// which checks values, and by metadata, which fills in defaults.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace kiln::ir {

enum class Setting : uint8_t {
#define KILN_SETTING(enumerator, name, scope, type, default_value) k##enumerator,
#include "compiler/ir/settings.def"
};

enum class SettingScope : uint8_t {
  kPipeline,
  kOutput,   // needs a block index
  kCompute,  // of compute pipelines; the others are of graphics pipelines
};
enum class SettingType : uint8_t {
  kFlag,
  kByte,  // uint, at most 255
  kFloat,
  kString,
  kSize,  // uint, 1 to `limit`
};

struct SettingFacts {
  std::string_view name;
  SettingScope scope = SettingScope::kPipeline;
  SettingType type = SettingType::kFlag;
  uint32_t default_bits = 0;                      // kFlag 0 or 1, kByte, kFloat bits
  std::string_view default_text = {};             // kString
  std::span<const std::string_view> values = {};  // kString: what is allowed
  uint32_t limit = 0;                             // kSize
};

std::span<const SettingFacts> AllSettings();  // by Setting
const SettingFacts& FactsOf(Setting setting);
const SettingFacts* FindSetting(std::string_view name);  // nullptr if there is none

}  // namespace kiln::ir
