// SPDX-License-Identifier: MIT
// Tokens as text, for goldens and kilnc.
#pragma once

#include <string>

#include "compiler/diag/diagnostic.h"
#include "compiler/front/hlsl/preprocess/preprocess.h"

namespace kiln::hlsl {

// What --stage lex prints: the tokens of one file, before any directive is obeyed, each with its
// place and kind. "3:5 identifier colour"
std::string DumpTokens(const SourceFile& source);

// What --stage preprocess prints: a line for each line of a file that gave tokens, with the place
// of its first token. A space stands where one was written, and between tokens that were not
// written side by side.
//   lighting.hlsli:12:3: float3 lit = (1.0 * scale);
// `root` and `files` are those of the stream.
std::string DumpPreprocessed(const TokenStream& stream, const SourceFile& root,
                             const SourceSet& files);

}  // namespace kiln::hlsl
