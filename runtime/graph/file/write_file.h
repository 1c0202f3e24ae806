// SPDX-License-Identifier: MIT
// Declarations of a live graph -> the file that ParseFrame reads.
#pragma once

#include <string>

#include "runtime/graph/graph.h"

namespace kiln::graph {

// The frame that was declared last, as a file. Names that occur twice get a number.
std::string WriteGraphFile(const Graph& graph);

}  // namespace kiln::graph
