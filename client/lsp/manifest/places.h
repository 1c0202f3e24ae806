// SPDX-License-Identifier: MIT
// Where in the text of a kiln.toml something is wrong.
#pragma once

#include <string>
#include <string_view>

#include "client/project/manifest.h"
#include "compiler/base/result.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/source/span.h"

namespace kiln::lsp {

struct ManifestFault {
  Span bytes;           // the word at the place; the first line if there is none
  std::string message;  // without file and place
};
// Of an error of ReadManifest, "FILE:LINE:COLUMN: text".
ManifestFault FaultOf(const Error& error, std::string_view text);

// The byte at a place; the end of the text if it is not there.
uint32_t OffsetOf(std::string_view text, project::ManifestPlace place);

// What is wrong with an option, an axis or a condition of a program: module n is condition n,
// exclusions before requirements; without one it is the option that the message names, or the
// program.
Span PlaceInManifest(std::string_view text, const project::ManifestProgram& program,
                     const Diagnostic& diagnostic);

}  // namespace kiln::lsp
