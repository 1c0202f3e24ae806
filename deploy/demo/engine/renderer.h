// SPDX-License-Identifier: MIT
// Draws a scene: shadow map, forward pass, full-screen pass. Pipelines come from variants,
// everything that is bound comes from metadata.
#pragma once

#include <cstdint>
#include <memory>

#include "deploy/demo/engine/scene.h"
#include "deploy/demo/engine/variants.h"
#include "runtime/preview/image_file.h"
#include "runtime/vk/device.h"

namespace kiln::demo {

struct RenderReport {
  preview::Picture picture;
  runtime::PipelineStats pipelines;
  uint32_t draws = 0;
  double build_ms = 0;  // of all pipelines
  double frame_ms = 0;  // of the frame, waiting included
};

// Errors: of the variant source; a variant that does not fit the scene, by the name of the draw; a
//         pipeline that the device cannot have.
Result<RenderReport> Render(const runtime::Device& device, const Scene& scene,
                            VariantSource& variants, VkExtent2D extent);

}  // namespace kiln::demo
