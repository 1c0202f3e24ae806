// SPDX-License-Identifier: MIT
// From names of programs and options, as an engine has them, to the list of variants that a startup
// fetch takes. Programs come from a manifest on this machine.
#include "client/engine/variants_of.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "client/manifest_programs.h"
#include "client/project/limits.h"
#include "compiler/base/files/file.h"
#include "compiler/diag/render.h"

namespace kiln::client {

Result<project::Manifest> OpenManifest(const std::string& path) {
  KILN_TRY(const std::string found,
           path.empty() ? project::OwnManifest(".") : Result<std::string>(path));
  if (found.empty()) {
    return Error{ErrorCode::kNotFound, "there is no kiln.toml here or above; name one",
                 "MANIFEST_MISSING"};
  }
  KILN_TRY(const std::string text, ReadFile(found, project::kMaxManifest));
  return project::ReadManifest(text, found);
}

// One question to the daemon for each program: options of the manifest can only be typed with the
// declarations.
Result<Program> LoadNamedProgram(Client& client, const project::Manifest& manifest,
                                 const std::string& name) {
  const auto program = std::ranges::find(manifest.programs, name, &project::ManifestProgram::name);
  if (program == manifest.programs.end()) {
    return Error{ErrorCode::kNotFound, fmt::format("{} has no '{}'", manifest.path, name), ""};
  }
  KILN_TRY(const LoadedProgram loaded, LoadProgram(manifest, *program));
  KILN_TRY(const OptionList declared, Declared(client, loaded.program));
  // The daemon has read the sources to list the options, so their first mistake is known here and
  // told at once, before anything is compiled.
  const auto wrong =
      std::ranges::find(declared.diagnostics, Severity::kError, &PlacedDiagnostic::severity);
  if (wrong != declared.diagnostics.end()) {
    std::string line = RenderShort(*wrong);
    line.erase(line.find_last_not_of('\n') + 1);
    return Error{ErrorCode::kInvalidArgument, fmt::format("'{}': {}", name, line), "SOURCES"};
  }
  KILN_TRY(ProgramSpace space, SpaceOf(loaded, declared));
  return std::move(space.program);
}

uint32_t AddVariant(StartupVariants& subject, uint32_t program,
                    std::span<const runtime::OptionSetting> options) {
  StartupVariants::Variant& variant = subject.variants.emplace_back();
  variant.program = program;
  // What an engine names one by one is what it is about to draw.
  variant.warm = true;
  for (const runtime::OptionSetting& setting : options) {
    variant.options.push_back({.name = setting.name, .value = setting.value});
  }
  return static_cast<uint32_t>(subject.variants.size() - 1);
}

std::string ProjectNameOf(const project::Manifest& manifest) {
  const std::string folder = manifest.folder.empty() ? "." : manifest.folder;
  return !manifest.name.empty()
             ? manifest.name
             : std::filesystem::absolute(folder).lexically_normal().filename().string();
}

// The programs keep the order in which they are first named, and variants refer to them by that
// index.
Result<StartupVariants> VariantsOf(Client& client, const project::Manifest& manifest,
                                   std::span<const NamedVariant> wanted) {
  StartupVariants subject{.project = ProjectNameOf(manifest), .programs = {}, .variants = {}};
  for (const NamedVariant& variant : wanted) {
    auto at = std::ranges::find(subject.programs, variant.program, &Program::name);
    if (at == subject.programs.end()) {
      KILN_TRY(Program program, LoadNamedProgram(client, manifest, variant.program));
      // A program is loaded once, however many of its variants are wanted.
      at = subject.programs.insert(at, std::move(program));
    }
    AddVariant(subject, static_cast<uint32_t>(at - subject.programs.begin()), variant.options);
  }
  return subject;
}

// At most one line for each different mistake, whatever the number of variants.
std::string MessagesOf(std::span<const StartupFailure> failures) {
  std::set<std::string> seen;
  std::string text;
  for (const StartupFailure& failure : failures) {
    if (failure.outcome.diagnostics.empty()) {
      text += fmt::format("'{}' with {} was not built\n", failure.program,
                          OptionsText(failure.options));
    }
    for (const PlacedDiagnostic& diagnostic : failure.outcome.diagnostics) {
      // The same mistake comes with every variant that has it; it is told once.
      const std::string line = RenderShort(diagnostic);
      if (seen.insert(line).second) {
        text += line;
      }
    }
  }
  return text;
}

}  // namespace kiln::client
