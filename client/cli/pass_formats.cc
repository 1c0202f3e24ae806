// SPDX-License-Identifier: MIT
#include "client/cli/pass_formats.h"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "cache/pack/format.h"
#include "runtime/pipeline/formats.h"
#include "runtime/vk/pass_signature.h"

namespace kiln::cli {
namespace {

Error Wrong(const project::Manifest& manifest, const project::ManifestPass& pass,
            std::string_view what) {
  return {.code = ErrorCode::kInvalidArgument,
          .context = fmt::format("{}: pass '{}': {}", manifest.path, pass.name, what),
          .reason = "VALUE_WRONG"};
}

Result<pack::Pass> PassOf(const project::Manifest& manifest, const project::ManifestPass& from) {
  pack::Pass pass{.name = from.name,
                  .view_mask = from.view_mask,
                  .samples = static_cast<uint16_t>(from.samples)};
  if (from.color.size() > pack::kMaxColorFormats) {
    return Wrong(
        manifest, from,
        fmt::format("at most {} colors, not {}", pack::kMaxColorFormats, from.color.size()));
  }
  for (const std::string& word : from.color) {
    const VkFormat format = runtime::FormatNamed(word);
    if (word != "swapchain" && !runtime::DescribeColorFormat(format)) {
      return Wrong(manifest, from,
                   fmt::format("'{}' is no color format, like rgba16_float, bgra8_srgb or "
                               "swapchain",
                               word));
    }
    pass.color_formats.push_back(word == "swapchain" ? pack::kSwapchainFormat
                                                     : static_cast<uint32_t>(format));
  }
  if (!from.depth.empty()) {
    const VkFormat format = runtime::FormatNamed(from.depth);
    if (runtime::DepthStencilAspects(format) == 0) {
      return Wrong(manifest, from,
                   fmt::format("'{}' is no depth or stencil format, like d32_float or "
                               "d24_unorm_s8_uint",
                               from.depth));
    }
    pass.depth_format = static_cast<uint32_t>(format);
  }
  return pass;
}

// By program; those that are composed of none are left out.
std::map<std::string, std::string, std::less<>> PassNames(const project::Manifest& manifest) {
  std::map<std::string, std::string, std::less<>> names;
  for (const project::ManifestProgram& program : manifest.programs) {
    if (!program.pass.empty()) {
      names.emplace(program.name, program.pass);
    }
  }
  return names;
}

}  // namespace

Result<std::vector<pack::Pass>> PassesOf(const project::Manifest& manifest) {
  std::vector<pack::Pass> passes;
  for (const project::ManifestPass& from : manifest.passes) {
    if (!from.color.empty() || !from.depth.empty()) {
      KILN_TRY(pack::Pass pass, PassOf(manifest, from));
      passes.push_back(std::move(pass));
    }
  }
  return passes;
}

void AddPasses(const project::Manifest& manifest, std::vector<pack::Pass> passes,
               pack::Contents& contents) {
  const auto names = PassNames(manifest);
  std::map<Hash128, const pack::Artifact*> by_key;
  for (const pack::Artifact& artifact : contents.artifacts) {
    by_key.emplace(artifact.live_key, &artifact);
  }
  for (pack::Warm& warm : contents.warm) {
    const uint32_t program = contents.entries[by_key.at(warm.live_key)->entry].program;
    const auto name = names.find(contents.programs[program].name);
    if (name != names.end() && warm.pass.empty() &&
        std::ranges::find(passes, name->second, &pack::Pass::name) != passes.end()) {
      warm.pass = name->second;
    }
  }
  contents.passes = std::move(passes);
}

}  // namespace kiln::cli
