// SPDX-License-Identifier: MIT
// Diagnostics as people and editors read them; render_json.h is for scripts. See spec/cli 9
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "compiler/diag/place.h"
#include "compiler/source/source_file.h"

namespace kiln {

enum class Colour : uint8_t { kOff, kOn };

struct TextStyle {
  Colour colour = Colour::kOff;
  uint32_t width = 100;  // columns of the terminal; longer source lines are shown in part
  // The URI that a path leads to on terminals that can follow it (OSC 8); empty: none.
  std::function<std::string(const std::string& path)> link = nullptr;
};

// The long form, several lines, each ended:
//   error[RPL6022]: operator '+' on 'f3' and 'f4'
//     --> materials/rock.rpl:88:20
//      |
//   87 |     f3 base = albedo.xyz;
//   88 |     output.color = base + emission;
//      |                    ^^^^   ^^^^^^^^ 'f4'
//      = help: accepted: equal vector types
// Snippets come from `sources`, by path; without the source the location line remains.
std::string RenderText(const PlacedDiagnostic& diagnostic, const SourceSet& sources,
                       const TextStyle& style);

// "path:line:column: severity: message [code]" and a line end.
std::string RenderShort(const PlacedDiagnostic& diagnostic);

// All of them in the long form with blank lines between, at most `limit`, then how many more there
// are. Requires: sorted as they shall be read.
std::string RenderReport(std::span<const PlacedDiagnostic> diagnostics, const SourceSet& sources,
                         const TextStyle& style, size_t limit = 20);

}  // namespace kiln
