// SPDX-License-Identifier: MIT
// How the words of compile, explain, inspect and preview name one variant: a program of the
// manifest, or files with entry points. Both ways end in a NamedVariant, which the verbs share.
#include "client/cli/variant/variant.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "client/cli/project/leads_out.h"
#include "client/cli/project/project.h"
#include "client/cli/session.h"

namespace kiln::cli {
namespace {

// Entry points say by their stages what they are of.
std::string PipelineOf(const std::vector<client::EntryPoint>& entries) {
  const bool computes =
      !entries.empty() &&
      std::all_of(entries.begin(), entries.end(), [](const client::EntryPoint& entry) {
        return entry.stage == client::Stage::kCompute;
      });
  return computes ? "compute" : "graphics_classic";
}

// All errors of this kind end with the same code, that of a wrong command line (spec/cli 4).
Error Usage(std::string text) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(text), .reason = "USAGE"};
}

// The folder that logical paths of files are relative to: the working directory, or that of a file
// that lies elsewhere and goes by its name.
std::string BaseOf(const VariantArguments& arguments) {
  const std::filesystem::path first = arguments.what[0];
  return LeadsOut(arguments.what[0]) ? first.parent_path().string() : std::string(".");
}

// What the arguments say of files in HLSL. Folders are below the base: nothing else can be sent.
Result<project::ManifestHlsl> HlslOf(const VariantArguments& arguments, const std::string& base) {
  project::ManifestHlsl hlsl;
  for (const std::string& folder : arguments.include_roots) {
    const std::string root =
        std::filesystem::absolute(folder)
            .lexically_normal()
            .lexically_proximate(std::filesystem::absolute(base).lexically_normal())
            .lexically_normal()
            .generic_string();
    if (LeadsOut(root)) {
      return Usage(fmt::format("-I {}: only files below '{}' can be included", folder, base));
    }
    hlsl.include_roots.push_back(root == "." ? std::string()
                                             : root.substr(0, root.size() - root.ends_with('/')));
  }
  for (const std::string& text : arguments.defines) {
    // "F(a, b)=VALUE": what stands between the parentheses is part of the name.
    const size_t name_end = text.find_first_of("(=");
    const bool has_parameters = name_end != std::string::npos && text[name_end] == '(';
    const size_t close = has_parameters ? text.find(')') : name_end;
    const size_t equals = close == std::string::npos ? close : text.find('=', close);
    hlsl.defines.insert_or_assign(text.substr(0, equals),
                                  equals == std::string::npos ? "1" : text.substr(equals + 1));
  }
  for (const std::string& text : arguments.settings) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) {
      return Usage(fmt::format("--hlsl '{}' is not NAME=VALUE", text));
    }
    hlsl.settings.insert_or_assign(text.substr(0, equals), text.substr(equals + 1));
  }
  return hlsl;
}

// The program that the arguments name.
Result<LoadedProgram> LoadNamed(const Global& global, const VariantArguments& arguments,
                                project::Manifest& manifest) {
  // One word that is no source means a program of the manifest.
  if (!std::ranges::all_of(arguments.what, IsSourceFile)) {
    if (arguments.what.size() != 1) {
      return Error{.code = ErrorCode::kInvalidArgument,
                   .context = "name one program of the manifest, or .rpl, .hlsl or .wgsl files",
                   .reason = "USAGE"};
    }
    KILN_TRY(manifest, LoadManifest(global));
    KILN_TRY(const project::ManifestProgram* program, ProgramNamed(manifest, arguments.what[0]));
    return LoadProgram(manifest, *program);
  }
  // Files have one target, SPIR-V with names, for the environment that was given. Other forms are
  // asked for with --target.
  LoadedProgram loaded;
  loaded.program.name = std::filesystem::path(arguments.what[0]).stem().string();
  for (const std::string& file : arguments.what) {
    // Logical paths are relative labels: leading parts that lead out of the folder are removed.
    const std::string label = LeadsOut(file)
                                  ? std::filesystem::path(file).filename().string()
                                  : std::filesystem::path(file).lexically_normal().string();
    KILN_TRY(client::Source source, ReadSource(file, label));
    loaded.program.sources.push_back(std::move(source));
  }
  const std::string base = BaseOf(arguments);
  KILN_TRY(const project::ManifestHlsl hlsl, HlslOf(arguments, base));
  KILN_TRY(loaded.program.hlsl, client::HlslOf(base, hlsl, loaded.program.sources));
  for (const std::string& entry : arguments.entries) {
    KILN_TRY(client::EntryPoint read, ReadEntry(entry));
    loaded.program.entries.push_back(std::move(read));
  }
  loaded.program.pipeline =
      arguments.pipeline.empty() ? PipelineOf(loaded.program.entries) : arguments.pipeline;
  loaded.program.targets.push_back({.name = "spirv",
                                    .form = client::Form::kSpirv,
                                    .env = arguments.environment,
                                    .version = {},
                                    .debug = client::Debug::kNames,
                                    .combined = arguments.combined});
  return loaded;
}

