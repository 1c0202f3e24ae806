// SPDX-License-Identifier: MIT
// For tests: a source through preprocessor and parser, and what came out as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/front/hlsl/preprocess/preprocess.h"
#include "compiler/front/hlsl/syntax/parse.h"

namespace kiln::hlsl::syntax {

struct ParsedSource {
  PreprocessResult read;
  ParseResult parsed;

  bool ok() const { return !HasErrors(read.diagnostics) && !HasErrors(parsed.diagnostics); }
  std::vector<Diagnostic> Found() const;  // of both
};

ParsedSource ParseSource(std::string_view text, Version version = Version::k2021,
                         const LanguageLimits& limits = {});

// The dump of a right source, else "line:column CODE message" for each that was found.
std::string DumpOf(std::string_view text, Version version = Version::k2021);
// Of the initialiser of a variable: `text` is an expression, between declarations that it may use.
std::string DumpOfExpression(std::string_view text);
// Of a statement in a function: the lines below its block, not indented.
std::string DumpOfStatement(std::string_view text, Version version = Version::k2021);
std::string FoundText(std::string_view text, const std::vector<Diagnostic>& found);

}  // namespace kiln::hlsl::syntax
