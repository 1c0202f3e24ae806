// SPDX-License-Identifier: MIT
// What an editor says of inbuilt functions and settings. Everything is taken from the compiler's
// own tables and from the text of special functions, so nothing is described twice.
#include "client/lsp/features/builtin_text.h"

#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/ir/builtins.h"

namespace kiln::lsp {
namespace {

// name|signature|stage|version|example
struct SpecialRow {
  std::string_view name, signature, stage, version, example;
};

// The name must be the whole first cell: `sample` is not `sample_lod`.
std::optional<SpecialRow> FindSpecial(std::string_view name) {
  std::string_view text = SpecialFunctions();
  // A walk over the lines of a text of some kilobytes, once for each name that an editor asks
  // about. Completion keeps its whole list (Session::builtins).
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with(name) || line.substr(name.size(), 1) != "|") {
      continue;
    }
    std::array<std::string_view, 5> cells;
    for (std::string_view& cell : cells) {
      const size_t bar = std::min(line.find('|'), line.size());
      cell = line.substr(0, bar);
      line.remove_prefix(std::min(bar + 1, line.size()));
    }
    return SpecialRow{cells[0], cells[1], cells[2], cells[3], cells[4]};
  }
  return std::nullopt;
}

// A letter of builtins.def for a family's type, as RPL spells it.
std::string TypeOfLetter(char letter, rpl::InbuiltType type) {
  const std::string text(rpl::TypeName(type));
  // The letters are those of builtins.def: T the family's type, 1 its scalar, B and S the flags and
  // the signed integers of its size, u and U u1. A letter that is missing here leaves the parameter
  // without a type.
  switch (letter) {
    case 'T':
    case 'M':
      return text;
    case '1':
      return std::string(1, text.front()) + "1";
    case 'B':
      return "b" + text.substr(1);
    case 'S':
      return "s" + text.substr(1);
    case 'u':
    case 'U':
      return "u1";
    case '2':
      return "f2";
    case '4':
      return "f4";
    default:
      return "";
  }
}

// The arguments between the parentheses; brackets hold what may be left out. Parameters are split
// at commas; the rules have none inside of a parameter.
std::vector<std::string> ParametersIn(std::string_view signature) {
  std::vector<std::string> parameters;
  const size_t open = signature.find('(');
  const size_t close = signature.find(')', open);
  if (open == std::string_view::npos || close == std::string_view::npos) {
    return parameters;
  }
  std::string_view list = signature.substr(open + 1, close - open - 1);
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    std::string_view one = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    one.remove_prefix(std::min(one.find_first_not_of(" []"), one.size()));
    while (!one.empty() && (one.back() == ' ' || one.back() == ']')) {
      one.remove_suffix(1);
    }
    if (!one.empty()) {
      parameters.emplace_back(one);
    }
  }
  return parameters;
}

// One row of facts describes a family of functions, each with another type as suffix. The letters
// of that row stand for types that depend on the suffix.
BuiltinText FamilyText(std::string_view name, const rpl::InbuiltFunction& function) {
  const ir::BuiltinFacts& facts = ir::FactsOf(function.builtin);
  BuiltinText text{.name = std::string(name),
                   .signature = {},
                   .parameters = {},
                   .stage = {},
                   .version = function.version,
                   .example = {}};
  for (const char letter : facts.parameters) {
    text.parameters.push_back(TypeOfLetter(letter, function.suffix));
  }
  const std::string result = TypeOfLetter(facts.result, function.suffix);
  text.signature = fmt::format("{} ({}){}{}", name, fmt::join(text.parameters, ", "),
                               result.empty() ? "" : " → ", result);
  return text;
}

// Requires: not kNone.
constexpr auto kTypeNames = std::to_array<std::string_view>({
#define KILN_TYPE(enumerator, text, version, make) text,
#include "compiler/front/rpl/tokens.def"
});

}  // namespace

