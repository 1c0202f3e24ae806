// SPDX-License-Identifier: MIT
// Formats of the passes of a manifest as Vulkan has them. See spec/pso 5.2
#pragma once

#include <optional>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cache/pack/contents.h"
#include "client/project/manifest.h"
#include "compiler/base/result.h"

namespace kiln::cli {

// Those passes that name formats. Errors: kInvalidArgument naming the word that is not a format.
Result<std::vector<pack::Pass>> PassesOf(const project::Manifest& manifest);

// A pass as a line of a warm list has it: {"color": ["rgba16_float"], "depth": "d32_float",
// "samples": 1, "view_mask": 0}; unnamed formats are numbers. Nothing if it is malformed.
std::optional<pack::Pass> ListedPass(const nlohmann::json& json);

// What a line of a warm list says of its pipeline, if it was recorded.
struct WarmHint {
  std::optional<pack::Pass> pass;  // without name
  std::vector<pack::ImageHint> hints;
};

// What the daemon does not know of a pack.
struct PackFormats {
  std::vector<pack::Pass> passes;  // of the manifest
  std::vector<WarmHint> listed;    // the line of a pipeline is its priority less the first one's
  uint32_t first_listed = 0;

  bool empty() const { return passes.empty() && listed.empty(); }
};

// Pipelines that are built first get the pass of their line, else the one of their program. A pass
// of a line that is none of the manifest's is added as "list.N". Where nothing is to be built first
// and a [[program]] names its pass, which its name does not tell, all pipelines are listed with
// theirs.
void AddFormats(const project::Manifest& manifest, PackFormats formats, pack::Contents& contents);

}  // namespace kiln::cli
