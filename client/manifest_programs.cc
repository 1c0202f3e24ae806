// SPDX-License-Identifier: MIT
// From a manifest to what the protocol takes: programs with the text of their sources, values with
// declared types, spaces of variants (spec/daemon 6). Everything that a manifest can get wrong is
// told with file, line and column, before a daemon sees it.
#include "client/manifest_programs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "client/includes/include_set.h"
#include "client/project/limits.h"
#include "compiler/base/files/beneath.h"
#include "compiler/base/files/file.h"
#include "compiler/base/text/entry_words.h"

namespace kiln::client {
namespace {

Error WrongValue(std::string text) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(text), .reason = "VALUE_WRONG"};
}

const OptionInfo* FindOption(const OptionList& declared, std::string_view name) {
  for (const OptionInfo& option : declared.options) {
    if (option.name == name) {
      return &option;
    }
  }
  return nullptr;
}

// The manifest of a program, for messages about its values.
struct ValueOrigin {
  const std::string& path;
  const project::ManifestProgram& program;

  std::string At(const project::ManifestPlace& place) const {
    return fmt::format("{}:{}:{}: program '{}'", path, place.line, place.column, program.name);
  }
};

// Whether a macro lists the value; any option that is none does.
bool Lists(const OptionInfo& info, const Option& option) {
  if (!info.macro) {
    return true;
  }
  std::string text = ValueText(option);
  if (info.type == "uint") {
    text.pop_back();  // the 'u' of RPL
  } else if (info.type == "enum") {
    text = std::get<std::string>(option.value);
  }
  return std::ranges::find(info.values, text) != info.values.end();
}

// A manifest value as the declared type wants it.
// Values of TOML have TOML's types. The declaration decides what 4 is: a uint, a sint, or a mistake
// that is told at its place in the manifest. An axis name with no declaration comes here as well
// (SpaceOf), for the sake of its message.
Result<Option> TypedValue(const ValueOrigin& origin, const std::string& name,
                          const project::ManifestValue& value, const OptionList& declared) {
  const OptionInfo* info = FindOption(declared, name);
  if (info == nullptr) {
    std::vector<std::string_view> names;
    for (const OptionInfo& option : declared.options) {
      names.push_back(option.name);
    }
    const std::string_view closest = project::Closest(name, names);
    return WrongValue(fmt::format(
        "{}: no option is named '{}' in {}{}", origin.At(value.place), name,
        fmt::join(origin.program.sources, ", "),
        closest.empty() ? std::string() : fmt::format("; did you mean '{}'?", closest)));
  }
  Option option{.name = name, .value = false};
  // A material's option has the global scope (spec/daemon 6.7.1).
  if (value.global) {
    option.scope = OptionScope::kGlobal;
  }
  const auto* flag = std::get_if<bool>(&value.value);
  const auto* integer = std::get_if<int64_t>(&value.value);
  const auto* real = std::get_if<double>(&value.value);
  const auto* text = std::get_if<std::string>(&value.value);
  // The manifest writes integers in one type; the option declares which one it wants. A number out
  // of range is refused here, where its line is known, and is not wrapped into another value.
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
        "{}: the value of '{}' is not {} {}{}", origin.At(value.place), name,
        info->type == "enum" ? "an" : "a", info->type,
        info->type == "enum" ? fmt::format("; known values: {}", fmt::join(info->values, ", "))
                             : std::string()));
  }
  if (!Lists(*info, option)) {
    return WrongValue(fmt::format("{}: macro '{}' has no value {}; known values: {}",
                                  origin.At(value.place), name, ValueText(option),
                                  fmt::join(info->values, ", ")));
  }
  return option;
}