// Keeps the targets that were asked for: those of the program, others of the manifest, or forms of
// the first one's environment. The order of the words is the order of the artifacts. A name that is
// given twice gives two equal targets, which the daemon builds once.
Result<void> SelectTargets(const std::vector<std::string>& names, const project::Manifest& manifest,
                           client::Program& program) {
  if (names.empty()) {
    return {};
  }
  std::vector<client::Target> selected;
  for (const std::string& name : names) {
    const auto known = std::ranges::find(program.targets, name, &client::Target::name);
    if (known != program.targets.end()) {
      selected.push_back(*known);
      continue;
    }
    const auto other = std::ranges::find(manifest.targets, name, &project::ManifestTarget::name);
    if (other != manifest.targets.end()) {
      selected.push_back(TargetOf(*other));
      continue;
    }
    const std::optional<client::Form> form = FormNamed(name);
    if (!form.has_value()) {
      return Error{.code = ErrorCode::kNotFound,
                   .context = fmt::format("'{}' has no target '{}', and that is no form: spirv, "
                                          "wgsl, meta, msl, glsl or hlsl",
                                          program.name, name),
                   .reason = "UNKNOWN_TARGET"};
    }
    // A form keeps everything else of the program's first target, above all the environment. The
    // version is dropped, since it is one of SPIR-V.
    client::Target target = program.targets.front();
    target.name = name;
    target.form = *form;
    target.version.clear();
    selected.push_back(std::move(target));
  }
  program.targets = std::move(selected);
  return {};
}

// Includes are added after the compile (AddIncluded), since only it finds them.
std::vector<std::string> FilesOf(const VariantArguments& arguments, const LoadedProgram& loaded,
                                 const project::Manifest& manifest) {
  // The program was made of files and not of a manifest.
  if (loaded.manifest == nullptr) {
    return arguments.what;
  }
  std::vector<std::string> files{manifest.path};
  for (const client::Source& source : loaded.program.sources) {
    // A dependency file has paths as this command sees them, and the manifest is a dependency like
    // any source.
    files.push_back(manifest.folder.empty() ? source.path : manifest.folder + "/" + source.path);
  }
  return files;
}

}  // namespace

bool IsSourceFile(std::string_view what) {
  return what.ends_with(".rpl") || what.ends_with(".hlsl") || what.ends_with(".wgsl");
}

void AddVariant(CLI::App& verb, VariantArguments& variant, const char* options) {
  verb.add_option("what", variant.what, "A program of the manifest, or files");
  verb.add_option("--entry", variant.entries, "Files: STAGE=FUNCTION; repeatable")->take_all();
  verb.add_option(options, variant.options, "NAME=VALUE; repeatable")->take_all();
  verb.add_option("--pipeline", variant.pipeline,
                  "Files: graphics_classic or compute; that of --entry if left out")
      ->check(CLI::IsMember({"graphics_classic", "compute"}));
  verb.add_option("--env", variant.environment, "Files: vulkan1.0 to vulkan1.4")
      ->check(CLI::IsMember({"vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3", "vulkan1.4"}));
  verb.add_option("-I,--include", variant.include_roots,
                  "Files in HLSL: folder that includes are looked for in; repeatable")
      ->take_all()
      ->allow_extra_args(false);
  verb.add_option("--define", variant.defines, "Files in HLSL: NAME[=VALUE]; repeatable")
      ->take_all();
  verb.add_option("--hlsl", variant.settings, "Files in HLSL: setting NAME=VALUE; repeatable")
      ->take_all();
  verb.add_flag("--combined", variant.combined, "Files: one module for all entry points");
  verb.add_flag("--retry-failed", variant.retry_failed, "Compile again what failed before");
}

