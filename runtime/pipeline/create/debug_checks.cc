// SPDX-License-Identifier: MIT
#include "runtime/pipeline/create/debug_checks.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/pipeline/create/spirv_interface.h"
#include "runtime/pipeline/formats.h"

namespace kiln::runtime {
namespace {

using artifact::OutputItem;

Error Wrong(std::string_view program, std::string_view what) {
  return {ErrorCode::kInvalidArgument, fmt::format("'{}': {}", program, what), "METADATA_INVALID"};
}

// How the vertex stage sees an attribute of the format.
OutputItem ItemOf(artifact::ItemFormat format) {
  switch (format) {
    case artifact::ItemFormat::kUint8:
    case artifact::ItemFormat::kUint16:
    case artifact::ItemFormat::kUint32:
      return OutputItem::kUint;
    case artifact::ItemFormat::kSint8:
    case artifact::ItemFormat::kSint16:
    case artifact::ItemFormat::kSint32:
      return OutputItem::kSint;
    case artifact::ItemFormat::kFloat16:
    case artifact::ItemFormat::kFloat32:
    case artifact::ItemFormat::kUnorm8:
    case artifact::ItemFormat::kUnorm16:
    case artifact::ItemFormat::kSnorm8:
    case artifact::ItemFormat::kSnorm16:
      return OutputItem::kFloat;
  }
  return OutputItem::kFloat;
}

// What stands at a location, by its name for messages.
struct Offer {
  uint32_t location = 0;
  OutputItem item = OutputItem::kFloat;
  std::string name;
};

// `wanted` of `entry` must be among the offers. `verb`: "reads"; `lacks`: "which no attribute has".
// Only the kind of number is compared. The count of components may differ, as it often does between
// attributes, shaders and color targets.
Result<void> CheckOffers(const PipelineDesc& desc, const StageDesc& stage,
                         std::span<const InterfaceLocation> wanted, std::span<const Offer> offers,
                         std::string_view verb, std::string_view lacks) {
  for (const InterfaceLocation& want : wanted) {
    // The lists are short, and this runs only where checks are on.
    const auto offer = std::ranges::find(offers, want.location, &Offer::location);
    if (offer == offers.end()) {
      return Wrong(desc.name, fmt::format("entry point '{}' {} location {}, {}", stage.entry, verb,
                                          want.location, lacks));
    }
    if (offer->item != want.item) {
      return Wrong(desc.name,
                   fmt::format("entry point '{}' {} {} at location {}, {} is {}", stage.entry, verb,
                               NameOf(want.item), want.location, offer->name, NameOf(offer->item)));
    }
  }
  return {};
}

std::vector<Offer> AttributesOf(const PipelineDesc& desc) {
  std::vector<Offer> offers;
  for (const VertexAttributeDesc& attribute : desc.vertex_attributes) {
    offers.push_back({attribute.location, ItemOf(attribute.item),
                      fmt::format("attribute '{}'", attribute.name)});
  }
  return offers;
}

// A fragment stage may leave out what the vertex stage writes, but it must not read what nobody
// wrote.
Result<void> CheckFragment(const PipelineDesc& desc, const StageDesc& stage,
                           const SpirvInterface& fragment, const SpirvInterface& vertex) {
  std::vector<Offer> offers;
  // Outputs of a vertex stage have no names in SPIR-V that a message could rely on.
  const std::string writer = fmt::format("what '{}' writes", desc.stages[0].entry);
  for (const InterfaceLocation& output : vertex.outputs) {
    offers.push_back({output.location, output.item, writer});
  }
  KILN_TRY_VOID(CheckOffers(desc, stage, fragment.inputs, offers, "reads",
                            fmt::format("which '{}' does not write", desc.stages[0].entry)));
  offers.clear();
  for (const OutputDesc& output : desc.outputs) {
    offers.push_back({output.location, output.item, fmt::format("color output '{}'", output.name)});
  }
  return CheckOffers(desc, stage, fragment.outputs, offers, "writes", "which no color output has");
}

}  // namespace

Result<void> CheckLocations(const PipelineDesc& desc,
                            std::span<const std::span<const uint32_t>> words) {
  if (desc.bind_point != VK_PIPELINE_BIND_POINT_GRAPHICS) {
    return {};
  }
  SpirvInterface vertex;
  // Stages are sorted, so the vertex stage has been read when the fragment stage needs it.
  for (size_t i = 0; i < desc.stages.size(); ++i) {
    const StageDesc& stage = desc.stages[i];
    auto read = ReadInterface(words[i], stage.stage, stage.entry);
    if (!read.ok()) {
      return Wrong(desc.name, read.error().context);
    }
    if (stage.stage == VK_SHADER_STAGE_VERTEX_BIT) {
      vertex = std::move(read).value();
      KILN_TRY_VOID(CheckOffers(desc, stage, vertex.inputs, AttributesOf(desc), "reads",
                                "which no attribute has"));
    } else {
      KILN_TRY_VOID(CheckFragment(desc, stage, *read, vertex));
    }
  }
  return {};
}

std::vector<std::string> LintsOf(const PipelineDesc& desc) {
  std::vector<std::string> lints;
  for (const OutputDesc& output : desc.outputs) {
    const VkFormat format = desc.signature.color[output.location];
    const std::optional<ColorFormat> holds = DescribeColorFormat(format);
    const VkColorComponentFlags mask = desc.attachments[output.location].colorWriteMask;
    // Components that the shader does not have are undefined by Vulkan; if the mask lets them
    // through, they end up in the image.
    std::string missing;
    // Components from the one behind the last that the shader writes.
    for (uint32_t i = output.components; holds && i < holds->components; ++i) {
      if ((mask & (VK_COLOR_COMPONENT_R_BIT << i)) != 0) {
        missing += "rgba"[i];
      }
    }
    if (!missing.empty()) {
      lints.push_back(fmt::format(
          "'{}': the write mask lets '{}' of attachment {} ({}) through, color output '{}' has {} "
          "component{}",
          desc.name, missing, output.location, FormatName(format), output.name, output.components,
          output.components == 1 ? "" : "s"));
    }
  }
  return lints;
}

// Layouts are shared by content, hence equal layouts are the same handle. The first pipeline of a
// hash speaks for all that follow.
Result<void> LayoutFamilies::Check(std::string_view name, const Hash128& hash,
                                   const LayoutSet& layouts) {
  if (hash.zero()) {
    return {};
  }
  const MutexLock lock(mutex_);
  // The hash and the stages together are the family: compute and graphics never share a layout.
  const auto [family, added] = families_.try_emplace(
      {hash, layouts.stages}, Family{.first = std::string(name), .layout = layouts.layout});
  if (added || family->second.layout == layouts.layout) {
    return {};
  }
  return Wrong(name, fmt::format("its layout hash {} is that of '{}', its layouts are others",
                                 hash.hex(), family->second.first));
}

}  // namespace kiln::runtime