// All values of a macro; their texts are the daemon's.
Axis AxisOf(const OptionInfo& macro) {
  Axis axis{.name = macro.name, .all = false, .values = {}};
  for (const std::string& text : macro.values) {
    Option option{.name = macro.name, .value = text};
    if (macro.type == "flag") {
      option.value = text == "true";
    } else if (macro.type == "uint") {
      uint32_t number = 0;
      std::from_chars(text.data(), text.data() + text.size(), number);
      option.value = number;
    } else if (macro.type == "sint") {
      int32_t number = 0;
      std::from_chars(text.data(), text.data() + text.size(), number);
      option.value = number;
    }
    axis.values.push_back(std::move(option));
  }
  return axis;
}

Expression ExpressionOf(const LoadedProgram& loaded,
                        const project::ManifestExpression& expression) {
  return {.text = expression.text,
          .path = loaded.manifest_path,
          .line = expression.place.line,
          .column = expression.place.column};
}

// The protocol names targets of a variant by their row in the program. A name that the program does
// not have is left out; the reader of the manifest has refused such names already.
std::vector<uint32_t> TargetIndexes(const Program& program, const std::vector<std::string>& names) {
  std::vector<uint32_t> indexes;
  for (uint32_t i = 0; i < program.targets.size(); ++i) {
    if (std::ranges::find(names, program.targets[i].name) != names.end()) {
      indexes.push_back(i);
    }
  }
  return indexes;
}

// What the protocol takes for a value of a macro. Values of several kinds are told by the daemon,
// which knows what a list of them is.
std::optional<Option> MacroValueOf(const project::ManifestValue& value) {
  if (const auto* flag = std::get_if<bool>(&value.value)) {
    return Option{.name = {}, .value = *flag};
  }
  if (const auto* text = std::get_if<std::string>(&value.value)) {
    return Option{.name = {}, .value = *text};
  }
  const auto* number = std::get_if<int64_t>(&value.value);
  if (number != nullptr && *number >= 0 && *number <= UINT32_MAX) {
    return Option{.name = {}, .value = static_cast<uint32_t>(*number)};
  }
  if (number != nullptr && *number >= INT32_MIN && *number < 0) {
    return Option{.name = {}, .value = static_cast<int32_t>(*number)};
  }
  return std::nullopt;
}

Result<std::vector<Macro>> MacrosOf(const project::ManifestHlsl& manifest) {
  std::vector<Macro> macros;
  for (const auto& [name, axis] : manifest.macros) {
    Macro macro{.name = name, .values = {}};
    for (const project::ManifestValue& value : axis.values) {
      std::optional<Option> option = MacroValueOf(value);
      if (!option.has_value()) {
        return WrongValue(
            fmt::format("{}:{}: a value of macro '{}' is no flag, whole number of 32 bits or word",
                        value.place.line, value.place.column, name));
      }
      macro.values.push_back(*std::move(option));
    }
    macros.push_back(std::move(macro));
  }
  return macros;
}

struct FormRow {
  std::string_view name;
  Form form;
  std::string_view extension;
};
// Every form has a row: ExtensionOf relies on finding it.
constexpr std::array kForms{
    FormRow{"spirv", Form::kSpirv, ".spv"}, FormRow{"wgsl", Form::kWgsl, ".wgsl"},
    FormRow{"meta", Form::kMeta, ".meta"},  FormRow{"msl", Form::kMsl, ".msl"},
    FormRow{"glsl", Form::kGlsl, ".glsl"},  FormRow{"hlsl", Form::kHlsl, ".hlsl"}};

}  // namespace

// Words that the reader of the manifest has checked, so an unknown one cannot come here; it would
// mean the default.
Target TargetOf(const project::ManifestTarget& manifest) {
  Target target{.name = manifest.name};
  target.form = FormNamed(manifest.form).value_or(Form::kSpirv);
  target.recipes = manifest.recipes;
  target.env = manifest.env;
  target.version = manifest.version;
  target.debug = manifest.debug == "none"   ? Debug::kNone
                 : manifest.debug == "full" ? Debug::kFull
                                            : Debug::kNames;
  const auto modules = manifest.settings.find("modules");
  target.combined = modules != manifest.settings.end() && modules->second == "combined";
  return target;
}

