// SPDX-License-Identifier: MIT
// A pipeline description as stable text, with Vulkan's own names, for people and goldens.
#pragma once

#include <string>

#include "runtime/pipeline/pipeline_desc.h"

namespace kiln::runtime {

std::string PrintDesc(const PipelineDesc& desc);

// "R8G8B8A8_UNORM + D32_SFLOAT", with samples and views where they are not 1 and 0.
std::string PrintSignature(const PassSignature& signature);

}  // namespace kiln::runtime
