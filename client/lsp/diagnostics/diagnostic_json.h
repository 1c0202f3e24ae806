// SPDX-License-Identifier: MIT
// Diagnostics of the compiler as those of the protocol: text with its notes, related places, tags,
// and the edit that would mend it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "client/lsp/analysis/program.h"
#include "client/lsp/features/session.h"
#include "compiler/diag/diagnostic.h"

namespace kiln::lsp {

// One diagnostic of one file.
struct FileDiagnostic {
  std::string path;
  Json json;  // as it is published
  Span at;
  std::optional<Session::ShownFix> fix;
};

// `diagnostic` names modules of the program, with byte positions. Without a place it belongs to the
// first source.
FileDiagnostic JsonOf(Session& session, const LinkedSources& program, const Diagnostic& diagnostic);

// Those of a program of HLSL or WGSL, each in the file that its place is in, with the chain of
// includes that led there.
std::vector<FileDiagnostic> PlacedRows(Session& session, const LinkedSources& program,
                                       std::span<const Diagnostic> diagnostics);

// A diagnostic of a manifest, which has a text and a place only.
Json ManifestDiagnostic(const Range& range, std::string message);

}  // namespace kiln::lsp
