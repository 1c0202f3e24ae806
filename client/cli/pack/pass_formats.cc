// SPDX-License-Identifier: MIT
// Formats that the pipelines of a pack are made for (spec/pso 5.2). The daemon does not know them,
// since they are no input of a shader; the client adds them to the contents before the pack is
// written.
#include "client/cli/pack/pass_formats.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cache/pack/format.h"
#include "client/cli/pack/warm_numbers.h"
#include "runtime/pipeline/artifact_source.h"
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

// The words are those of the runtime's table of formats. A pass may name the surface of a window,
// whose format is known on the player's machine only: it is a format of its own here.
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

// By program; programs that are not composed of passes are left out.
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

// Passes that name no formats draw into whatever the engine says at run time and are left out.
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

namespace {

// Whether a program that is composed of `known` was drawn in `seen`: the surface has any format.
// Only `known` may have the surface's format as a wildcard: `seen` comes from a running engine and
// has a real one.
bool Fits(const pack::Pass& known, const pack::Pass& seen) {
  const auto same = [](uint32_t a, uint32_t b) { return a == b || a == pack::kSwapchainFormat; };
  return known.depth_format == seen.depth_format && known.samples == seen.samples &&
         known.view_mask == seen.view_mask &&
         std::ranges::equal(known.color_formats, seen.color_formats, same);
}

// The name of the pass, which is added if there is no equal one.
std::string PassName(const pack::Pass& seen, const std::string& own,
                     std::vector<pack::Pass>& passes) {
  // The pass of the program itself is preferred, then any equal one, so that a pack does not get a
  // second name for the same formats.
  for (const bool others : {false, true}) {
    for (const pack::Pass& known : passes) {
      if ((others || known.name == own) && Fits(known, seen)) {
        return known.name;
      }
    }
  }
  pack::Pass added = seen;
  // The manifest may have a pass of the name that is made up here; names are unique in a pack.
  for (size_t number = passes.size();; ++number) {
    added.name = fmt::format("list.{}", number);
    if (std::ranges::find(passes, added.name, &pack::Pass::name) == passes.end()) {
      break;
    }
  }
  passes.push_back(added);
  return added.name;
}

// Formats without a name in the table are numbers of VkFormat; 0 is undefined and never valid.
std::optional<uint32_t> FormatOf(const nlohmann::json& json) {
  if (json.is_number_unsigned()) {
    const uint64_t number = json.get<uint64_t>();
    return number > UINT32_MAX ? std::nullopt : std::optional(static_cast<uint32_t>(number));
  }
  const VkFormat format =
      json.is_string() ? runtime::FormatNamed(json.get<std::string>()) : VK_FORMAT_UNDEFINED;
  return format == VK_FORMAT_UNDEFINED ? std::nullopt
                                       : std::optional(static_cast<uint32_t>(format));
}

}  // namespace

// The warm list is a file that engines write. A line that is not as expected gives no pass instead
// of an error, because losing a hint costs a pipeline that is made later.
std::optional<pack::Pass> ListedPass(const nlohmann::json& json) {
  if (!json.is_object() || !json.value("color", nlohmann::json()).is_array() ||
      json["color"].size() > pack::kMaxColorFormats) {
    return std::nullopt;
  }
  WarmNumbers numbers(json);
  pack::Pass pass{.name = {},
                  .view_mask = numbers.Take("view_mask", UINT32_MAX),
                  .samples = static_cast<uint16_t>(
                      json.contains("samples") ? numbers.Take("samples", UINT16_MAX) : 1),
                  .color_formats = {}};
  if (!numbers.wrong().empty()) {
    return std::nullopt;
  }
  for (const nlohmann::json& color : json["color"]) {
    const std::optional<uint32_t> format = FormatOf(color);
    if (!format) {
      return std::nullopt;
    }
    pass.color_formats.push_back(*format);
  }
  if (json.contains("depth")) {
    const std::optional<uint32_t> format = FormatOf(json["depth"]);
    if (!format) {
      return std::nullopt;
    }
    pass.depth_format = *format;
  }
  return pass;
}

namespace {

// The pass of the program of an artifact; empty: none.
std::string PassOf(const pack::Artifact& artifact, const pack::Contents& contents,
                   const std::map<std::string, std::string, std::less<>>& names) {
  const uint32_t program = contents.entries[artifact.entry].program;
  const auto name = names.find(contents.programs[program].name);
  return name == names.end() ? std::string() : name->second;
}

// A pack without a list means all of its pipelines, with the pass that the name of their program
// tells. That of a [[program]] tells none, so they are listed. Artifacts of one state are one
// pipeline. They are put into the lane kSoon: nothing is known of their importance, and none may
// delay what a frame waits for.
void ListAll(const std::map<std::string, std::string, std::less<>>& names,
             pack::Contents& contents) {
  std::set<std::pair<Hash128, std::string>> listed;
  for (const pack::Artifact& artifact : contents.artifacts) {
    if (!artifact.code.empty() &&
        listed.emplace(artifact.state_id, PassOf(artifact, contents, names)).second) {
      contents.warm.push_back(
          {.live_key = artifact.live_key, .lane = static_cast<uint16_t>(runtime::Lane::kSoon)});
    }
  }
}

}  // namespace

// After this each warm row has a pass of formats.passes or none. A row without a pass is made when
// the engine names its formats.
void AddFormats(const project::Manifest& manifest, PackFormats formats, pack::Contents& contents) {
  const auto names = PassNames(manifest);
  const bool says_own =
      std::ranges::any_of(manifest.programs, [](const project::ManifestProgram& program) {
        return program.family.empty() && !program.pass.empty();
      });
  if (contents.warm.empty() && says_own && !formats.passes.empty()) {
    ListAll(names, contents);
  }
  // Every warm row has an artifact of its live key in this pack; the reader of the contents has
  // checked that.
  std::map<Hash128, const pack::Artifact*> by_key;
  for (const pack::Artifact& artifact : contents.artifacts) {
    by_key.emplace(artifact.live_key, &artifact);
  }
  for (pack::Warm& warm : contents.warm) {
    const std::string own = PassOf(*by_key.at(warm.live_key), contents, names);
    // Rows of the warm list have their line's number as their priority, counted from
    // `first_listed`.
    const bool is_listed = warm.priority >= formats.first_listed &&
                           warm.priority - formats.first_listed < formats.listed.size();
    if (is_listed) {
      const WarmHint& line = formats.listed[warm.priority - formats.first_listed];
      warm.hints = line.hints;
      if (line.pass) {
        warm.pass = PassName(*line.pass, own, formats.passes);
      }
    }
    if (warm.pass.empty() &&
        std::ranges::find(formats.passes, own, &pack::Pass::name) != formats.passes.end()) {
      warm.pass = own;
    }
  }
  contents.passes = std::move(formats.passes);
}

}  // namespace kiln::cli
