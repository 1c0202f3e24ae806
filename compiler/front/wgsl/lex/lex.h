// SPDX-License-Identifier: MIT
// Text -> tokens, template lists found. See spec/wgsl 5.1
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/base/language_limits.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/front/wgsl/token.h"

namespace kiln::wgsl::front {

struct LexResult {
  TokenStream stream;
  std::vector<Diagnostic> diagnostics;  // WGSL1002, WGSL1003, WGSL1001 for comments and bytes
};

// Refers to the text. `module` is the ordinal that diagnostics name.
LexResult Lex(std::string_view text, uint32_t module, const LanguageLimits& limits = {});

}  // namespace kiln::wgsl::front
