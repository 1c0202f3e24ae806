// SPDX-License-Identifier: MIT
// JSON text -> FrameDescription. The format is in docs/RENDER_GRAPH.md.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/graph/file/frame_description.h"

namespace kiln::graph {

// Errors: kInvalidArgument, reason MALFORMED_FILE, if the text is no such description. Broken rules
// are found when it is declared.
Result<FrameDescription> ParseFrame(std::string_view text);

// UNSUPPORTED_FORMAT for each resource whose format is no name of one, with the closest name. What
// is declared from such a description breaks the same rule, without the text.
std::vector<GraphError> UnknownFormats(const FrameDescription& description);

}  // namespace kiln::graph