std::optional<Form> FormNamed(std::string_view name) {
  const auto found = std::ranges::find(kForms, name, &FormRow::name);
  return found == kForms.end() ? std::nullopt : std::optional(found->form);
}

std::string_view ExtensionOf(Form form) {
  return std::ranges::find(kForms, form, &FormRow::form)->extension;
}

// `logical_path` is what diagnostics, debug information and other sources call the file, wherever
// it lies here.
Result<Source> ReadSource(const std::string& file, const std::string& logical_path) {
  Source source{.path = logical_path, .digest = {}, .text = {}};
  KILN_TRY(source.text, ReadFile(file));
  source.digest = DigestOf(AsBytes(source.text));
  return source;
}

// Only HLSL includes files, so programs in RPL have no value here. The includes are followed on
// this side, because the daemon never reads a file of a client (spec/daemon 11.6).
Result<std::optional<HlslInputs>> HlslOf(const std::string& folder,
                                         const project::ManifestHlsl& manifest,
                                         std::span<const Source> sources) {
  KILN_TRY(std::vector<Macro> macros, MacrosOf(manifest));
  HlslInputs inputs{.settings = manifest.settings,
                    .defines = manifest.defines,
                    .include_roots = manifest.include_roots,
                    .named = manifest.include,
                    .files = nullptr,
                    .macros = std::move(macros)};
  std::vector<IncludingSource> including;
  for (const Source& source : sources) {
    if (source.path.ends_with(".hlsl")) {
      including.push_back({.source = source, .roots = inputs.include_roots});
    }
  }
  if (including.empty() && !inputs.macros.empty()) {
    return WrongValue(
        fmt::format("macro '{}': only sources in HLSL have macros", inputs.macros.front().name));
  }
  if (including.empty()) {
    return std::optional<HlslInputs>();
  }
  KILN_TRY(inputs.files, FollowIncludes(including, inputs.named, ReaderBeneath(folder)));
  return std::optional(std::move(inputs));
}

// The result keeps a pointer to `program`: the manifest must outlive it.
Result<LoadedProgram> LoadProgram(const project::Manifest& manifest,
                                  const project::ManifestProgram& program) {
  LoadedProgram loaded{.program = {}, .manifest = &program, .manifest_path = manifest.path};
  loaded.program.name = program.name;
  loaded.program.pipeline = program.pipeline;
  for (const std::string& path : program.sources) {
    // A manifest may come from anybody: its paths cannot leave the project's folder, not even
    // through a symbolic link.
    Result<std::string> text = ReadFileBeneath(manifest.folder, path, project::kMaxSource);
    if (!text.ok()) {
      return WithContext(std::move(text).error(),
                         fmt::format("{}:{}:{}: program '{}'", manifest.path, program.place.line,
                                     program.place.column, program.name));
    }
    const Digest digest = DigestOf(AsBytes(*text));
    loaded.program.sources.push_back({.path = path, .digest = digest, .text = std::move(*text)});
  }
  KILN_TRY(loaded.program.hlsl, HlslOf(manifest.folder, program.hlsl, loaded.program.sources));
  for (const auto& [stage, function] : program.entry_points) {
    KILN_TRY(EntryPoint entry, ReadEntry(fmt::format("{}={}", stage, function)));
    loaded.program.entries.push_back(std::move(entry));
  }
  for (const std::string& name : program.targets) {
    for (const project::ManifestTarget& target : manifest.targets) {
      if (target.name == name) {
        loaded.program.targets.push_back(TargetOf(target));
      }
    }
  }
  // One target with every default.
  if (loaded.program.targets.empty()) {
    loaded.program.targets.push_back({});
  }
  return loaded;
}

