// SPDX-License-Identifier: MIT
// What a request says about an HLSL module besides its text. All of it is in the module's key. See
// spec/hlsl 1.5
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/result.h"

namespace kiln::hlsl {

// Values in the order of settings.def.
enum class FloatNotEqual : uint8_t { kUnordered, kOrdered };
enum class MemoryLayout : uint8_t { kRelaxed, kStd, kDx, kScalar };
enum class MatrixOrder : uint8_t { kColumn, kRow };
enum class ShaderModel : uint8_t { k60, k61, k62, k63, k64, k65, k66, k67, k68 };
enum class SixteenBit : uint8_t { kOff, kOn };
enum class Version : uint8_t { k2021, k2018 };
enum class VulkanRegisters : uint8_t { kDirect, kClasses, kIgnore };

// Register N of a class in a space, or in all of them, is binding N + amount (spec/hlsl 16.2).
struct RegisterShift {
  char register_class = 'b';      // b, t, s, u
  std::optional<uint32_t> space;  // none: all
  uint32_t amount = 0;

  friend bool operator==(const RegisterShift&, const RegisterShift&) = default;
};

// A line `#define name value` before the root file. `name` may have parameters, "F(a, b)".
struct Define {
  std::string name;
  std::string value = "1";

  friend bool operator==(const Define&, const Define&) = default;
};

// A macro of which the request chooses a value. Only what the source reads of these is part of its
// key, so a list that differs in others is the same module (compiler/source/macro_path.h).
struct MacroChoice {
  std::string name;
  std::optional<std::string> value;  // none: it is not defined

  friend bool operator==(const MacroChoice&, const MacroChoice&) = default;
};

struct Settings {
#define KILN_MODULE_SETTING(Type, field, name, values, dxc) Type field{};
#include "compiler/front/hlsl/settings.def"
  std::vector<RegisterShift> shifts;       // in order; the last that fits counts
  std::vector<Define> defines;             // in order
  std::vector<MacroChoice> macros;         // ascending by name, names unique and none of `defines`
  std::vector<std::string> include_roots;  // folders as logical paths, "" is the root; in order

  friend bool operator==(const Settings&, const Settings&) = default;
};

// A setting as tables of flags and manifests show it.
struct SettingRow {
  std::string_view name;
  std::string_view values;  // separated by spaces, the default first
  std::string_view dxc;
};
std::span<const SettingRow> ModuleSettings();  // ascending by name

// What is added to register N of a class, b, t, s or u, in a space.
uint32_t ShiftOf(const Settings& settings, char register_class, uint32_t space);

// "matrix_order", "row"; "shift.t", "all:16,1:32". Errors: kInvalidArgument, naming what is
// accepted.
Result<void> SetSetting(std::string_view name, std::string_view value, Settings& settings);

// All module settings with their values, ascending by name.
struct SettingValue {
  std::string_view name, value;
};
std::vector<SettingValue> ValuesOf(const Settings& settings);

// The name of the macro alone: "F" of "F(a, b)".
std::string_view MacroNameOf(const Define& define);

// The choice of that name; null if there is none. O(log macros)
const MacroChoice* FindMacro(std::span<const MacroChoice> macros, std::string_view name);

// "NAME", "NAME=VALUE", "NAME(a, b)=VALUE"; the value of a bare name is 1. Errors:
// kInvalidArgument if NAME is no identifier.
Result<Define> ParseDefine(std::string_view text);

// The language text of keys: "hlsl;" and all settings but the macros as "name=value;", ascending
// by name (spec/cache 2.4).
std::string LanguageText(const Settings& settings);

}  // namespace kiln::hlsl
