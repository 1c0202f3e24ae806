// SPDX-License-Identifier: MIT
#include "tests/support/demo_project.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/base/files/file.h"
#include "compiler/driver/option_text.h"
#include "compiler/driver/stages.h"

namespace kiln::bench {
namespace {

std::string TextOf(const project::ManifestValue& value) {
  if (const bool* flag = std::get_if<bool>(&value.value)) {
    return *flag ? "true" : "false";
  }
  if (const int64_t* integer = std::get_if<int64_t>(&value.value)) {
    return fmt::format("{}", *integer);
  }
  if (const double* real = std::get_if<double>(&value.value)) {
    return fmt::format("{:#}", *real);
  }
  return std::get<std::string>(value.value);
}

// A value of the type that the program declares.
resolve::OptionSetting SettingOf(const resolve::Program& program, const std::string& name,
                                 const project::ManifestValue& value) {
  const ir::OptionId option = program.Option(program.FindName(name));
  return driver::ReadOptionValue(name, TextOf(value),
                                 option.valid() ? &program.Get(option) : nullptr);
}

std::vector<resolve::OptionSetting> SettingsOf(const resolve::Program& program,
                                               const project::ManifestOptions& options) {
  std::vector<resolve::OptionSetting> settings;
  for (const auto& [name, value] : options) {
    settings.push_back(SettingOf(program, name, value));
  }
  return settings;
}

std::vector<std::string> TextsOf(const std::vector<project::ManifestExpression>& expressions) {
  std::vector<std::string> texts;
  texts.reserve(expressions.size());
  for (const project::ManifestExpression& expression : expressions) {
    texts.push_back(expression.text);
  }
  return texts;
}

project::SpaceRequest SpaceOf(const resolve::Program& program,
                              const project::ManifestProgram& manifest) {
  project::SpaceRequest space{.fixed = SettingsOf(program, manifest.options),
                              .axes = {},
                              .exclude = TextsOf(manifest.exclude),
                              .require = TextsOf(manifest.require),
                              .variants = {},
                              .only_explicit = manifest.only_explicit};
  for (const auto& [name, values] : manifest.axes) {
    project::Axis axis{.name = name, .all = values.all, .values = {}};
    for (const project::ManifestValue& value : values.values) {
      axis.values.push_back(SettingOf(program, name, value));
    }
    space.axes.push_back(std::move(axis));
  }
  return space;
}

ir::Stage StageOf(const std::string& text) {
  return text == "vertex"     ? ir::Stage::kVertex
         : text == "fragment" ? ir::Stage::kFragment
                              : ir::Stage::kCompute;
}

}  // namespace

Result<DemoProject> LoadDemo(const std::string& folder) {
  DemoProject demo;
  const std::string path = folder + "/kiln.toml";
  KILN_TRY(const std::string text, ReadFile(path));
  KILN_TRY(demo.manifest, project::ReadManifest(text, path));
  for (const project::ManifestProgram& program : demo.manifest.programs) {
    for (const std::string& source : program.sources) {
      KILN_TRY(demo.sources[source], ReadFile(fmt::format("{}/{}", folder, source)));
    }
  }
  return demo;
}

DemoProject Edited(DemoProject project, const std::string& path, std::string_view from,
                   std::string_view to) {
  std::string& text = project.sources.at(path);
  const size_t at = text.find(from);
  KILN_CHECK(at != std::string::npos && text.find(from, at + 1) == std::string::npos,
             "'{}' is not once in {}", from, path);
  text.replace(at, from.size(), to);
  return project;
}

Result<compile::BatchRequest> BatchOf(const DemoProject& project) {
  compile::BatchRequest batch;
  batch.project = project.manifest.name;
  for (const project::ManifestProgram& manifest : project.manifest.programs) {
    compile::BatchProgram program;
    program.program.name = manifest.name;
    std::vector<SourceFile> files;
    for (const std::string& path : manifest.sources) {
      const std::string& text = project.sources.at(path);
      files.emplace_back(path, text);
      program.program.sources.push_back({.path = path,
                                         .digest = DigestOf(AsBytes(text)),
                                         .text = std::make_shared<const std::string>(text)});
    }
    for (const auto& [stage, function] : manifest.entry_points) {
      program.program.entries.push_back({.stage = StageOf(stage), .function = function});
    }
    const Diagnosed<driver::LinkedProgram> linked =
        driver::LinkSources(files, program.program.pipeline);
    if (!linked.ok()) {
      return Error{.code = ErrorCode::kInvalidArgument,
                   .context = manifest.name + " does not link",
                   .reason = {}};
    }
    program.program.options = SettingsOf(linked.value->program, manifest.options);
    program.space = SpaceOf(linked.value->program, manifest);
    program.targets.push_back({.name = "vk",
                               .target = target::MakeTarget(target::Environment::kVulkan11),
                               .metadata_only = false});
    batch.programs.push_back(std::move(program));
  }
  return batch;
}

}  // namespace kiln::bench
