// SPDX-License-Identifier: MIT
// Which front end reads a source, and under which fingerprint its images are kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "compiler/base/bytes.h"
#include "compiler/base/language_limits.h"
#include "compiler/base/result.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/ir/module.h"
#include "compiler/source/source_file.h"

namespace kiln::driver {

// By file name extension: ".rpl". Nothing for any other.
std::optional<ir::Language> LanguageOf(std::string_view path);

// "rpl": the language text of keys (spec/cache 2.4).
std::string_view LanguageText(ir::Language language);

// One source -> open module. Diagnostics name `module` as their module, the ordinal of the source.
Diagnosed<ir::Module> ParseSource(ir::Language language, const SourceFile& source, uint32_t module,
                                  const LanguageLimits& limits = {});

// An image that ParseSource made, from bytes that may be damaged: copied once, checked, verified.
// Errors: kCorrupt; kFailedPrecondition if another build made it.
Result<ir::Module> LoadModule(ir::Language language, ByteView image);

}  // namespace kiln::driver
