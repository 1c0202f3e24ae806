// SPDX-License-Identifier: MIT
// Which front end reads a source, and under which fingerprint its images are kept.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/base/language_limits.h"
#include "compiler/base/result.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/front/hlsl/macro_axis.h"
#include "compiler/front/hlsl/settings.h"
#include "compiler/ir/module.h"
#include "compiler/ir/module_files.h"
#include "compiler/source/probe.h"
#include "compiler/source/source_file.h"

namespace kiln::driver {

// By file name extension: ".rpl", ".hlsl", ".wgsl". Nothing for any other.
std::optional<ir::Language> LanguageOf(std::string_view path);

// "rpl": the language text of keys (spec/cache 2.4). Of languages with settings: with their
// defaults.
std::string LanguageText(ir::Language language);

// What a module may be made of besides its root; RPL needs neither.
struct SourceInputs {
  std::optional<ir::Language> language;  // of all sources, whatever they are called
  SourceSet files;                       // that may be included
  hlsl::Settings hlsl = {};
  // Whether the caller has what was made of the tokens with this id, so that it need not be made
  // again. Asked of languages with macros only; null: it has nothing.
  std::function<bool(const Hash128&)> is_known = {};
};

struct ParsedSource {
  Diagnosed<ir::Module> module;
  std::optional<ir::ModuleFiles> files;  // where diagnostics are, if there may be several
  std::vector<Probe> probes;             // what includes asked for
  std::optional<Hash128> stream = {};    // id of the tokens, if it was asked for
  bool is_known = false;                 // the caller said so: there is nothing in `module`
};

ParsedSource ParseSource(ir::Language language, const SourceFile& source,
                         const SourceInputs& inputs, uint32_t module,
                         const LanguageLimits& limits = {});

// That of a source with these inputs.
std::optional<ir::Language> LanguageOf(std::string_view path, const SourceInputs& inputs);

// What the includes of a source ask for, as far as it can be read with the files that there are.
std::vector<Probe> ProbesOf(const SourceFile& source, const SourceInputs& inputs);

// One source -> generic module. Diagnostics name `module` as their module, the ordinal of the
// source.
Diagnosed<ir::Module> ParseSource(ir::Language language, const SourceFile& source, uint32_t module,
                                  const LanguageLimits& limits = {});

// Macros that a source in HLSL lists with their values (front/hlsl/macro_pragmas.h), by name. What
// is wrong with such a line is said when the source is parsed.
std::vector<hlsl::MacroAxis> MacrosIn(std::string_view text);

// The macros of a program as a module that declares them as options (front/hlsl/module).
ir::Module MacroModule(std::span<const hlsl::MacroAxis> axes);

// An image that ParseSource made, from bytes that may be damaged: copied once, checked, verified.
// Errors: kCorrupt; kFailedPrecondition if another build made it.
Result<ir::Module> LoadModule(ir::Language language, ByteView image);

}  // namespace kiln::driver
