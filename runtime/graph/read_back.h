// SPDX-License-Identifier: MIT
// A pass that copies a texture to where the host reads it, as pictures and tests want it.
//   const BufferId pixels = ReadBack(graph, picture, desc);
//   … Compile, Execute, Wait …
//   const BoundBuffer bytes = executor.Readback(graph, pixels);
#pragma once

#include "runtime/graph/graph.h"

namespace kiln::graph {

// The first level of the first layer, rows from the top without padding. `desc` is that of the
// texture; formats of one aspect and without blocks. Read it with Executor::Readback once the frame
// is done. Errors: none here; a wrong handle is one of the planner, as for every declaration.
BufferId ReadBack(Graph& graph, TextureId texture, const TextureDesc& desc);

}  // namespace kiln::graph
