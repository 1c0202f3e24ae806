// SPDX-License-Identifier: MIT
// A picture of one variant from its metadata and words alone: built-in mesh, parameters by tag,
// name or type, one graphics pass of a render graph and one copy. See spec/pso 10
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/pipeline/pipelines.h"
#include "runtime/preview/defaults.h"
#include "runtime/preview/image_file.h"

namespace kiln::preview {

struct PreviewRequest {
  std::string mesh = "sphere";
  VkExtent2D size = {512, 512};
  SetValues set;
  std::map<std::string, Picture, std::less<>> images;  // by the image's name; others are made up
  uint32_t frame = 0;
  std::optional<runtime::PassSignature> signature;  // nullopt: that of spec/pso 5.3
  bool warm_up = false;  // the pipeline is drawn once before, where nobody sees it
};

struct Preview {
  Picture picture;
  std::vector<Match> attributes;
  std::vector<Match> parameters;
  std::vector<std::string> lints;    // what is odd about the pipeline
  runtime::PassSignature signature;  // what was drawn to
  Hash128 key;                       // of the pipeline
  double creation_ms = 0;
  double first_use_ms = 0;  // of the whole first frame
  double draw_ms = 0;       // of the same frame again
  uint64_t covered = 0;     // pixels that are not background
};

// Errors: UNSUPPORTED and others of the pipeline; kInvalidArgument (USAGE) for a mesh that is not
//         there, or a name that nothing has, with the closest one; kNotFound for compute programs.
Result<Preview> Render(runtime::Device& device, std::string_view name,
                       const artifact::PipelineMetadata& metadata,
                       std::span<const runtime::ModuleWords> modules,
                       const PreviewRequest& request);

}  // namespace kiln::preview
