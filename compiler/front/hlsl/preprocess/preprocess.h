// SPDX-License-Identifier: MIT
// Root file -> the tokens that the parser reads: includes looked up, directives obeyed, macros
// expanded. A pure function: no file system, clock or environment; includes see the declared set
// and nothing else.
//   const PreprocessResult read = Preprocess(root, files, settings, ordinal, limits);
// See spec/hlsl 4
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/language_limits.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/front/hlsl/settings.h"
#include "compiler/front/hlsl/token_stream.h"
#include "compiler/source/source_file.h"

namespace kiln::hlsl {

struct PreprocessResult {
  TokenStream stream;                   // whole as far as it goes; kEnd is always there
  std::vector<Diagnostic> diagnostics;  // HLSL10xx in the order of finding, not sorted
  // Nothing is missing: no include, and reading did not end early. Else the parser would find what
  // is no error of the source.
  bool is_whole = false;
};

// `ordinal` is the module that locations name. Time and memory are bounded by the size of the files
// that are read and by `limits`, whatever the macros do; what exceeds them is one error, and
// reading ends there.
PreprocessResult Preprocess(const SourceFile& root, const SourceSet& files,
                            const Settings& settings, uint32_t ordinal,
                            const LanguageLimits& limits = {});

}  // namespace kiln::hlsl
