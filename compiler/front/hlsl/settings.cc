// SPDX-License-Identifier: MIT
// Settings of a module as text and back. settings.def has one line for each; here is what reads
// it in a loop, and the two kinds of settings that are no words: shifts of registers and roots
// of includes. The text of all of them is part of a module's key, so its form must never depend
// on the order in which they were set.
#include "compiler/front/hlsl/settings.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "compiler/front/common/identifier.h"

namespace kiln::hlsl {
namespace {

// One row for each line of settings.def: name, values with the default first, spelling of DXC.
constexpr auto kRows = std::to_array<SettingRow>({
#define KILN_MODULE_SETTING(Type, field, name, values, dxc) {name, values, dxc},
#include "compiler/front/hlsl/settings.def"
});

// Registers of HLSL: b constant buffers, t textures, s samplers, u writable resources. Their
// order gives the shifts 0, 128, 256, 384 of `vulkan_registers=classes` (spec/hlsl 16.2).
constexpr std::string_view kRegisterClasses = "btsu";
constexpr uint32_t kMaxShift = 1u << 24;

// Word `index` of words that are separated by single spaces; empty behind the last.
// Values of a setting are one text in the table; splitting it here costs nothing that counts.
std::string_view WordAt(std::string_view words, size_t index) {
  for (; index > 0; --index) {
    const size_t space = words.find(' ');
    words.remove_prefix(space == std::string_view::npos ? words.size() : space + 1);
  }
  return words.substr(0, words.find(' '));
}

// Index of a word; -1 if it is none of them.
int IndexOf(std::string_view words, std::string_view word) {
  for (int i = 0;; ++i) {
    const std::string_view at = WordAt(words, static_cast<size_t>(i));
    if (at.empty() || at == word) {
      return at.empty() ? -1 : i;
    }
  }
}

// For messages: "a, b, c".
std::string List(std::string_view words) {
  std::string list(words);
  for (size_t space = list.find(' '); space != std::string::npos;
       space = list.find(' ', space + 2)) {
    list.replace(space, 1, ", ");
  }
  return list;
}

Error Invalid(std::string text) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(text)};
}

}  // namespace

std::span<const SettingRow> ModuleSettings() { return kRows; }

// A list names single spaces and all of them; later entries win over earlier ones, as on DXC's
// command line.
uint32_t ShiftOf(const Settings& settings, char register_class, uint32_t space) {
  uint32_t amount = settings.vulkan_registers == VulkanRegisters::kClasses
                        ? 128 * static_cast<uint32_t>(kRegisterClasses.find(register_class))
                        : 0;
  for (const RegisterShift& shift : settings.shifts) {
    if (shift.register_class == register_class && shift.space.value_or(space) == space) {
      amount = shift.amount;
    }
  }
  return amount;
}

namespace {

// A number that is far too large would wrap when a register is added to it, so the limit is
// well below.
std::optional<uint32_t> NumberOf(std::string_view text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number <= kMaxShift
             ? std::optional(number)
             : std::nullopt;
}

// "all:16,1:32" of one class, in place of what it had.
Result<void> SetShifts(char register_class, std::string_view value, Settings& settings) {
  std::vector<RegisterShift> made;
  for (std::string_view rest = value;;) {
    const std::string_view one = rest.substr(0, rest.find(','));
    const size_t colon = one.find(':');
    const bool all = one.substr(0, colon) == "all";
    const auto space =
        colon == std::string_view::npos ? std::nullopt : NumberOf(one.substr(0, colon));
    const auto amount =
        colon == std::string_view::npos ? std::nullopt : NumberOf(one.substr(colon + 1));
    if (!amount || (!all && !space)) {
      return Invalid(fmt::format(
          "'{}' is not a list of SPACE:AMOUNT, where SPACE is a number or 'all'", value));
    }
    made.push_back(
        {.register_class = register_class, .space = all ? std::nullopt : space, .amount = *amount});
    if (one.size() == rest.size()) {
      break;
    }
    rest.remove_prefix(one.size() + 1);
  }
  // A setting that is given twice counts as the last one says, the whole list of it.
  std::erase_if(settings.shifts,
                [&](const RegisterShift& shift) { return shift.register_class == register_class; });
  settings.shifts.insert(settings.shifts.end(), made.begin(), made.end());
  return {};
}

// The text that SetShifts reads. It is part of the key of a module.
std::string ShiftsText(const Settings& settings, char register_class) {
  std::string text;
  for (const RegisterShift& shift : settings.shifts) {
    if (shift.register_class == register_class) {
      text += fmt::format("{}{}:{}", text.empty() ? "" : ",",
                          shift.space ? std::to_string(*shift.space) : "all", shift.amount);
    }
  }
  return text;
}

}  // namespace