// Nothing for a word that is no function.
std::optional<BuiltinText> DescribeBuiltin(std::string_view name) {
  const std::optional<rpl::InbuiltFunction> function = rpl::LookUpWord(name).function;
  if (!function.has_value()) {
    return std::nullopt;
  }
  // A family with a type ("clamp_f3") is described by its row of builtins.def. All other functions
  // have argument rules of their own, which the text of special functions states.
  if (function->suffix != rpl::InbuiltType::kNone) {
    return FamilyText(name, *function);
  }
  BuiltinText text{.name = std::string(name),
                   .signature = std::string(name) + " (…)",
                   .parameters = {},
                   .stage = {},
                   .version = function->version,
                   .example = {}};
  if (const std::optional<SpecialRow> special = FindSpecial(name)) {
    text.signature = special->signature;
    text.parameters = ParametersIn(special->signature);
    text.stage = special->stage == "any" ? "" : special->stage;
    text.example = special->example;
  }
  return text;
}

// Costs some thousand look-ups of words, so a caller keeps the list.
std::vector<BuiltinText> AllBuiltins(uint32_t version) {
  std::vector<BuiltinText> all;
  const auto add = [&](const std::string& name) {
    std::optional<BuiltinText> text = DescribeBuiltin(name);
    if (text.has_value() && text->version <= version) {
      all.push_back(std::move(*text));
    }
  };
  for (uint32_t i = 0; i < ir::kBuiltinCount; ++i) {
    const auto builtin = static_cast<ir::Builtin>(i);
    // What only typed modules call has no name in RPL.
    if (ir::IsOfTypedModules(builtin)) {
      continue;
    }
    add(std::string(ir::FactsOf(builtin).name));
    for (const std::string_view type : kTypeNames) {
      // The look-up of words alone knows which pairs of a name and a type exist, so every pair is
      // tried, once for each version of the language.
      add(fmt::format("{}_{}", ir::FactsOf(builtin).name, type));
    }
  }
  std::ranges::sort(all, {}, &BuiltinText::name);
  // A word may be met with and without a type.
  const auto same = std::ranges::unique(all, {}, &BuiltinText::name);
  all.erase(same.begin(), same.end());
  return all;
}

// Values as they are written in RPL, with the default first where there is a choice.
std::vector<std::string> SettingValues(const ir::SettingFacts& facts) {
  switch (facts.type) {
    case ir::SettingType::kFlag:
      return facts.default_bits != 0 ? std::vector<std::string>{"true", "false"}
                                     : std::vector<std::string>{"false", "true"};
    // The default comes first, because clients preselect the first item of a list.
    case ir::SettingType::kString: {
      std::vector<std::string> values{fmt::format("\"{}\"", facts.default_text)};
      for (const std::string_view value : facts.values) {
        if (value != facts.default_text) {
          values.push_back(fmt::format("\"{}\"", value));
        }
      }
      return values;
    }
    case ir::SettingType::kFloat: {
      const auto value = std::bit_cast<float>(facts.default_bits);
      return {fmt::format("{:.1f}", value)};
    }
    case ir::SettingType::kByte:
    case ir::SettingType::kSize:
      return {fmt::format("{}u", facts.default_bits)};
  }
  return {};
}

std::string DescribeSetting(const ir::SettingFacts& facts) {
  const std::vector<std::string> values = SettingValues(facts);
  const std::string usual = values.empty() ? "" : values.front();
  switch (facts.type) {
    case ir::SettingType::kFlag:
      return fmt::format("true or false; {} where nothing is set", usual);
    case ir::SettingType::kString:
      return fmt::format("one of {}; {} where nothing is set", fmt::join(values, ", "), usual);
    case ir::SettingType::kFloat:
      return fmt::format("a float; {} where nothing is set", usual);
    case ir::SettingType::kByte:
      return fmt::format("a uint of at most 255; {} where nothing is set", usual);
    case ir::SettingType::kSize:
      return fmt::format("a uint from 1 to {}", facts.limit);
  }
  return {};
}

}  // namespace kiln::lsp
