// SPDX-License-Identifier: MIT
// Names of states for reports. The lists are in the order of the enumerations, and reports of
// earlier versions are compared with them, so a name never changes.
#include "runtime/pipeline/pipeline_report.h"

#include <array>

namespace kiln::runtime {

std::string_view NameOf(PipelineState state) {
  static constexpr std::array<std::string_view, 7> kNames = {
      "queued", "building", "ready", "ready fast", "failed", "unsupported", "quarantined"};
  return kNames[static_cast<size_t>(state)];
}

std::string_view NameOf(BuildSource source) {
  static constexpr std::array<std::string_view, 3> kNames = {"pack", "reload", "demand"};
  return kNames[static_cast<size_t>(source)];
}

std::string_view NameOf(HitchKind kind) {
  static constexpr std::array<std::string_view, 3> kNames = {"creation", "first use", "missing"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace kiln::runtime
