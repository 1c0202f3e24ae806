// SPDX-License-Identifier: MIT
// Formats of the passes of a manifest as Vulkan has them. Spec: pso §5.2
#pragma once

#include <vector>

#include "cache/pack/contents.h"
#include "client/project/manifest.h"
#include "compiler/base/result.h"

namespace kiln::cli {

// Those passes that name formats. Errors: kInvalidArgument naming the word that is no format.
Result<std::vector<pack::Pass>> PassesOf(const project::Manifest& manifest);

// Gives the passes to a pack: pipelines that are built first get the one that their program is
// composed of.
void AddPasses(const project::Manifest& manifest, std::vector<pack::Pass> passes,
               pack::Contents& contents);

}  // namespace kiln::cli
