// SPDX-License-Identifier: MIT
// Values of macros are texts here, as a #define line has them, and bits where they are options.
// The kind of an axis follows from its values alone, so a manifest, a pragma and a message of the
// protocol that list the same values declare the same option.
#include "compiler/front/hlsl/macro_axis.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "compiler/front/common/identifier.h"

namespace kiln::hlsl {
namespace {

Error Wrong(std::string text) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(text), .reason = "VALUE_WRONG"};
}

bool IsWord(std::string_view text) {
  return !text.empty() && text.size() <= kMostMacroText && !front::IsDigit(text[0]) &&
         std::ranges::all_of(text, front::IsIdentifierByte);
}

// A number as it is written back: "007" and "-0" would be two spellings of one option value.
std::optional<int64_t> NumberOf(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole =
      error == std::errc{} && end == text.data() + text.size() && std::to_string(number) == text;
  return whole && number >= INT32_MIN && number <= UINT32_MAX ? std::optional(number)
                                                              : std::nullopt;
}

bool IsFlag(std::string_view text) { return text == "false" || text == "true"; }

// Nothing: they are of several kinds, or some are of none.
std::optional<ir::OptionKind> KindOf(const std::vector<std::string>& values) {
  if (std::ranges::all_of(values, IsFlag)) {
    return ir::OptionKind::kFlag;
  }
  if (std::ranges::all_of(values, [](const auto& value) { return NumberOf(value).has_value(); })) {
    const auto in = [&](int64_t least, int64_t most) {
      return std::ranges::all_of(values, [&](const std::string& value) {
        const int64_t number = *NumberOf(value);
        return number >= least && number <= most;
      });
    };
    return in(0, UINT32_MAX)          ? std::optional(ir::OptionKind::kUint)
           : in(INT32_MIN, INT32_MAX) ? std::optional(ir::OptionKind::kSint)
                                      : std::nullopt;
  }
  const bool words = std::ranges::all_of(
      values, [](const std::string& value) { return IsWord(value) && !IsFlag(value); });
  return words ? std::optional(ir::OptionKind::kEnum) : std::nullopt;
}

}  // namespace

Result<MacroAxis> MakeMacroAxis(std::string name, std::vector<std::string> values) {
  if (!IsWord(name) || name == "defined") {
    return Wrong(fmt::format("'{}' is not the name of a macro", name.substr(0, kMostMacroText)));
  }
  if (values.empty() || values.size() > kMostMacroValues) {
    return Wrong(fmt::format("macro '{}' has {} values, 1 to {} are possible", name, values.size(),
                             kMostMacroValues));
  }
  std::set<std::string_view> seen;
  for (const std::string& value : values) {
    if (!seen.insert(value).second) {
      return Wrong(fmt::format("macro '{}' has the value '{}' twice", name,
                               value.substr(0, kMostMacroText)));
    }
  }
  const std::optional<ir::OptionKind> kind = KindOf(values);
  if (!kind.has_value()) {
    return Wrong(
        fmt::format("values of macro '{}' must all be flags (false: not defined), whole "
                    "numbers of 32 bits, or words",
                    name));
  }
  return MacroAxis{.name = std::move(name), .kind = *kind, .values = std::move(values)};
}

Result<MacroAxis> MakeKeywordAxis(std::vector<std::string> keywords) {
  for (std::string& keyword : keywords) {
    keyword = keyword == "__" ? "_" : keyword;
  }
  const bool may_be_none = std::ranges::find(keywords, "_") != keywords.end();
  if (may_be_none && keywords.size() == 2) {
    const bool first = keywords[0] == "_";
    return MakeMacroAxis(keywords[first ? 1 : 0], first
                                                      ? std::vector<std::string>{"false", "true"}
                                                      : std::vector<std::string>{"true", "false"});
  }
  std::string name;
  for (const std::string& keyword : keywords) {
    if (keyword != "_") {
      name += (name.empty() ? "" : "_") + keyword;
    }
  }
  if (name.size() > kMostMacroText) {
    return Wrong("too many keywords in one list of macros");
  }
  KILN_TRY(MacroAxis axis, MakeMacroAxis(std::move(name), std::move(keywords)));
  if (axis.kind != ir::OptionKind::kEnum) {
    return Wrong(fmt::format("'{}' is not a list of names of macros", axis.values.front()));
  }
  axis.is_keywords = true;
  return axis;
}

std::vector<std::string_view> NamesOf(const MacroAxis& axis) {
  if (!axis.is_keywords) {
    return {axis.name};
  }
  std::vector<std::string_view> names;
  for (const std::string& value : axis.values) {
    if (value != "_") {
      names.push_back(value);
    }
  }
  return names;
}

void AddChoices(const MacroAxis& axis, size_t value, std::vector<MacroChoice>& choices) {
  const std::string& chosen = axis.values[value];
  if (axis.is_keywords) {
    for (const std::string_view name : NamesOf(axis)) {
      choices.push_back({.name = std::string(name),
                         .value = name == chosen ? std::optional<std::string>("1") : std::nullopt});
    }
    return;
  }
  const bool flag = axis.kind == ir::OptionKind::kFlag;
  choices.push_back({.name = axis.name,
                     .value = !flag              ? std::optional(chosen)
                              : chosen == "true" ? std::optional<std::string>("1")
                                                 : std::nullopt});
}

// Negative numbers are their two's complement, as options have them.
uint32_t BitsOf(const MacroAxis& axis, size_t value) {
  switch (axis.kind) {
    case ir::OptionKind::kFlag:
      return axis.values[value] == "true" ? 1 : 0;
    case ir::OptionKind::kEnum:
      return static_cast<uint32_t>(value);
    default:
      return static_cast<uint32_t>(*NumberOf(axis.values[value]));
  }
}

std::optional<size_t> ValueOfBits(const MacroAxis& axis, uint32_t bits) {
  for (size_t value = 0; value < axis.values.size(); ++value) {
    if (BitsOf(axis, value) == bits) {
      return value;
    }
  }
  return std::nullopt;
}

}  // namespace kiln::hlsl
