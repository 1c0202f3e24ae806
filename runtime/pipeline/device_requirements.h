// SPDX-License-Identifier: MIT
// What a device must offer for the variants of a source, as data: asked before there is a device,
// so that an engine enables that much and no more. See spec/pso 6.9
#pragma once

#include <string>
#include <vector>

#include "runtime/pipeline/artifact_source.h"
#include "runtime/vk/features.h"

namespace kiln::runtime {

struct DeviceNeed {
  std::string name;     // of a feature in snake case, or of a device extension
  std::string program;  // the first one that needs it; empty: kiln itself
};

struct DeviceRequirements {
  std::vector<DeviceNeed> features;    // by name
  std::vector<DeviceNeed> extensions;  // by name
};

// Of everything that the source wants built before the first frame, and of kiln itself.
// Errors: those of reading and decoding a variant's metadata.
Result<DeviceRequirements> RequirementsOf(const ArtifactSource& source);

// Switches the needed features on, and leaves the others as they are.
// Errors: kUnimplemented, UNKNOWN_FEATURE; nothing is changed then.
Result<void> EnableFeatures(const DeviceRequirements& requirements, vk::FeatureChain& features);

}  // namespace kiln::runtime
