// SPDX-License-Identifier: MIT
// Parts of frame descriptions as text (docs/RENDER_GRAPH.md), for tests that write many small ones.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace kiln::graph {

// Resources, passes, outputs.
inline std::string Frame(std::string_view resources, std::string_view passes,
                         std::string_view outputs = "") {
  return fmt::format(R"({{"resources": [{}], "passes": [{}], "outputs": [{}]}})", resources, passes,
                     outputs);
}
inline std::string Texture(std::string_view name, std::string_view more = "") {
  return fmt::format(
      R"({{"name": "{}", "kind": "texture", "format": "RGBA8", "width": 64, "height": 64{}}})",
      name, more);
}
inline std::string Buffer(std::string_view name, std::string_view more = "") {
  return fmt::format(R"({{"name": "{}", "kind": "buffer", "bytes": 1024{}}})", name, more);
}
inline std::string Pass(std::string_view name, std::string_view more,
                        std::string_view type = "compute") {
  return fmt::format(R"({{"name": "{}", "type": "{}"{}{}}})", name, type, more.empty() ? "" : ", ",
                     more);
}
inline std::string Creates(std::string_view resource, std::string_view more = "") {
  return fmt::format(
      R"("creates": [{{"resource": "{}", "stage": "COMPUTE_SHADER", "access": "SHADER_STORAGE_WRITE"{}}}])",
      resource, more);
}
inline std::string Reads(std::string_view resource, std::string_view more = "") {
  return fmt::format(
      R"("reads": [{{"resource": "{}", "stage": "COMPUTE_SHADER", "access": "SHADER_SAMPLED_READ"{}}}])",
      resource, more);
}
inline std::string ReadsBuffer(std::string_view resource) {
  return fmt::format(
      R"("reads": [{{"resource": "{}", "stage": "COMPUTE_SHADER", "access": "SHADER_STORAGE_READ"}}])",
      resource);
}
inline std::string Writes(std::string_view old, std::string_view made, std::string_view more = "") {
  return fmt::format(
      R"("writes": [{{"old": "{}", "new": "{}", "stage": "COMPUTE_SHADER", "access": "SHADER_STORAGE_WRITE"{}}}])",
      old, made, more);
}
inline const std::string kKept = R"("side_effect": true)";

}  // namespace kiln::graph
