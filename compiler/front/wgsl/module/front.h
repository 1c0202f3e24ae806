// SPDX-License-Identifier: MIT
// The WGSL front end: one source -> one open module, or everything that is wrong with it.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/base/digest.h"
#include "compiler/base/language_limits.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/ir/module.h"
#include "compiler/source/source_file.h"

namespace kiln::wgsl::front {

// A pure function; threads share nothing. `fingerprint` is that of the front end and goes into the
// image. `ordinal` is the module that locations of diagnostics name.
Diagnosed<ir::Module> Parse(const SourceFile& source, const Hash128& fingerprint, uint32_t ordinal,
                            const LanguageLimits& limits = {});

// What `kilnc --stage lex` prints: a token a line.
Diagnosed<std::string> DumpTokens(const SourceFile& source, uint32_t ordinal);
// What `kilnc --stage parse` prints: the syntax tree.
Diagnosed<std::string> DumpAst(const SourceFile& source, uint32_t ordinal);

}  // namespace kiln::wgsl::front
