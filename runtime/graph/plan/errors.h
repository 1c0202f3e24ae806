// SPDX-License-Identifier: MIT
// Errors of the steps of planning, which name passes and versions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/graph/declarations.h"

namespace kiln::graph {

struct ErrorNames {
  std::span<const uint32_t> passes;
  std::span<const uint32_t> versions;
};

// Adds an error, unless there are many already. The message is code, names and detail; the place is
// that of the first pass.
void AddError(const Declarations& rows, std::string_view code, const ErrorNames& names,
              std::string_view detail, std::vector<GraphError>& errors);

}  // namespace kiln::graph
