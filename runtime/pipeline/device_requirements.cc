// SPDX-License-Identifier: MIT
// What a device must have for the pipelines of a source, before the device is made. An engine
// enables just these features. Each metadata is read once, however many pipelines have it.
#include "runtime/pipeline/device_requirements.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "compiler/artifact/metadata.h"
#include "runtime/vk/enable_feature.h"

namespace kiln::runtime {
namespace {

// Ordered by name, so that messages and lists do not depend on the order of the pack. The first
// program that needs a feature is the one that a message names.
using Needs = std::map<std::string, std::string, std::less<>>;  // name -> first program

std::vector<DeviceNeed> RowsOf(const Needs& needs) {
  std::vector<DeviceNeed> rows;
  for (const auto& [name, program] : needs) {
    rows.push_back({name, program});
  }
  return rows;
}

}  // namespace

// Only what is listed for warming counts, since that is what will be drawn.
Result<DeviceRequirements> RequirementsOf(const ArtifactSource& source) {
  Needs features;
  Needs extensions;
  // What kiln itself needs comes without a program.
  for (const std::string_view name : vk::NeededFeatures()) {
    features.emplace(name, "");
  }
  std::set<Digest> seen;
  for (const WarmItem& item : source.WarmList()) {
    const SourceArtifact& artifact = item.artifact;
    if (!seen.insert(artifact.metadata).second) {
      continue;  // another pass, or another variant that is set up alike
    }
    const Result<SourceBytes> bytes = source.Read(artifact.metadata);
    if (!bytes.ok()) {
      return WithContext(bytes.error(), artifact.program);
    }
    const auto metadata = artifact::DecodeMetadata(bytes->bytes);
    if (!metadata.ok()) {
      return WithContext(metadata.error(), artifact.program);
    }
    // `emplace` keeps the first program that needs a feature.
    for (const std::string& name : metadata->required_features) {
      features.emplace(name, artifact.program);
    }
    for (const std::string& name : metadata->required_extensions) {
      extensions.emplace(name, artifact.program);
    }
  }
  return DeviceRequirements{RowsOf(features), RowsOf(extensions)};
}

// All or nothing: the chain of the caller changes only if every name is known.
Result<void> EnableFeatures(const DeviceRequirements& requirements, vk::FeatureChain& features) {
  // A copy, as the chain has no way back.
  vk::FeatureChain enabled = features;
  for (const DeviceNeed& need : requirements.features) {
    if (!vk::EnableFeature(enabled, need.name)) {
      return Error{ErrorCode::kUnimplemented,
                   fmt::format("program '{}' needs the device feature '{}', which this version of "
                               "kiln does not know",
                               need.program, need.name),
                   "UNKNOWN_FEATURE"};
    }
  }
  features = enabled;
  return {};
}

}  // namespace kiln::runtime
