// SPDX-License-Identifier: MIT
#include "client/cli/project.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "client/project/limits.h"
#include "compiler/base/beneath.h"
#include "compiler/base/file.h"

namespace kiln::cli {
namespace {

Error WrongValue(std::string text) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(text), .reason = "VALUE_WRONG"};
}

const client::OptionInfo* Find(const client::ListedOptions& declared, std::string_view name) {
  for (const client::OptionInfo& option : declared.options) {
    if (option.name == name) {
      return &option;
    }
  }
  return nullptr;
}

template <class T>
bool ReadNumber(std::string_view text, T& value, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

bool ReadUint(std::string_view text, uint32_t& value) {
  if (text.starts_with("0x")) {
    return ReadNumber(text.substr(2), value, 16);
  }
  return ReadNumber(text.ends_with('u') ? text.substr(0, text.size() - 1) : text, value);
}

// A value of the given type, if the text reads as one.
bool ReadAs(std::string_view type, std::string_view text, client::Option& option) {
  uint32_t number = 0;
  int32_t integer = 0;
  float real = 0;
  if (type == "flag" && (text == "true" || text == "on" || text == "false" || text == "off")) {
    option.value = text == "true" || text == "on";
    return true;
  }
  if (type == "uint" && ReadUint(text, number)) {
    option.value = number;
    return true;
  }
  if (type == "sint" && ReadNumber(text, integer)) {
    option.value = integer;
    return true;
  }
  if (type == "float") {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), real);
    if (error == std::errc() && end == text.data() + text.size()) {
      option.value = real;
      return true;
    }
  }
  if (type == "enum") {
    option.value = std::string(text);
    return true;
  }
  return false;
}

// The manifest of a program, for messages about its values.
struct Origin {
  const std::string& path;
  const project::ManifestProgram& program;

  std::string At(const project::ManifestPlace& place) const {
    return fmt::format("{}:{}:{}: program '{}'", path, place.line, place.column, program.name);
  }
};

// A manifest value as the declared type wants it.
Result<client::Option> TypedValue(const Origin& origin, const std::string& name,
                                  const project::ManifestValue& value,
                                  const client::ListedOptions& declared) {
  const client::OptionInfo* info = Find(declared, name);
  if (info == nullptr) {
    std::vector<std::string_view> names;
    for (const client::OptionInfo& option : declared.options) {
      names.push_back(option.name);
    }
    const std::string_view closest = project::Closest(name, names);
    return WrongValue(fmt::format(
        "{}: no option is named '{}' in {}{}", origin.At(value.place), name,
        fmt::join(origin.program.sources, ", "),
        closest.empty() ? std::string() : fmt::format("; did you mean '{}'?", closest)));
  }
  client::Option option{.name = name, .value = false};
  if (value.global) {
    option.scope = client::OptionScope::kGlobal;
  }
  const auto* flag = std::get_if<bool>(&value.value);
  const auto* integer = std::get_if<int64_t>(&value.value);
  const auto* real = std::get_if<double>(&value.value);
  const auto* text = std::get_if<std::string>(&value.value);
  if (info->type == "flag" && flag != nullptr) {
    option.value = *flag;
  } else if (info->type == "uint" && integer != nullptr && *integer >= 0 &&
             *integer <= UINT32_MAX) {
    option.value = static_cast<uint32_t>(*integer);
  } else if (info->type == "sint" && integer != nullptr && *integer >= INT32_MIN &&
             *integer <= INT32_MAX) {
    option.value = static_cast<int32_t>(*integer);
  } else if (info->type == "float" && real != nullptr && std::isfinite(*real)) {
    option.value = static_cast<float>(*real);
  } else if (info->type == "enum" && text != nullptr &&
             std::find(info->values.begin(), info->values.end(), *text) != info->values.end()) {
    option.value = *text;
  } else {
    return WrongValue(fmt::format(
        "{}: the value of '{}' is not a {}{}", origin.At(value.place), name, info->type,
        info->type == "enum" ? fmt::format("; known values: {}", fmt::join(info->values, ", "))
                             : std::string()));
  }
  return option;
}

client::Expression ExpressionOf(const LoadedProgram& loaded,
                                const project::ManifestExpression& expression) {
  return {.text = expression.text,
          .path = loaded.manifest_path,
          .line = expression.place.line,
          .column = expression.place.column};
}

