// SPDX-License-Identifier: MIT
// The RPL front end: one source -> one open module, or everything that is wrong with the source.
//   const Diagnosed<ir::Module> module = rpl::Parse(file, fingerprint, 0);
#pragma once

#include <cstdint>
#include <string>

#include "compiler/base/digest.h"
#include "compiler/base/language_limits.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/ir/module.h"
#include "compiler/source/source_file.h"

namespace kiln::rpl {

// A pure function of text and limits; threads share nothing. `fingerprint` is that of the front end
// and goes into the image. `ordinal` is the module that locations of diagnostics name. Warnings may
// come with the module, errors never. See spec/rpl 1 to 3, 13 (RPL1xxx)
Diagnosed<ir::Module> Parse(const SourceFile& source, const Hash128& fingerprint, uint32_t ordinal,
                            const LanguageLimits& limits = {});

// The stages before the module as text: what `kilnc --stage lex` and `--stage parse` print.
Diagnosed<std::string> DumpTokens(const SourceFile& source, uint32_t ordinal);
Diagnosed<std::string> DumpAst(const SourceFile& source, uint32_t ordinal);

}  // namespace kiln::rpl
