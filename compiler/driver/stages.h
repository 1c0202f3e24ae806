// SPDX-License-Identifier: MIT
// The direct path: parse, link, check, close, lay out, lower, assemble, write, each once and
// nothing remembered. It is what kilnc runs, what goldens read, and the oracle of the memoised path
// (spec/architecture 10.6).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/driver/direct_builder.h"
#include "compiler/driver/frontends.h"
#include "compiler/driver/request.h"
#include "compiler/emit/metadata/write.h"
#include "compiler/source/source_file.h"

namespace kiln::driver {

// Parses every source and links them. Diagnostics of all sources; no value if one has errors.
// RPL2001 for a source that is listed twice.
Diagnosed<LinkedProgram> LinkSources(std::span<const SourceFile> sources,
                                     ir::PipelineType pipeline);

// The same with what the sources may need besides their texts, and the files that each module was
// made of, for places of diagnostics (none for one of a single text).
struct LinkedSources {
  Diagnosed<LinkedProgram> program;
  std::vector<std::optional<ir::ModuleFiles>> files;  // by module
};
LinkedSources LinkSources(std::span<const SourceFile> sources, const SourceInputs& inputs,
                          ir::PipelineType pipeline, const LanguageLimits& limits = {});

// The macros of a program (front/hlsl/macro_axis.h) and which of them the sources asked for. Values
// of those chose the modules; all are options of the program.
struct MacrosOfProgram {
  std::shared_ptr<const ir::Module> module;  // MacroModule
  std::vector<uint32_t> asked;               // rows of its options, ascending
};
// Its name among the modules of a program, in messages.
inline constexpr std::string_view kMacroModule = "(macros)";

// The same over modules that are parsed already, and the macros that chose them: null if there are
// none. Their module is the last one.
Diagnosed<LinkedProgram> LinkModules(std::vector<std::shared_ptr<const ir::Module>> modules,
                                     std::vector<std::string> paths, const MacrosOfProgram* macros,
                                     ir::PipelineType pipeline, const LanguageLimits& limits = {});
Diagnosed<LinkedProgram> LinkModules(std::vector<std::shared_ptr<const ir::Module>> modules,
                                     std::vector<std::string> paths, ir::PipelineType pipeline,
                                     const LanguageLimits& limits = {});
// The same without that rule: expressions over options are of RPL, whatever the program is of.
Diagnosed<LinkedProgram> LinkModulesOfAnyLanguage(
    std::vector<std::shared_ptr<const ir::Module>> modules, std::vector<std::string> paths,
    ir::PipelineType pipeline, const LanguageLimits& limits = {});

// Byte positions for locations that have a module and span number only.
void FillPositions(const resolve::Program& program, std::vector<Diagnostic>& diagnostics);

// What metadata says about the modules. Refers to `linked`.
std::vector<metadata::ModuleFacts> ModuleFactsOf(const LinkedProgram& linked);

// Builds one variant: a DirectBuilder that is used once. `entries` may be empty: metadata only.
// Diagnostics have byte positions.
BuildResult BuildDirect(const LinkedProgram& linked, const resolve::OptionValues& values,
                        std::span<const resolve::EntryPoint> entries, const target::Target& target);

}  // namespace kiln::driver
