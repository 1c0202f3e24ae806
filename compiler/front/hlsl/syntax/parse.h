// SPDX-License-Identifier: MIT
// Tokens of a module → syntax tree. The face of this folder.
//   const ParseResult parsed = Parse(preprocessed.stream, texts, settings.version, limits);
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "compiler/base/language_limits.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/front/hlsl/settings.h"
#include "compiler/front/hlsl/syntax/ast.h"
#include "compiler/front/hlsl/token_stream.h"

namespace kiln::hlsl::syntax {

struct ParseResult {
  Ast ast;                              // to be used only without errors
  std::vector<Diagnostic> diagnostics;  // sorted
};

// A pure function. `texts`: contents of stream.files, by row; they are looked at only to say where
// a brace is missing, and may be left out. `earlier`: what the preprocessor found; a statement or
// declaration that holds one of its errors gets no second one. See spec/hlsl 5
ParseResult Parse(const TokenStream& stream, std::span<const std::string_view> texts,
                  Version version, const LanguageLimits& limits = {},
                  std::span<const Diagnostic> earlier = {});

}  // namespace kiln::hlsl::syntax