Result<EntryPoint> ReadEntry(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string stage = text.substr(0, equals);
  const Stage number = stage == "vertex"     ? Stage::kVertex
                       : stage == "fragment" ? Stage::kFragment
                       : stage == "compute"  ? Stage::kCompute
                                             : Stage::kNone;
  if (number == Stage::kNone || equals == std::string::npos || equals + 1 == text.size()) {
    const std::string meant = EntryMeantBy(text);
    return WrongValue(fmt::format(
        "entry point '{}' is not STAGE=FUNCTION with stage vertex, fragment or compute{}", text,
        meant.empty() ? std::string() : fmt::format("; did you mean '{}'?", meant)));
  }
  return EntryPoint{.stage = number, .function = text.substr(equals + 1)};
}

// The sources must be there first: the daemon reads the declarations out of them. Two calls, and a
// daemon that drops a source in between answers the second one with an error that names it.
Result<OptionList> Declared(Client& client, const Program& program) {
  KILN_TRY_VOID(client.PutSources(UploadsOf(program)));
  return client.ListOptions(program);
}

// Shared sources are sent once, which for a project of a hundred programs is most of the bytes.
Result<std::vector<OptionList>> DeclaredOf(Client& client,
                                           std::span<const Program* const> programs) {
  std::set<Digest> known;
  std::vector<Source> sources;  // programs share them
  for (const Program* const program : programs) {
    for (Source& source : UploadsOf(*program)) {
      if (known.insert(source.digest).second) {
        sources.push_back(std::move(source));
      }
    }
  }
  KILN_TRY_VOID(client.PutSources(sources));
  return client.ListOptionsOf(programs);
}

bool HasErrors(const OptionList& declared) {
  return std::ranges::any_of(declared.diagnostics, [](const PlacedDiagnostic& one) {
    return one.severity == Severity::kError;
  });
}

// The manifest and the declarations meet here: from here on every value has the type that its
// option declares. Expressions go as texts, since only the daemon evaluates them.
Result<ProgramSpace> SpaceOf(const LoadedProgram& loaded, const OptionList& declared) {
  const project::ManifestProgram& manifest = *loaded.manifest;
  const ValueOrigin origin{.path = loaded.manifest_path, .program = manifest};
  ProgramSpace space;
  space.program = loaded.program;
  for (const auto& [name, value] : manifest.options) {
    KILN_TRY(Option option, TypedValue(origin, name, value, declared));
    space.program.options.push_back(std::move(option));
  }
  for (const auto& [name, axis] : manifest.axes) {
    Axis row{.name = name, .all = axis.all, .values = {}};
    if (FindOption(declared, name) == nullptr) {  // of "*" too
      KILN_TRY_VOID(TypedValue(origin, name, {.value = false, .place = axis.place}, declared));
    }
    for (const project::ManifestValue& value : axis.values) {
      KILN_TRY(Option option, TypedValue(origin, name, value, declared));
      row.values.push_back(std::move(option));
    }
    space.axes.push_back(std::move(row));
  }
  // A macro that is neither fixed nor an axis of its own has all its values, whether the manifest
  // or the source lists it.
  for (const OptionInfo& info : declared.options) {
    if (info.macro && !manifest.options.contains(info.name) && !manifest.axes.contains(info.name)) {
      space.axes.push_back(AxisOf(info));
    }
  }
  for (const project::ManifestExpression& expression : manifest.exclude) {
    space.exclude.push_back(ExpressionOf(loaded, expression));
  }
  for (const project::ManifestExpression& expression : manifest.require) {
    space.require.push_back(ExpressionOf(loaded, expression));
  }
  for (const project::ManifestVariant& variant : manifest.variants) {
    std::vector<Option> options;
    for (const auto& [name, value] : variant.options) {
      KILN_TRY(Option option, TypedValue(origin, name, value, declared));
      options.push_back(std::move(option));
    }
    space.variants.push_back(std::move(options));
    space.warm.push_back(variant.warm);
    // The three lists run along each other: variant, warm, targets.
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

}  // namespace kiln::client
