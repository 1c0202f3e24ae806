// SPDX-License-Identifier: MIT
// The two faces of a macro meet here: to a request it is an option with values, to a source a line
// #define that may be there. Each choice is looked up by name in the few options of a variant.
#include "server/compile/programs/macro_choices.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/base/threads/stop.h"
#include "compiler/source/macro_path.h"

namespace kiln::compile {
namespace {

// Of all macros of a program with several sources, as of one source (front/hlsl/macro_pragmas.cc).
constexpr size_t kMostNames = 2048;

// The value of the macro that a setting means; nothing if it is none.
std::optional<size_t> ValueOf(const hlsl::MacroAxis& macro, const resolve::OptionSetting& setting) {
  if (setting.kind != macro.kind) {
    return std::nullopt;
  }
  if (macro.kind != ir::OptionKind::kEnum) {
    return hlsl::ValueOfBits(macro, setting.bits);
  }
  const auto found = std::ranges::find(macro.values, setting.text);
  return found == macro.values.end()
             ? std::nullopt
             : std::optional(static_cast<size_t>(found - macro.values.begin()));
}

}  // namespace

std::vector<hlsl::MacroChoice> ChoicesOf(std::span<const hlsl::MacroAxis> macros,
                                         std::span<const resolve::OptionSetting> fixed,
                                         std::span<const resolve::OptionSetting> options) {
  std::vector<size_t> values(macros.size(), 0);
  for (const std::span<const resolve::OptionSetting> settings : {fixed, options}) {
    for (const resolve::OptionSetting& setting : settings) {
      const auto macro = std::ranges::lower_bound(macros, setting.name, {}, &hlsl::MacroAxis::name);
      if (macro != macros.end() && macro->name == setting.name) {
        const std::optional<size_t> value = ValueOf(*macro, setting);
        size_t& chosen = values[static_cast<size_t>(macro - macros.begin())];
        chosen = value.value_or(chosen);
      }
    }
  }
  std::vector<hlsl::MacroChoice> choices;
  choices.reserve(macros.size());
  for (size_t i = 0; i < macros.size(); ++i) {
    hlsl::AddChoices(macros[i], values[i], choices);
  }
  std::ranges::sort(choices, {}, &hlsl::MacroChoice::name);
  return choices;
}

ProgramRequest WithChoices(ProgramRequest request,
                           std::span<const resolve::OptionSetting> options) {
  if (!request.hlsl.macros.empty()) {
    request.hlsl.settings.macros = ChoicesOf(request.hlsl.macros, request.options, options);
  }
  return request;
}

// Macros of the request come first: a manifest may list other values than the source does.
std::vector<hlsl::MacroAxis> WithMacrosOf(std::vector<hlsl::MacroAxis> macros,
                                          std::span<const hlsl::Define> defines,
                                          std::string_view text) {
  std::set<std::string, std::less<>> names;
  for (const hlsl::Define& define : defines) {
    names.emplace(hlsl::MacroNameOf(define));
  }
  for (const hlsl::MacroAxis& macro : macros) {
    names.insert(macro.name);
    for (const std::string_view name : hlsl::NamesOf(macro)) {
      names.emplace(name);
    }
  }
  for (hlsl::MacroAxis& macro : driver::MacrosIn(text)) {
    std::vector<std::string_view> own = hlsl::NamesOf(macro);
    own.push_back(macro.name);
    const bool known = std::ranges::any_of(own, [&](auto name) { return names.contains(name); });
    if (!known && macros.size() < hlsl::kMostMacroAxes && names.size() + own.size() <= kMostNames) {
      names.insert(own.begin(), own.end());
      macros.push_back(std::move(macro));
    }
  }
  std::ranges::sort(macros, {}, &hlsl::MacroAxis::name);
  return macros;
}

std::vector<Diagnostic> CheckMacros(std::span<const hlsl::MacroAxis> macros,
                                    const resolve::Program& program,
                                    const resolve::OptionValues& values) {
  std::vector<Diagnostic> found;
  for (const hlsl::MacroAxis& macro : macros) {
    CheckStop();
    const ir::OptionId option = program.FindOption(macro.name);
    const uint32_t bits = values.bits[option.value];
    if (hlsl::ValueOfBits(macro, bits).has_value()) {
      continue;
    }
    const std::string value =
        macro.kind == ir::OptionKind::kSint   ? std::to_string(static_cast<int32_t>(bits))
        : macro.kind == ir::OptionKind::kFlag ? std::string(bits != 0 ? "true" : "false")
                                              : std::to_string(bits);
    found.push_back(Make(Code::kRpl2006, {})
                        .With("name", macro.name)
                        .With("value", value)
                        .Note(NoteKind::kKnownValues,
                              {{"values", fmt::format("{}", fmt::join(macro.values, ", "))}}));
  }
  return found;
}

// What any of the sources asked for counts for all of them, since a variant is one thing.
std::unique_ptr<const driver::MacrosOfProgram> MacrosOf(
    std::span<const hlsl::MacroAxis> macros,
    std::span<const std::shared_ptr<const ParsedSource>> parsed) {
  if (macros.empty()) {
    return nullptr;
  }
  std::set<std::string_view> asked;
  for (const std::shared_ptr<const ParsedSource>& source : parsed) {
    for (const Probe& probe : source->probes) {
      if (IsMacroPath(probe.path)) {
        asked.insert(MacroOfPath(probe.path));
      }
    }
  }
  auto out = std::make_unique<driver::MacrosOfProgram>();
  out->module = std::make_shared<const ir::Module>(driver::MacroModule(macros));
  for (uint32_t row = 0; row < macros.size(); ++row) {
    const std::vector<std::string_view> names = hlsl::NamesOf(macros[row]);
    if (std::ranges::any_of(names, [&](std::string_view name) { return asked.contains(name); })) {
      out->asked.push_back(row);
    }
  }
  return out;
}

}  // namespace kiln::compile
