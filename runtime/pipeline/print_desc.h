// SPDX-License-Identifier: MIT
// A pipeline description as stable text, with Vulkan's own names, for people and goldens.
#pragma once

#include <string>

#include "runtime/pipeline/pipeline_desc.h"

namespace kiln::runtime {

std::string PrintDesc(const PipelineDesc& desc);

}  // namespace kiln::runtime