Result<void> SetSetting(std::string_view name, std::string_view value, Settings& settings) {
  if (name.size() == 7 && name.starts_with("shift.") &&
      kRegisterClasses.find(name[6]) != std::string_view::npos) {
    return SetShifts(name[6], value, settings);
  }
  const auto row = std::ranges::find(kRows, name, &SettingRow::name);
  if (row == kRows.end()) {
    std::string names;
    for (const SettingRow& known : kRows) {
      names += (names.empty() ? "" : ", ") + std::string(known.name);
    }
    names += ", shift.b, shift.t, shift.s, shift.u";
    return Invalid(fmt::format("'{}' is not a setting of HLSL, known are {}", name, names));
  }
  // A value with a space would otherwise be two words of the table and match neither.
  const int index = value.find(' ') == std::string_view::npos ? IndexOf(row->values, value) : -1;
  if (index < 0) {
    return Invalid(fmt::format("'{}' is not a value of setting '{}', known are {}", value, name,
                               List(row->values)));
  }
  [[maybe_unused]] size_t number = 0;
// Expands to one `if` for each row: only the row that was found is set.
#define KILN_MODULE_SETTING(Type, field, name, values, dxc)   \
  if (static_cast<size_t>(row - kRows.begin()) == number++) { \
    settings.field = static_cast<Type>(index);                \
  }
#include "compiler/front/hlsl/settings.def"
  return {};
}

std::vector<SettingValue> ValuesOf(const Settings& settings) {
  return {
#define KILN_MODULE_SETTING(Type, field, name, values, dxc) \
  {name, WordAt(values, static_cast<size_t>(settings.field))},
#include "compiler/front/hlsl/settings.def"
  };
}

std::string_view MacroNameOf(const Define& define) {
  return std::string_view(define.name).substr(0, define.name.find('('));
}

const MacroChoice* FindMacro(std::span<const MacroChoice> macros, std::string_view name) {
  const auto found = std::ranges::lower_bound(macros, name, {}, &MacroChoice::name);
  return found != macros.end() && found->name == name ? &*found : nullptr;
}

// NAME, NAME=VALUE or NAME(PARAMETERS)=VALUE. The value may hold anything, also line ends; what
// becomes of them is the preprocessor's (PredefinedText).
Result<Define> ParseDefine(std::string_view text) {
  const size_t name_end = std::min(text.find_first_of("(="), text.size());
  const std::string_view name = text.substr(0, name_end);
  const bool good = !name.empty() && !front::IsDigit(name[0]) &&
                    std::ranges::all_of(name, front::IsIdentifierByte);
  if (!good) {
    return Invalid(fmt::format("'{}' is not the name of a macro", name));
  }
  // The last character of the name, with its parameters.
  const size_t close = text.substr(name_end).starts_with('(') ? text.find(')') : name_end - 1;
  if (close == std::string_view::npos || (close + 1 < text.size() && text[close + 1] != '=')) {
    return Invalid(fmt::format("'{}' is not NAME, NAME=VALUE or NAME(PARAMETERS)=VALUE", text));
  }
  Define define{.name = std::string(text.substr(0, close + 1))};
  if (close + 1 < text.size()) {
    define.value = std::string(text.substr(close + 2));
  }
  return define;
}

// spec/hlsl 1.5: all settings but the macros, ascending by name, defaults written out, so that
// equal settings give equal keys. Rows of the table ascend; include roots and shifts are no
// rows and are put in where their names belong.
std::string LanguageText(const Settings& settings) {
  std::string text = "hlsl;";
  bool rooted = false;
  const auto add = [&](std::string_view name, std::string_view value) {
    text += fmt::format("{}={};", name, value);
  };
  bool shifted = false;
  const auto add_shifts = [&] {
    shifted = true;
    for (const char register_class : {'b', 's', 't', 'u'}) {
      const std::string shifts = ShiftsText(settings, register_class);
      if (!shifts.empty()) {
        add(fmt::format("shift.{}", register_class), shifts);
      }
    }
  };
  const auto add_roots = [&] {
    rooted = true;
    for (const std::string& root : settings.include_roots) {
      // With its length in front, because a root may hold any character.
      add("include_root", fmt::format("{}:{}", root.size(), root));
    }
  };
#define KILN_MODULE_SETTING(Type, field, name, values, dxc) \
  if (!rooted && std::string_view(name) > "include_root") { \
    add_roots();                                            \
  }                                                         \
  if (!shifted && std::string_view(name) > "shift.") {      \
    add_shifts();                                           \
  }                                                         \
  add(name, WordAt(values, static_cast<size_t>(settings.field)));
#include "compiler/front/hlsl/settings.def"
  return text;
}

}  // namespace kiln::hlsl
