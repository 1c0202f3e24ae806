// SPDX-License-Identifier: MIT
#include "compiler/driver/stages.h"

#include <algorithm>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/diag/encode.h"
#include "compiler/emit/metadata/write.h"
#include "compiler/ir/enum_names.h"

namespace kiln::driver {
namespace {

void Append(std::vector<Diagnostic>& to, std::vector<Diagnostic>&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// RPL2011 for the first module of another language than the one before all others. What they would
// share (names, bindings, interfaces) has other rules in each.
std::vector<Diagnostic> FindMixture(std::span<const std::shared_ptr<const ir::Module>> modules,
                                    std::span<const std::string> paths) {
  for (uint32_t i = 1; i < modules.size(); ++i) {
    const ir::Language first = modules[0]->view().header.language;
    const ir::Language other = modules[i]->view().header.language;
    if (other != first) {
      return {Make(Code::kRpl2011, {.module = i, .bytes = {0, 0}})
                  .With("module", paths[i])
                  .With("language", ir::NameOf(other))
                  .With("other", paths[0])
                  .With("other_language", ir::NameOf(first))};
    }
  }
  return {};
}

}  // namespace

// Modules are shared: a cache may have them as well, and the program has views into them.
Diagnosed<LinkedProgram> LinkModulesOfAnyLanguage(
    std::vector<std::shared_ptr<const ir::Module>> modules, std::vector<std::string> paths,
    ir::PipelineType pipeline, const LanguageLimits& limits) {
  std::vector<ir::ModuleView> views;
  views.reserve(modules.size());
  std::vector<Hash128> semantic_ids;
  for (const std::shared_ptr<const ir::Module>& module : modules) {
    views.push_back(module->view());
    semantic_ids.push_back(module->semantic_id());
  }
  Diagnosed<resolve::Program> linked = resolve::Link(views, pipeline, paths, limits);
  Diagnosed<LinkedProgram> result;
  result.diagnostics = std::move(linked.diagnostics);
  if (linked.value.has_value()) {
    result.value = LinkedProgram{.modules = std::move(modules),
                                 .paths = std::move(paths),
                                 .semantic_ids = std::move(semantic_ids),
                                 .program = std::move(*linked.value)};
  }
  return result;
}

Diagnosed<LinkedProgram> LinkModules(std::vector<std::shared_ptr<const ir::Module>> modules,
                                     std::vector<std::string> paths, ir::PipelineType pipeline,
                                     const LanguageLimits& limits) {
  if (std::vector<Diagnostic> mixture = FindMixture(modules, paths); !mixture.empty()) {
    return {.value = {}, .diagnostics = std::move(mixture)};
  }
  return LinkModulesOfAnyLanguage(std::move(modules), std::move(paths), pipeline, limits);
}

// As an option is numbered: behind those of all modules before its own.
Diagnosed<LinkedProgram> LinkModules(std::vector<std::shared_ptr<const ir::Module>> modules,
                                     std::vector<std::string> paths, const MacrosOfProgram* macros,
                                     ir::PipelineType pipeline, const LanguageLimits& limits) {
  if (macros == nullptr) {
    return LinkModules(std::move(modules), std::move(paths), pipeline, limits);
  }
  const auto ordinal = static_cast<uint32_t>(modules.size());
  modules.push_back(macros->module);
  paths.emplace_back(kMacroModule);
  Diagnosed<LinkedProgram> linked =
      LinkModules(std::move(modules), std::move(paths), pipeline, limits);
  if (linked.value.has_value()) {
    linked.value->has_macros = true;
    const uint32_t first = linked.value->program.bases(ordinal).option;
    std::vector<ir::OptionId> choices;
    for (const uint32_t row : macros->asked) {
      choices.push_back(ir::OptionId{first + row});
    }
    linked.value->program.SetChoices(std::move(choices));
  }
  return linked;
}

// Without includes, settings or limits, as tests and RPL alone need it.
Diagnosed<LinkedProgram> LinkSources(std::span<const SourceFile> sources,
                                     ir::PipelineType pipeline) {
  return LinkSources(sources, {}, pipeline).program;
}

// Every source is parsed, also behind one that is wrong, so that an author gets all errors at once.
// Linking needs all of them.
LinkedSources LinkSources(std::span<const SourceFile> sources, const SourceInputs& inputs,
                          ir::PipelineType pipeline, const LanguageLimits& limits) {
  LinkedSources out;
  std::vector<Diagnostic> found;
  std::vector<std::shared_ptr<const ir::Module>> modules;
  std::vector<std::string> paths;
  for (const SourceFile& source : sources) {
    // The same source twice would declare everything twice; saying so once is better.
    if (std::find(paths.begin(), paths.end(), source.path) != paths.end()) {
      found.push_back(Make(Code::kRpl2001, {}).With("module", source.path));
      continue;
    }
    // The number of a path, and not of a module: diagnostics of a source that failed need one as
    // well.
    const auto ordinal = static_cast<uint32_t>(paths.size());
    paths.push_back(source.path);
    const std::optional<ir::Language> language = LanguageOf(source.path, inputs);
    KILN_CHECK(language.has_value(), "no front end reads {}", source.path);
    ParsedSource parsed = ParseSource(*language, source, inputs, ordinal, limits);
    Append(found, std::move(parsed.module.diagnostics));
    out.files.push_back(std::move(parsed.files));
    if (parsed.module.ok()) {
      modules.push_back(std::make_shared<const ir::Module>(std::move(*parsed.module.value)));
    }
  }
  // A program with a missing module would only add errors that follow from those already found.
  if (modules.size() == paths.size()) {
    out.program = LinkModules(std::move(modules), std::move(paths), pipeline, limits);
  }
  Append(out.program.diagnostics, std::move(found));
  return out;
}

// A location of a module is a number of a span until somebody needs bytes. Numbers that the module
// does not have belong to nobody and stay.
void FillPositions(const resolve::Program& program, std::vector<Diagnostic>& diagnostics) {
  kiln::FillPositions(diagnostics, [&](uint32_t module, uint32_t number) {
    if (module >= program.modules().size() || number >= program.module(module).spans.size()) {
      return std::optional<Span>();
    }
    return std::optional(program.module(module).spans[number]);
  });
}

// What metadata say about modules. Ids are those of content, so they do not depend on paths.
std::vector<metadata::ModuleFacts> ModuleFactsOf(const LinkedProgram& linked) {
  std::vector<metadata::ModuleFacts> facts;
  // Macros are no source: what they chose is in the modules before them.
  const size_t sources = linked.modules.size() - (linked.has_macros ? 1 : 0);
  for (size_t i = 0; i < sources; ++i) {
    facts.push_back({.semantic_id = linked.semantic_ids[i],
                     .path = linked.paths[i],
                     .view = &linked.modules[i]->view()});
  }
  return facts;
}

// One variant without any cache.
BuildResult BuildDirect(const LinkedProgram& linked, const resolve::OptionValues& values,
                        std::span<const resolve::EntryPoint> entries,
                        const target::Target& target) {
  return DirectBuilder(linked, entries, target).Build(values);
}

}  // namespace kiln::driver
