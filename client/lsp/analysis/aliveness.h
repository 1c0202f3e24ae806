// SPDX-License-Identifier: MIT
// Which parts of a file are there in which variants: conditions evaluated in the variant that one
// looks at, and counted over the space of its program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/lsp/analysis/analysis.h"
#include "client/lsp/analysis/outline.h"

namespace kiln::lsp {

// Parts that are not there in the variant; outermost ones only, in order.
std::vector<Span> DeadParts(const FileView& file, Variant& variant);

// In how many variants of its program what stands at a byte is there.
struct Aliveness {
  std::string condition;  // all conditions around it: "wet && (fog != \"off\")"
  std::string alive;      // decimal
  std::string total;
  bool in_interest = true;
};
// Nothing if no condition is around it; without counts if they cannot be told.
std::optional<Aliveness> AlivenessAt(const FileView& file, Variant& variant, uint32_t offset);

}  // namespace kiln::lsp
