// SPDX-License-Identifier: MIT
// Handles and accesses of a frame, as the caller has them and as the graph has them.
#pragma once

#include <kiln/kiln.h>

#include "runtime/graph/types.h"

namespace kiln::c {

kiln_texture ToC(graph::TextureId id);
graph::TextureId FromC(kiln_texture texture);
kiln_buffer ToC(graph::BufferId id);
graph::BufferId FromC(kiln_buffer buffer);
graph::PassId FromC(kiln_pass pass);
graph::Access FromC(const kiln_access& access);

}  // namespace kiln::c