std::vector<uint32_t> TargetIndexes(const client::Program& program,
                                    const std::vector<std::string>& names) {
  std::vector<uint32_t> indexes;
  for (uint32_t i = 0; i < program.targets.size(); ++i) {
    if (std::ranges::find(names, program.targets[i].name) != names.end()) {
      indexes.push_back(i);
    }
  }
  return indexes;
}

struct FormRow {
  std::string_view name;
  client::Form form;
  std::string_view extension;
};
constexpr std::array kForms{
    FormRow{"spirv", client::Form::kSpirv, ".spv"}, FormRow{"wgsl", client::Form::kWgsl, ".wgsl"},
    FormRow{"meta", client::Form::kMeta, ".meta"},  FormRow{"msl", client::Form::kMsl, ".msl"},
    FormRow{"glsl", client::Form::kGlsl, ".glsl"},  FormRow{"hlsl", client::Form::kHlsl, ".hlsl"}};

}  // namespace

client::Target TargetOf(const project::ManifestTarget& manifest) {
  client::Target target{.name = manifest.name};
  target.form = FormNamed(manifest.form).value_or(client::Form::kSpirv);
  target.recipes = manifest.recipes;
  target.env = manifest.env;
  target.version = manifest.version;
  target.debug = manifest.debug == "none"   ? client::Debug::kNone
                 : manifest.debug == "full" ? client::Debug::kFull
                                            : client::Debug::kNames;
  const auto modules = manifest.settings.find("modules");
  target.combined = modules != manifest.settings.end() && modules->second == "combined";
  return target;
}

std::optional<client::Form> FormNamed(std::string_view name) {
  const auto found = std::ranges::find(kForms, name, &FormRow::name);
  return found == kForms.end() ? std::nullopt : std::optional(found->form);
}

std::string_view ExtensionOf(client::Form form) {
  return std::ranges::find(kForms, form, &FormRow::form)->extension;
}

Result<project::Manifest> LoadManifest(const Global& global) {
  const std::string path =
      !global.manifest.empty() ? global.manifest : project::FindManifest(global.folder);
  if (path.empty()) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = "there is no kiln.toml here or above; name one with --manifest FILE",
                 .reason = "MANIFEST_MISSING"};
  }
  KILN_TRY(const client::Source file, ReadSource(path, path));
  return project::ReadManifest(file.text, path);
}

Result<const project::ManifestProgram*> ProgramNamed(const project::Manifest& manifest,
                                                     const std::string& name) {
  std::vector<std::string_view> names;
  for (const project::ManifestProgram& program : manifest.programs) {
    if (program.name == name) {
      return &program;
    }
    names.push_back(program.name);
  }
  const std::string_view closest = project::Closest(name, names);
  return Error{.code = ErrorCode::kNotFound,
               .context = fmt::format(
                   "'{}' has no program '{}'{}", manifest.path, name,
                   closest.empty() ? std::string() : fmt::format("; did you mean '{}'?", closest)),
               .reason = "PROGRAM_UNKNOWN"};
}

Result<client::Source> ReadSource(const std::string& file, const std::string& logical_path) {
  client::Source source{.path = logical_path, .digest = {}, .text = {}};
  KILN_TRY(source.text, ReadFile(file));
  source.digest = DigestOf(AsBytes(source.text));
  return source;
}

Result<LoadedProgram> LoadProgram(const project::Manifest& manifest,
                                  const project::ManifestProgram& program) {
  LoadedProgram loaded{.program = {}, .manifest = &program, .manifest_path = manifest.path};
  loaded.program.name = program.name;
  loaded.program.pipeline = program.pipeline;
  for (const std::string& path : program.sources) {
    KILN_TRY(std::string text, ReadFileBeneath(manifest.folder, path, project::kMaxSource));
    const Digest digest = DigestOf(AsBytes(text));
    loaded.program.sources.push_back({.path = path, .digest = digest, .text = std::move(text)});
  }
  for (const auto& [stage, function] : program.entry_points) {
    KILN_TRY(client::EntryPoint entry, ReadEntry(fmt::format("{}={}", stage, function)));
    loaded.program.entries.push_back(std::move(entry));
  }
  for (const std::string& name : program.targets) {
    for (const project::ManifestTarget& target : manifest.targets) {
      if (target.name == name) {
        loaded.program.targets.push_back(TargetOf(target));
      }
    }
  }
  if (loaded.program.targets.empty()) {
    loaded.program.targets.push_back({});
  }
  return loaded;
}

