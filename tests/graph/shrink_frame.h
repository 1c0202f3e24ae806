// SPDX-License-Identifier: MIT
// A frame that fails -> a smaller one that fails alike, which people can read. See spec/graph 13.1
#pragma once

#include <functional>

#include "runtime/graph/graph_file.h"

namespace kiln::graph {

using Fails = std::function<bool(const FrameDescription&)>;

// Drops passes and accesses, each with what was made from it, and halves sizes, while the frame
// still fails.
FrameDescription Shrink(FrameDescription frame, const Fails& fails);

}  // namespace kiln::graph
