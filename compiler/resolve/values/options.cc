// SPDX-License-Identifier: MIT
// Checks the assignments of one variant in the order of spec/rpl 3 and fills in defaults.
#include "compiler/resolve/values/options.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "compiler/base/check.h"
#include "compiler/base/text/closest_name.h"
#include "compiler/base/threads/stop.h"
#include "compiler/ir/enum_names.h"

namespace kiln::resolve {
namespace {

// Settings come from a request and have no place in a source.
Diagnostic AboutOption(Code code, std::string_view name) {
  return Make(code, Location{}).With("name", name);
}

// The option's values in declared order, as "'linear', 'filmic'".
std::string ValuesText(const Program& program, ir::OptionId id) {
  const ir::ModuleView& view = program.module(program.ModuleOf(id));
  std::string text;
  for (const uint32_t value : view.List(program.Get(id).values)) {
    text += text.empty() ? "'" : ", '";
    text += view.Text(ir::StringId{value});
    text += '\'';
  }
  return text;
}

void SuggestValue(const Program& program, ir::OptionId id, Diagnostic& found) {
  const ir::ModuleView& view = program.module(program.ModuleOf(id));
  // The wrong value is read from the message, which has it already.
  ClosestName closest(found.Find("value")->value);
  for (const uint32_t value : view.List(program.Get(id).values)) {
    closest.Offer(view.Text(ir::StringId{value}));
  }
  if (!closest.best().empty()) {
    std::move(found).Note(NoteKind::kSimilarName, {{"name", closest.best()}});
  }
}

// Number of `text` in the option's values, or kNoRow.
// Linear; an enumeration has at most some hundred values.
uint32_t EnumIndex(const Program& program, ir::OptionId id, std::string_view text) {
  const ir::ModuleView& view = program.module(program.ModuleOf(id));
  const auto values = view.List(program.Get(id).values);
  const auto found = std::ranges::find_if(
      values, [&](uint32_t value) { return view.Text(ir::StringId{value}) == text; });
  return found == values.end() ? ir::kNoRow : static_cast<uint32_t>(found - values.begin());
}

// Most settings are flags and integers, and right: there is nothing to look at but their type.
bool IsPlain(const ir::Option& option, const OptionSetting& setting) {
  return setting.kind == option.kind && option.kind != ir::OptionKind::kEnum &&
         option.kind != ir::OptionKind::kFloat &&
         (!setting.scope.has_value() || *setting.scope == option.scope);
}

// The bits to store, or nothing after adding why not.
// Kind before scope before value, so that one setting gets one message, that about its first fault.
std::optional<uint32_t> CheckSetting(const Program& program, const OptionSetting& setting,
                                     ir::OptionId id, std::vector<Diagnostic>& diagnostics) {
  const ir::Option& option = program.Get(id);
  if (setting.kind != option.kind) {
    diagnostics.push_back(
        AboutOption(Code::kRpl2004, setting.name)
            .With("declared", ir::NameOf(option.kind))
            .With("given", ir::NameOf(setting.kind))
            .Label(LabelKind::kDeclaredHere, program.NameLocation(id), {{"name", setting.name}}));
    return std::nullopt;
  }
  if (setting.scope && *setting.scope != option.scope) {
    diagnostics.push_back(
        AboutOption(Code::kRpl2005, setting.name)
            .With("declared", ir::NameOf(option.scope))
            .With("given", ir::NameOf(*setting.scope))
            .Label(LabelKind::kDeclaredHere, program.NameLocation(id), {{"name", setting.name}}));
    return std::nullopt;
  }
  if (option.kind == ir::OptionKind::kEnum) {
    const uint32_t index = EnumIndex(program, id, setting.text);
    if (index == ir::kNoRow) {
      diagnostics.push_back(
          AboutOption(Code::kRpl2006, setting.name)
              .With("value", setting.text)
              .Note(NoteKind::kKnownValues, {{"values", ValuesText(program, id)}}));
      SuggestValue(program, id, diagnostics.back());
      return std::nullopt;
    }
    return index;
  }
  // Infinities and NaNs have no literals in any target language.
  if (option.kind == ir::OptionKind::kFloat && !std::isfinite(std::bit_cast<float>(setting.bits))) {
    diagnostics.push_back(AboutOption(Code::kRpl2007, setting.name));
    return std::nullopt;
  }
  return setting.bits;
}

}  // namespace

std::optional<uint32_t> CheckOption(const Program& program, const OptionSetting& setting,
                                    std::vector<Diagnostic>& diagnostics) {
  const ir::OptionId id = program.FindOption(setting.name);
  if (!id.valid()) {
    diagnostics.push_back(UnknownOption(program, setting.name));
    return std::nullopt;
  }
  return CheckSetting(program, setting, id, diagnostics);
}

Diagnostic UnknownOption(const Program& program, std::string_view name) {
  Diagnostic made = AboutOption(Code::kRpl2003, name);
  ClosestName closest(name);
  // By name and not by number, so the suggestion among equally close names does not depend on the
  // order of modules.
  for (const ir::OptionId id : program.options_by_name()) {
    closest.Offer(program.Text(program.NameOf(id)));
  }
  return closest.best().empty()
             ? made
             : std::move(made).Note(NoteKind::kSimilarName, {{"name", closest.best()}});
}

bool CheckOptions(const Program& program, std::span<const OptionSetting> settings,
                  OptionValues& values, std::vector<Diagnostic>& diagnostics) {
  // All options get their defaults in one copy; then settings overwrite them. Requests of daemons
  // have thousands of variants, so the usual case does no search but that for the name.
  const std::span<const uint32_t> defaults = program.option_defaults();
  values.bits.assign(defaults.begin(), defaults.end());
  bool good = true;
  for (const OptionSetting& setting : settings) {
    // Found by hash, because this is done for each setting of each variant.
    const ir::OptionId id = program.FindOption(setting.name);
    if (id.valid() && IsPlain(program.Get(id), setting)) {
      values.bits[id.value] = setting.bits;
      continue;
    }
    // Only the unusual case asks: the usual one is a few instructions.
    CheckStop();
    if (diagnostics.size() >= kMaxDiagnostics) {
      return false;  // nobody is shown more, and each of them looks at all options
    }
    if (!id.valid()) {
      diagnostics.push_back(UnknownOption(program, setting.name));
      good = false;
      continue;
    }
    const std::optional<uint32_t> bits = CheckSetting(program, setting, id, diagnostics);
    good = good && bits.has_value();
    // A value is stored even if it is wrong, but nobody evaluates after an error.
    values.bits[id.value] = bits.value_or(0);
  }
  return good;
}

Diagnosed<OptionValues> CheckOptions(const Program& program,
                                     std::span<const OptionSetting> settings) {
  Diagnosed<OptionValues> result;
  OptionValues values;
  if (CheckOptions(program, settings, values, result.diagnostics)) {
    result.value = std::move(values);
  }
  return result;
}

}  // namespace kiln::resolve
