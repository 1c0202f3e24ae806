// SPDX-License-Identifier: MIT
// Where everything of a variant lies, as tables with the padding visible: sets, bindings, offsets,
// strides, locations. Spec: cli §6 (inspect)
#pragma once

#include <string>

#include "compiler/artifact/metadata.h"

namespace kiln::cli {

std::string LayoutTable(const artifact::PipelineMetadata& metadata);

}  // namespace kiln::cli
