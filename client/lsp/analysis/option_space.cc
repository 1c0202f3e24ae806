// SPDX-License-Identifier: MIT
// Between a manifest's texts and a program's options: values as settings, settings as texts, and
// the variant that an editor shows.
#include "client/lsp/analysis/option_space.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "compiler/driver/option_text.h"

namespace kiln::lsp {
namespace {

// The text that a command line would have for the value; reading it back gives the same value.
std::string SettingText(const project::ManifestValue& value) {
  if (const auto* flag = std::get_if<bool>(&value.value)) {
    return *flag ? "true" : "false";
  }
  if (const auto* integer = std::get_if<int64_t>(&value.value)) {
    return std::to_string(*integer);
  }
  if (const auto* real = std::get_if<double>(&value.value)) {
    return fmt::format("{}", *real);
  }
  return std::get<std::string>(value.value);
}

// Names that are not in the program are settings of nothing, which the check of the space reports.
bool HasOption(const resolve::Program& program, const std::string& name) {
  return program.FindOption(name).valid();
}

}  // namespace

std::string TextOf(const resolve::OptionSetting& setting) {
  return fmt::format("{} = {}", setting.name, driver::ValueText(setting));
}

// What the program cannot have keeps the kind that it looks like, for the check to say so; what it
// can have is told in one way, so that settings compare.
resolve::OptionSetting SettingOf(const resolve::Program& program, const std::string& name,
                                 const std::string& value) {
  const ir::OptionId option = program.FindOption(name);
  const resolve::OptionSetting setting =
      driver::ReadOptionValue(name, value, option.valid() ? &program.Get(option) : nullptr);
  std::vector<Diagnostic> ignored;
  const std::optional<uint32_t> bits =
      option.valid() ? resolve::CheckOption(program, setting, ignored) : std::nullopt;
  return bits.has_value() ? SettingAt(program, option, *bits) : setting;
}

resolve::OptionSetting SettingOf(const resolve::Program& program, const std::string& name,
                                 const project::ManifestValue& value) {
  return SettingOf(program, name, SettingText(value));
}

// Nothing is checked here: what the program does not have goes into the request as it is written,
// so that the one check of spaces reports it with its place in the manifest.
project::SpaceRequest SpaceRequestOf(const resolve::Program& program,
                                     const project::ManifestProgram& manifest) {
  project::SpaceRequest request;
  for (const auto& [name, value] : manifest.options) {
    request.fixed.push_back(SettingOf(program, name, value));
  }
  for (const auto& [name, axis] : manifest.axes) {
    project::Axis& row = request.axes.emplace_back();
    row.name = name;
    row.all = axis.all;
    for (const project::ManifestValue& value : axis.values) {
      row.values.push_back(SettingOf(program, name, value));
    }
  }
  for (const project::ManifestExpression& expression : manifest.exclude) {
    request.exclude.push_back(expression.text);
  }
  for (const project::ManifestExpression& expression : manifest.require) {
    request.require.push_back(expression.text);
  }
  for (const project::ManifestVariant& variant : manifest.variants) {
    std::vector<resolve::OptionSetting>& settings = request.variants.emplace_back();
    for (const auto& [name, value] : variant.options) {
      settings.push_back(SettingOf(program, name, value));
    }
  }
  request.only_explicit = manifest.only_explicit;
  return request;
}

// Requires that the option exists. Bits that are no row of an enumeration give an empty text, which
// no value has.
resolve::OptionSetting SettingAt(const resolve::Program& program, ir::OptionId id, uint32_t bits) {
  const ir::Option& option = program.Get(id);
  const ir::ModuleView& module = program.module(program.ModuleOf(id));
  resolve::OptionSetting setting{.name = std::string(module.Text(option.name)),
                                 .scope = std::nullopt,
                                 .kind = option.kind,
                                 .bits = bits,
                                 .text = {}};
  // The bits of an enumeration are the row of its value. A setting has its text instead, which is
  // how requests and manifests say it.
  if (option.kind == ir::OptionKind::kEnum) {
    const std::span<const uint32_t> values = module.List(option.values);
    setting.bits = 0;
    setting.text = bits < values.size() ? module.Text(ir::StringId{values[bits]}) : "";
  }
  return setting;
}

// Axes with `all` are left out: all values of such an option are wanted, so none is of more
// interest than its default.
std::vector<resolve::OptionSetting> VariantOfInterest(
    const resolve::Program& program, const project::ManifestProgram& manifest,
    const std::vector<resolve::OptionSetting>& chosen) {
  std::vector<resolve::OptionSetting> settings;
  std::vector<Diagnostic> ignored;
  // A setting that does not fit the program is left out here. The check of the space reports it;
  // this variant only has to exist.
  const auto take = [&](const resolve::OptionSetting& setting) {
    if (HasOption(program, setting.name) &&
        resolve::CheckOption(program, setting, ignored).has_value()) {
      settings.push_back(setting);
    }
  };
  for (const auto& [name, axis] : manifest.axes) {
    const ir::OptionId option = program.FindOption(name);
    if (!option.valid() || axis.all || axis.values.empty()) {
      continue;
    }
    const resolve::OptionSetting usual =
        SettingAt(program, option, program.Get(option).default_value);
    // The declared default is preferred, so that the editor shows what a build without settings
    // shows. An axis that excludes the default would make a variant that the manifest never builds.
    const bool has_default = std::ranges::any_of(
        axis.values, [&](const auto& value) { return SettingOf(program, name, value) == usual; });
    // Later settings win: fixed options of the manifest over axes, and choices over both.
    // CheckOption is asked for each alone, because one stale choice must not cost the others.
    take(has_default ? usual : SettingOf(program, name, axis.values.front()));
  }
  for (const auto& [name, value] : manifest.options) {
    take(SettingOf(program, name, value));
  }
  for (const resolve::OptionSetting& setting : chosen) {
    take(setting);
  }
  return settings;
}

// The first value is what a chooser shows first; for numbers that is the declared default.
std::vector<resolve::OptionSetting> ValuesOf(const resolve::Program& program, ir::OptionId id,
                                             const project::ManifestProgram& manifest) {
  const ir::Option& option = program.Get(id);
  std::vector<resolve::OptionSetting> values;
  // Flags and enumerations offer all of their values, also those that the manifest excludes: one
  // may look at a variant that nobody builds.
  if (option.kind == ir::OptionKind::kFlag) {
    return {SettingAt(program, id, 0), SettingAt(program, id, 1)};
  }
  if (option.kind == ir::OptionKind::kEnum) {
    const ir::ModuleView& module = program.module(program.ModuleOf(id));
    for (uint32_t i = 0; i < module.List(option.values).size(); ++i) {
      values.push_back(SettingAt(program, id, i));
    }
    return values;
  }
  values.push_back(SettingAt(program, id, option.default_value));
  // The values of a number are without end, so only those are offered that somebody wrote down.
  const auto axis = manifest.axes.find(values.front().name);
  if (axis != manifest.axes.end()) {
    for (const project::ManifestValue& value : axis->second.values) {
      const resolve::OptionSetting setting = SettingOf(program, axis->first, value);
      if (setting.kind == option.kind && std::ranges::find(values, setting) == values.end()) {
        values.push_back(setting);
      }
    }
  }
  return values;
}

}  // namespace kiln::lsp
