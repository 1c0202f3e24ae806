// SPDX-License-Identifier: MIT
// Where everything of a variant lies, as tables with the padding visible: sets, bindings, offsets,
// strides, locations. See spec/cli 6 (inspect)
#pragma once

#include <string>

#include "compiler/artifact/metadata.h"

namespace kiln::artifact {

std::string LayoutTable(const PipelineMetadata& metadata);

}  // namespace kiln::artifact
