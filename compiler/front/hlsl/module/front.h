// SPDX-License-Identifier: MIT
// The HLSL front end: a root file and the files that it may include -> one open module, or
// everything that is wrong with them.
//   const ParsedModule parsed = hlsl::Parse(root, files, settings, fingerprint, 0);
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/digest.h"
#include "compiler/base/language_limits.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/front/hlsl/settings.h"
#include "compiler/front/hlsl/token_stream.h"
#include "compiler/ir/module.h"
#include "compiler/ir/module_files.h"
#include "compiler/source/source_file.h"

namespace kiln::hlsl {

struct ParsedModule {
  Diagnosed<ir::Module> module;
  ir::ModuleFiles files;      // where places of diagnostics are; also in the module
  std::vector<Probe> probes;  // what includes asked for, in order
  // What the preprocessor left, if it had nothing to say: equal ids are one module (stream_id.h).
  std::optional<Hash128> stream = {};
  bool is_known = false;  // the caller has the module of the stream, so it was not made again
};

// Whether the caller has a module of this stream, with its diagnostics.
using IsKnownStream = std::function<bool(const Hash128&)>;

// A pure function; threads share nothing. `fingerprint` is that of the front end and goes into the
// image. `ordinal` is the module that locations of diagnostics name. Warnings may come with the
// module, errors never. See spec/hlsl 1.1
ParsedModule Parse(const SourceFile& root, const SourceSet& files, const Settings& settings,
                   const Hash128& fingerprint, uint32_t ordinal, const LanguageLimits& limits = {},
                   const IsKnownStream& is_known = {});

// What the includes ask for, as far as the module can be read with the files that there are.
std::vector<Probe> ProbesOf(const SourceFile& root, const SourceSet& files,
                            const Settings& settings);

// A stage before the module as text.
struct DumpedStage {
  Diagnosed<std::string> text;
  ir::ModuleFiles files;
};
// What `kilnc --stage lex` prints: the tokens of the root as they are written.
DumpedStage DumpLexed(const SourceFile& root);
// What `kilnc --stage preprocess` prints: what the parser reads.
DumpedStage DumpPreprocessed(const SourceFile& root, const SourceSet& files,
                             const Settings& settings, uint32_t ordinal);
// What `kilnc --stage parse` prints: the syntax tree.
DumpedStage DumpParsed(const SourceFile& root, const SourceSet& files, const Settings& settings,
                       uint32_t ordinal);

}  // namespace kiln::hlsl