// The manifest must outlive `loaded`, which points into it; both end in this function.
Result<NamedVariant> NameVariant(const Global& global, const VariantArguments& arguments) {
  project::Manifest manifest;
  KILN_TRY(LoadedProgram loaded, LoadNamed(global, arguments, manifest));
  KILN_TRY_VOID(SelectTargets(arguments.targets, manifest, loaded.program));
  NamedVariant variant;
  variant.files = FilesOf(arguments, loaded, manifest);
  variant.base = loaded.manifest == nullptr ? BaseOf(arguments) : manifest.folder;
  KILN_TRY(variant.connected, ConnectTo(global));
  variant.project = manifest.name;
  variant.program = std::move(loaded.program);
  KILN_TRY(variant.declared, Declared(*variant.connected.client, variant.program));
  // Options that the manifest fixes can only be typed once the program's declarations are known. A
  // program with errors has none.
  if (loaded.manifest != nullptr && !client::HasErrors(variant.declared)) {
    loaded.program = variant.program;
    KILN_TRY(client::ProgramSpace space, SpaceOf(loaded, variant.declared));
    variant.program.options = std::move(space.program.options);
  }
  for (const std::string& text : arguments.options) {
    KILN_TRY(client::Option option, TypedOption(text, variant.declared));
    variant.options.push_back(std::move(option));
  }
  return variant;
}

// For verbs that do not compile, and so get no diagnostics of the daemon: names and values of enums
// are compared with the declarations here.
Result<void> CheckOptions(const NamedVariant& variant) {
  std::vector<std::string_view> names;
  for (const client::OptionInfo& info : variant.declared.options) {
    names.push_back(info.name);
  }
  const auto meant = [](std::string_view closest) {
    return closest.empty() ? std::string() : fmt::format("; did you mean '{}'?", closest);
  };
  for (const client::Option& option : variant.options) {
    const auto info =
        std::ranges::find(variant.declared.options, option.name, &client::OptionInfo::name);
    if (info == variant.declared.options.end()) {
      return Error{.code = ErrorCode::kNotFound,
                   .context = fmt::format("program '{}' has no option '{}'{}", variant.program.name,
                                          option.name, meant(project::Closest(option.name, names))),
                   .reason = "UNKNOWN_OPTION"};
    }
    const auto* text = std::get_if<std::string>(&option.value);
    if (info->type == "enum" && text != nullptr &&
        std::ranges::find(info->values, *text) == info->values.end()) {
      const std::vector<std::string_view> values(info->values.begin(), info->values.end());
      return Error{.code = ErrorCode::kInvalidArgument,
                   .context = fmt::format(
                       "option '{}' has no value '{}'{}; known values: {}", option.name, *text,
                       meant(project::Closest(*text, values)), fmt::join(info->values, ", ")),
                   .reason = "VALUE_WRONG"};
    }
  }
  return {};
}

namespace {

// What the includes of a variant found, as somebody in the working directory names it.
void AddIncluded(std::span<const client::Outcome> outcomes, const std::string& base,
                 std::vector<std::string>& files) {
  for (const client::Outcome& outcome : outcomes) {
    for (const client::Outcome::IncludedFile& file : outcome.included) {
      if (file.present) {
        files.push_back(base.empty() || base == "." ? file.path : base + "/" + file.path);
      }
    }
  }
}

}  // namespace

// All of what a verb needs afterwards is moved out of the named variant, the connection last: its
// explanations are asked for above, while it is still in its place.
Result<FetchedVariant> FetchVariant(const Global& global, const VariantArguments& arguments) {
  KILN_TRY(NamedVariant named, NameVariant(global, arguments));
  client::Client& client = *named.connected.client;
  // Fetching would find the failure that is cached. The compile in front of it replaces that.
  if (arguments.retry_failed) {
    KILN_TRY([[maybe_unused]] const client::Outcome again,
             client.Compile(named.program, named.options, {.retry_failed = true}));
  }
  FetchedVariant variant;
  KILN_TRY(variant.fetched.done,
           client.FetchVariants(named.project, named.program, std::span(&named.options, 1), {},
                                Collect(variant.fetched)));
  for (const client::Outcome& outcome : variant.fetched.outcomes) {
    if (arguments.explain && outcome.explain_seq != 0) {
      KILN_TRY(client::ExplainReply explained,
               client.Explain(client::Client::ExplainRequest{outcome.explain_seq}));
      variant.explanations.insert(variant.explanations.end(), explained.records.begin(),
                                  explained.records.end());
    }
  }
  variant.program = std::move(named.program);
  variant.files = std::move(named.files);
  AddIncluded(variant.fetched.outcomes, named.base, variant.files);
  variant.declared = std::move(named.declared);
  // The fixed options of the manifest, then those of the arguments, which win.
  variant.options = variant.program.options;
  variant.options.insert(variant.options.end(), named.options.begin(), named.options.end());
  variant.asked_options = std::move(named.options);
  variant.connected = std::move(named.connected);
  return variant;
}

}  // namespace kiln::cli
