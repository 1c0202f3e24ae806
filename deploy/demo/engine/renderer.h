// SPDX-License-Identifier: MIT
// Draws a scene: a render graph of shadow map, forward pass and full-screen pass. Pipelines come
// from variants, everything that is bound comes from metadata.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "deploy/demo/engine/scene.h"
#include "deploy/demo/engine/variants.h"
#include "runtime/preview/image_file.h"
#include "runtime/vk/device.h"

namespace kiln::demo {

struct RenderReport {
  preview::Picture picture;
  runtime::PipelineStats pipelines;
  uint32_t draws = 0;
  double build_ms = 0;   // of all pipelines
  double frame_ms = 0;   // of the frame, waiting included
  std::string plan;      // of the graph, as text
  std::string plan_svg;  // and as a picture
};

// Errors: of the variant source; a variant that does not fit the scene, by the name of the draw; a
//         pipeline that the device cannot have.
Result<RenderReport> Render(runtime::Device& device, const Scene& scene, VariantSource& variants,
                            VkExtent2D extent);

}  // namespace kiln::demo
