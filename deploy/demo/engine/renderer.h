// SPDX-License-Identifier: MIT
// Draws a scene: some frames of a render graph, so that the temporal pass has a history. Pipelines
// come from variants, everything that is bound comes from metadata.
#pragma once

#include <cstdint>
#include <string>

#include "deploy/demo/engine/scene.h"
#include "deploy/demo/engine/variants.h"
#include "runtime/pipeline/pipelines.h"
#include "runtime/preview/image_file.h"
#include "runtime/vk/device.h"

namespace kiln::demo {

struct RenderRequest {
  VkExtent2D extent = {1280, 720};
  uint32_t frames = Scene::kPhases;  // ≥ 1
};

struct RenderReport {
  preview::Picture picture;  // of the last frame
  runtime::PipelineStats pipelines;
  uint32_t draws = 0;  // of all frames
  uint32_t frames = 0;
  double build_ms = 0;    // of all pipelines
  double frames_ms = 0;   // of all frames, waiting included
  std::string plan;       // of the last frame's graph, as text
  std::string plan_svg;   // as a picture
  std::string plan_file;  // and as a file for kiln graph
};

// Errors: of the variant source; a variant that does not fit the scene, by the name of the draw; a
//         pipeline that the device cannot have.
Result<RenderReport> Render(runtime::Device& device, const Scene& scene, VariantSource& variants,
                            const RenderRequest& request);

}  // namespace kiln::demo
