// SPDX-License-Identifier: MIT
// Metadata as text, for people and goldens.
#pragma once

#include <string>

#include "compiler/artifact/metadata.h"

namespace kiln::artifact {

// A stable dump for people and goldens, one fact per line.
std::string MetadataText(const PipelineMetadata& metadata);

}  // namespace kiln::artifact
