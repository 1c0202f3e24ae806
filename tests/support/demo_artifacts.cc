// SPDX-License-Identifier: MIT
#include "tests/support/demo_artifacts.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/clock.h"
#include "compiler/driver/option_text.h"
#include "server/project/space.h"

namespace kiln {
namespace {

Error Wrong(std::string_view name, const std::vector<Diagnostic>& diagnostics) {
  return {ErrorCode::kInvalidArgument,
          fmt::format("{}: {}", name,
                      diagnostics.empty() ? std::string("not built") : Message(diagnostics[0])),
          ""};
}

}  // namespace

std::vector<runtime::ModuleWords> BuiltArtifact::Modules() const {
  std::vector<runtime::ModuleWords> modules;
  for (const driver::StageCode& code : products.code) {
    runtime::ModuleWords& module = modules.emplace_back();
    module.words = code.words;
    if (code.stage.has_value()) {
      module.stage = static_cast<artifact::Stage>(*code.stage);
    }
  }
  return modules;
}

Result<BuiltArtifact> BuildArtifact(std::string name, const driver::LinkedProgram& linked,
                                    std::span<const resolve::OptionSetting> settings,
                                    std::span<const resolve::EntryPoint> entries) {
  const Diagnosed<resolve::OptionValues> values = resolve::CheckOptions(linked.program, settings);
  if (!values.ok()) {
    return Wrong(name, values.diagnostics);
  }
  driver::BuildResult built = driver::BuildDirect(
      linked, *values.value, entries, target::MakeTarget(target::Environment::kVulkan11));
  if (!built.products.has_value()) {
    return Wrong(name, built.diagnostics);
  }
  BuiltArtifact out{.name = std::move(name), .metadata = {}, .products = {}};
  out.products = std::move(*built.products);
  KILN_TRY(out.metadata, artifact::DecodeMetadata(out.products.metadata));
  return out;
}

Result<DemoArtifacts> DemoArtifacts::Load(const std::string& folder) {
  KILN_TRY(const bench::DemoProject project, bench::LoadDemo(folder));
  DemoArtifacts out;
  KILN_TRY(out.batch_, bench::BatchOf(project));
  return out;
}

std::vector<std::string> DemoArtifacts::Programs() const {
  std::vector<std::string> names;
  for (const compile::BatchProgram& program : batch_.programs) {
    names.push_back(program.program.name);
  }
  return names;
}

Result<DemoArtifacts::Linked> DemoArtifacts::Link(std::string_view program) const {
  const auto found = std::ranges::find_if(batch_.programs, [&](const compile::BatchProgram& one) {
    return one.program.name == program;
  });
  if (found == batch_.programs.end()) {
    return Error{ErrorCode::kNotFound, fmt::format("the demo has no '{}'", program), ""};
  }
  std::vector<SourceFile> files;
  for (const compile::Source& source : found->program.sources) {
    files.emplace_back(source.path, *source.text);
  }
  Diagnosed<driver::LinkedProgram> linked = driver::LinkSources(files, found->program.pipeline);
  if (!linked.ok()) {
    return Wrong(program, linked.diagnostics);
  }
  return Linked{.batch = &*found, .program = std::move(*linked.value)};
}

Result<BuiltArtifact> DemoArtifacts::Build(std::string_view program,
                                           std::span<const std::string> options) const {
  KILN_TRY(const Linked linked, Link(program));
  std::vector<resolve::OptionSetting> settings = linked.batch->program.options;
  for (const std::string& option : options) {
    KILN_TRY(resolve::OptionSetting setting, driver::ReadOption(linked.program.program, option));
    settings.push_back(std::move(setting));
  }
  return BuildArtifact(std::string(program), linked.program, settings,
                       linked.batch->program.entries);
}

Result<std::vector<BuiltArtifact>> DemoArtifacts::Spread(std::string_view program,
                                                         uint32_t count) const {
  KILN_TRY(const Linked linked, Link(program));
  Diagnosed<project::Space> space = project::Space::Make(linked.program, linked.batch->space);
  if (!space.ok()) {
    return Wrong(program, space.diagnostics);
  }
  std::optional<project::Counter> counter = space.value->MakeCounter();
  if (!counter.has_value()) {
    return Error{ErrorCode::kInternal, fmt::format("{}: variants are not counted", program), ""};
  }
  SystemClock clock;
  const auto points = static_cast<uint64_t>(counter->All({}, clock).points);
  const uint64_t wanted = std::min<uint64_t>(count, points);
  std::set<uint64_t> ranks;
  for (uint64_t i = 0; i < wanted; ++i) {
    ranks.insert(wanted == 1 ? 0 : i * (points - 1) / (wanted - 1));
  }
  std::vector<BuiltArtifact> out;
  for (const uint64_t rank : ranks) {
    std::vector<resolve::OptionSetting> settings = linked.batch->program.options;
    for (resolve::OptionSetting& setting : space.value->SettingsOf(counter->Unrank(rank))) {
      settings.push_back(std::move(setting));
    }
    KILN_TRY(BuiltArtifact built,
             BuildArtifact(fmt::format("{} of rank {}", program, rank), linked.program, settings,
                           linked.batch->program.entries));
    out.push_back(std::move(built));
  }
  return out;
}

}  // namespace kiln
