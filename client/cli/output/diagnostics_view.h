// SPDX-License-Identifier: MIT
// Diagnostics as the flags want them: with snippets, one line each, as annotations, or as JSON.
// See spec/cli 3.1, 9
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "client/cli/global.h"
#include "client/types.h"

namespace kiln::cli {

// Shows diagnostics on stderr as --diagnostics says, or one JSON object per line on stdout. Sources
// give the snippets; `more` says where those are that are too many. Returns how many are errors.
size_t ShowDiagnostics(const Global& global, std::span<const PlacedDiagnostic> diagnostics,
                       std::span<const client::Source> sources, const std::string& program,
                       std::string_view more = "--json");
// The same as one JSON object, with all programs that have it.
void ShowMistake(const Global& global, const PlacedDiagnostic& diagnostic,
                 const std::set<std::string>& programs);
// The limit of lines begins anew: what follows is another answer.
void ResetDiagnosticsShown();
bool HasShownWarnings();

}  // namespace kiln::cli
