// SPDX-License-Identifier: MIT
// Draws a scene: frames of a render graph, so that the temporal pass has a history. Pipelines come
// from variants and are all there before the first frame; everything that is bound comes from
// metadata. A second source of variants may take over while frames are drawn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/demo/engine/scene.h"
#include "examples/demo/engine/variants.h"
#include "examples/demo/engine/window.h"
#include "runtime/pipeline/pipelines.h"
#include "runtime/preview/image_file.h"
#include "runtime/vk/device.h"

namespace kiln::demo {

struct RenderRequest {
  VkExtent2D extent = {1280, 720};
  uint32_t frames = Scene::kPhases;  // ≥ 1
  std::string cache_folder;          // of the driver's cache; empty: none
  runtime::DebugChecks debug_checks = runtime::DebugChecks::kOff;
  VariantSource* reload = nullptr;  // not null: replaces what differs,
  uint32_t reload_frame = 0;        // before this frame
};

struct RenderReport {
  preview::Picture picture;  // of the last frame
  runtime::PipelineStats pipelines;
  runtime::WarmReport warm;
  std::vector<runtime::Hitch> hitches;
  uint32_t draws = 0;  // of all frames
  uint32_t frames = 0;
  uint32_t reloaded = 0;        // draws that got another pipeline
  uint32_t reloaded_by = 0;     // frame from which on all of them had it
  double start_ms = 0;          // from the variants to all pipelines drawn once
  double frames_ms = 0;         // of all frames, waiting included
  double longest_frame_ms = 0;  // of the thread that draws
  std::string plan;             // of the last frame's graph, as text
  std::string plan_svg;         // as a picture
  std::string plan_file;        // and as a file for kiln graph
};

// Errors: of the variant source; a variant that does not fit the scene, by the name of the draw; a
//         pipeline that the device cannot have.
Result<RenderReport> Render(runtime::Device& device, const Scene& scene, VariantSource& variants,
                            Window& window, const RenderRequest& request);

}  // namespace kiln::demo
