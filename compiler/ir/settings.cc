// SPDX-License-Identifier: MIT
#include "compiler/ir/settings.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <type_traits>

namespace kiln::ir {
namespace {

using Word = std::string_view;

#define KILN_SETTING_VALUES(list, ...) constexpr Word kValuesOf##list[] = {__VA_ARGS__};
#include "compiler/ir/settings.def"

// What the type column of settings.def makes of the default column.
constexpr SettingFacts Flag(Word name, SettingScope scope, bool value) {
  return {name, scope, SettingType::kFlag, value ? 1U : 0U};
}
constexpr SettingFacts Byte(Word name, SettingScope scope, uint32_t value) {
  return {name, scope, SettingType::kByte, value};
}
// Sizes are 1 by default, and their column holds the limit instead.
constexpr SettingFacts Size(Word name, SettingScope scope, uint32_t limit) {
  return {name, scope, SettingType::kSize, 1, {}, {}, limit};
}
constexpr SettingFacts Float(Word name, SettingScope scope, float value) {
  return {name, scope, SettingType::kFloat, std::bit_cast<uint32_t>(value)};
}
#define KILN_SETTING_VALUES(list, ...)                                            \
  constexpr SettingFacts list(Word name, SettingScope scope, Word default_word) { \
    return {name, scope, SettingType::kString, 0, default_word, kValuesOf##list}; \
  }
#include "compiler/ir/settings.def"

// In the order of the enumeration, which is made of the same table.
constexpr SettingFacts kFacts[] = {
#define KILN_SETTING(enumerator, name, scope, type, default_value) \
  type(name, SettingScope::k##scope, default_value),
#include "compiler/ir/settings.def"
};

// Rows of kFacts by name.
// Sorted while compiling, so that finding a setting by its name is a binary search and settings.def
// may keep its own order.
constexpr auto kByName = [] {
  std::array<uint8_t, std::size(kFacts)> rows{};
  std::iota(rows.begin(), rows.end(), uint8_t{0});
  std::sort(rows.begin(), rows.end(),
            [](uint8_t a, uint8_t b) { return kFacts[a].name < kFacts[b].name; });
  return rows;
}();

}  // namespace

std::span<const SettingFacts> AllSettings() { return kFacts; }

const SettingFacts& FactsOf(Setting setting) { return kFacts[static_cast<size_t>(setting)]; }

const SettingFacts* FindSetting(std::string_view name) {
  const auto* found = std::lower_bound(
      kByName.begin(), kByName.end(), name,
      [](uint8_t row, std::string_view wanted) { return kFacts[row].name < wanted; });
  return found != kByName.end() && kFacts[*found].name == name ? &kFacts[*found] : nullptr;
}

}  // namespace kiln::ir
