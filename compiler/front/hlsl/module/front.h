// SPDX-License-Identifier: MIT
// The HLSL front end: one root file and the files that it may include -> one open module, or
// everything that is wrong with them.
//   const hlsl::ParseResult parsed = hlsl::Parse(root, files, settings, fingerprint, 0);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/digest.h"
#include "compiler/base/language_limits.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/front/hlsl/settings.h"
#include "compiler/front/hlsl/token_stream.h"
#include "compiler/ir/module.h"
#include "compiler/source/source_file.h"

namespace kiln::hlsl {

struct ParseResult {
  Diagnosed<ir::Module> module;
  std::vector<Probe> probes;      // paths that includes asked for, in order, found or not
  std::vector<ModuleFile> files;  // what spans of the module are in, root first
};

// A pure function of its arguments; threads share nothing. `fingerprint` is that of the front end
// and goes into the image. `ordinal` is the module that locations of diagnostics name. Warnings may
// come with the module, errors never. See spec/hlsl 1
ParseResult Parse(const SourceFile& root, const SourceSet& files, const Settings& settings,
                  const Hash128& fingerprint, uint32_t ordinal, const LanguageLimits& limits = {});

}  // namespace kiln::hlsl
