// SPDX-License-Identifier: MIT
// Diagnostics as scripts read them. See spec/cli 7.1
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "compiler/diag/place.h"

namespace kiln {

// One JSON object with the members of spec/cli 7.1 "diagnostic" in that order, then "name". Absent
// fix and variants are null.
std::string RenderJson(const PlacedDiagnostic& diagnostic, std::string_view program);

// A JSON array of such objects.
std::string RenderJsonArray(std::span<const PlacedDiagnostic> diagnostics,
                            std::string_view program);

}  // namespace kiln