Result<client::EntryPoint> ReadEntry(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string stage = text.substr(0, equals);
  const client::Stage number = stage == "vertex"     ? client::Stage::kVertex
                               : stage == "fragment" ? client::Stage::kFragment
                               : stage == "compute"  ? client::Stage::kCompute
                                                     : client::Stage::kNone;
  if (number == client::Stage::kNone || equals == std::string::npos || equals + 1 == text.size()) {
    return WrongValue(fmt::format(
        "entry point '{}' is not STAGE=FUNCTION with stage vertex, fragment or compute", text));
  }
  return client::EntryPoint{.stage = number, .function = text.substr(equals + 1)};
}

Result<client::ListedOptions> Declared(client::Client& client, const client::Program& program) {
  KILN_TRY_VOID(client.PutSources(program.sources));
  return client.ListOptions(program);
}

Result<client::Option> TypedOption(const std::string& text, const client::ListedOptions& declared) {
  const size_t equals = text.find('=');
  std::string name = text.substr(0, equals);
  std::string value = equals == std::string::npos ? "true" : text.substr(equals + 1);
  if (equals == std::string::npos && name.starts_with("no-") && Find(declared, name) == nullptr) {
    name = name.substr(3);
    value = "false";
  }
  if (name.empty()) {
    return WrongValue(fmt::format("option '{}' has no name; write NAME=VALUE", text));
  }
  client::Option option{.name = name, .value = value};
  const client::OptionInfo* info = Find(declared, name);
  if (info != nullptr && ReadAs(info->type, value, option)) {
    return option;
  }
  for (const std::string_view type : {"flag", "sint", "uint", "float"}) {
    if (ReadAs(type, value, option)) {
      break;
    }
  }
  return option;
}

Result<client::ProgramSpace> SpaceOf(const LoadedProgram& loaded,
                                     const client::ListedOptions& declared) {
  const project::ManifestProgram& manifest = *loaded.manifest;
  const Origin origin{.path = loaded.manifest_path, .program = manifest};
  client::ProgramSpace space;
  space.program = loaded.program;
  for (const auto& [name, value] : manifest.options) {
    KILN_TRY(client::Option option, TypedValue(origin, name, value, declared));
    space.program.options.push_back(std::move(option));
  }
  for (const auto& [name, axis] : manifest.axes) {
    client::Axis row{.name = name, .all = axis.all, .values = {}};
    if (Find(declared, name) == nullptr) {  // of "*" too
      KILN_TRY_VOID(TypedValue(origin, name, {.value = false, .place = axis.place}, declared));
    }
    for (const project::ManifestValue& value : axis.values) {
      KILN_TRY(client::Option option, TypedValue(origin, name, value, declared));
      row.values.push_back(std::move(option));
    }
    space.axes.push_back(std::move(row));
  }
  for (const project::ManifestExpression& expression : manifest.exclude) {
    space.exclude.push_back(ExpressionOf(loaded, expression));
  }
  for (const project::ManifestExpression& expression : manifest.require) {
    space.require.push_back(ExpressionOf(loaded, expression));
  }
  for (const project::ManifestVariant& variant : manifest.variants) {
    std::vector<client::Option> options;
    for (const auto& [name, value] : variant.options) {
      KILN_TRY(client::Option option, TypedValue(origin, name, value, declared));
      options.push_back(std::move(option));
    }
    space.variants.push_back(std::move(options));
    space.warm.push_back(variant.warm);
    space.variant_targets.push_back(TargetIndexes(loaded.program, variant.targets));
  }
  space.only_explicit = manifest.only_explicit;
  space.tags = manifest.tags;
  space.priority = manifest.priority;
  space.budget = {.results = manifest.budget.results,
                  .variants = manifest.budget.variants,
                  .cpu_ms = manifest.budget.cpu_ms,
                  .output = manifest.budget.output};
  // The family's own program has no pass to agree with.
  space.family = manifest.pass.empty() ? std::string() : manifest.family;
  return space;
}

bool Matches(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0, star = std::string_view::npos, mark = 0;
  while (n < name.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') {
    ++p;
  }
  return p == pattern.size();
}

}  // namespace kiln::cli
