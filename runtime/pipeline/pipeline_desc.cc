// SPDX-License-Identifier: MIT
// From the metadata of a program and the formats of a pass to everything that a pipeline is made of
// (spec/pso). Metadata may come from a damaged or foreign pack, so all of it is checked here; what
// is found is told with the names of the source.
#include "runtime/pipeline/pipeline_desc.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "runtime/pipeline/create/to_vulkan.h"
#include "runtime/pipeline/formats.h"

namespace kiln::runtime {
namespace {

using artifact::ColorOutput;
using artifact::OutputItem;
using artifact::PipelineType;
using artifact::Stage;

Error Wrong(std::string_view program, std::string_view reason, std::string_view what) {
  return {ErrorCode::kInvalidArgument, fmt::format("'{}': {}", program, what), std::string(reason)};
}
Error Invalid(std::string_view program, std::string_view what) {
  return Wrong(program, "METADATA_INVALID", what);
}
Error Mismatch(std::string_view program, std::string_view what) {
  return Wrong(program, "SIGNATURE_MISMATCH", what);
}

// Sorting by the bit of the stage puts vertex before fragment, and everything behind this relies on
// the order.
Result<void> FillStages(const PipelineMetadata& metadata, PipelineDesc& desc) {
  const bool compute = metadata.pipeline_type == PipelineType::kCompute;
  const Stage first = compute ? Stage::kCompute : Stage::kVertex;
  for (const artifact::EntryPoint& entry : metadata.entry_points) {
    desc.stages.push_back({ToVulkan(entry.stage), entry.name});
  }
  std::ranges::sort(desc.stages, {}, &StageDesc::stage);
  // Sorted, the first stage is the one that a pipeline of this type cannot lack.
  if (desc.stages.empty() || desc.stages.front().stage != ToVulkan(first)) {
    return Wrong(desc.name, "METADATA_INCOMPLETE",
                 fmt::format("a {} pipeline needs a {} entry point", NameOf(metadata.pipeline_type),
                             NameOf(first)));
  }
  for (size_t i = 1; i < desc.stages.size(); ++i) {
    if (desc.stages[i].stage == desc.stages[i - 1].stage) {
      return Invalid(desc.name, "two entry points of one stage");
    }
  }
  // A stage beyond the last one is of another pipeline type, as the bits are in the order of the
  // stages.
  if (desc.stages.back().stage >
      (compute ? VK_SHADER_STAGE_COMPUTE_BIT : VK_SHADER_STAGE_FRAGMENT_BIT)) {
    return Invalid(desc.name,
                   fmt::format("entry point '{}' is of a stage that a {} pipeline lacks",
                               desc.stages.back().entry, NameOf(metadata.pipeline_type)));
  }
  // Each value takes four bytes one behind the other; a flag is a word in SPIR-V as well.
  for (const artifact::Specialization& option : metadata.specialization) {
    const auto offset = static_cast<uint32_t>(desc.specialization_values.size() * sizeof(uint32_t));
    desc.specialization.push_back({option.id, offset, sizeof(uint32_t)});
    desc.specialization_values.push_back(option.value_bits);
  }
  return {};
}

// All arithmetic is in 64 bits, since metadata may be damaged: a size that wraps would be a buffer
// that is too small.
Result<uint32_t> BytesOf(const artifact::Buffer& buffer, const PipelineDesc& desc) {
  // A buffer with a tail must have room for one item at least, because shaders may read it.
  const uint64_t bytes =
      std::max<uint64_t>(buffer.main_size, uint64_t{buffer.tail_offset} + buffer.tail_item_size);
  if (bytes > UINT32_MAX) {
    return Invalid(desc.name, fmt::format("buffer '{}' has {} bytes", buffer.name, bytes));
  }
  return static_cast<uint32_t>(bytes);
}

// Bindings of one set may come from buffers, samplers and images in any order.
Result<void> FillSets(const PipelineMetadata& metadata, PipelineDesc& desc) {
  for (size_t i = 0; i < kSetCount; ++i) {
    const artifact::Set& set = metadata.sets[i];
    SetDesc& out = desc.sets[i];
    for (const artifact::Buffer& buffer : set.buffers) {
      KILN_TRY(const uint32_t bytes, BytesOf(buffer, desc));
      out.push_back({.binding = buffer.binding,
                     .type = ToVulkan(buffer.type),
                     .count = std::max(buffer.array_size, 1U),
                     .name = buffer.name,
                     .bytes = bytes});
    }
    for (const artifact::Sampler& sampler : set.samplers) {
      out.push_back({.binding = sampler.binding,
                     .type = VK_DESCRIPTOR_TYPE_SAMPLER,
                     .count = std::max(sampler.array_size, 1U),
                     .name = sampler.name,
                     .comparison = sampler.comparison});
    }
    for (const artifact::Image& image : set.images) {
      const VkDescriptorType type =
          image.sampler.empty() ? ToVulkan(image.type) : VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
      out.push_back({.binding = image.binding,
                     .type = type,
                     .count = image.image_array_size,
                     .name = image.name,
                     .image = image.type,
                     .item = image.item,
                     .format = StorageFormat(image.format),
                     .comparison = image.comparison});
    }
    // The order of bindings in the metadata is that of the source, and layouts should not depend on
    // it.
    std::ranges::sort(out, {}, &BindingDesc::binding);
    const auto twice = std::ranges::adjacent_find(out, {}, &BindingDesc::binding);
    if (twice != out.end()) {
      return Invalid(desc.name,
                     fmt::format("'{}' and '{}' of set {} both have binding {}", twice->name,
                                 std::next(twice)->name, artifact::kSetNames[i], twice->binding));
    }
  }
  // Vulkan wants a multiple of four.
  const uint64_t push_size = (uint64_t{metadata.push_constant_size} + 3) / 4 * 4;
  if (push_size > UINT32_MAX) {
    return Invalid(desc.name, fmt::format("push constants have {} bytes", push_size));
  }
  desc.push_size = static_cast<uint32_t>(push_size);
  // All stages of a pipeline type see every binding. So programs of one layout share their sets,
  // whichever stage uses what.
  desc.layout_stages = desc.bind_point == VK_PIPELINE_BIND_POINT_COMPUTE
                           ? VkShaderStageFlags{VK_SHADER_STAGE_COMPUTE_BIT}
                           : VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT;
  return {};
}

Result<void> FillAttribute(const artifact::AttributeSource& source,
                           const artifact::Attribute& attribute, PipelineDesc& desc) {
  const artifact::AttributeShape shape = ShapeOf(attribute.kind);
  if (shape.columns > 1 && attribute.column_stride == 0) {
    return Wrong(desc.name, "METADATA_INCOMPLETE",
                 fmt::format("matrix attribute '{}' has no column_stride", attribute.name));
  }
  // All arithmetic is in 64 bits, since metadata may be damaged.
  const uint64_t column = uint64_t{shape.rows} * ItemSize(attribute.item_format);
  const uint64_t end =
      attribute.offset + uint64_t{attribute.column_stride} * (shape.columns - 1) + column;
  if (end > source.block_size) {
    return Invalid(desc.name, fmt::format("attribute '{}' ends at byte {} of {} in '{}'",
                                          attribute.name, end, source.block_size, source.name));
  }
  // A matrix takes one location for each column, which is an attribute of its own in Vulkan.
  for (uint32_t k = 0; k < shape.columns; ++k) {
    desc.vertex_attributes.push_back({.name = attribute.name,
                                      .location = attribute.location + k,
                                      .binding = source.binding,
                                      .offset = attribute.offset + k * attribute.column_stride,
                                      .item = attribute.item_format,
                                      .components = shape.rows});
  }
  return {};
}

// Attributes that no buffer has any more are not possible here: each stands below its source.
Result<void> FillVertexInput(const PipelineMetadata& metadata, PipelineDesc& desc) {
  for (const artifact::AttributeSource& source : metadata.attribute_sources) {
    desc.vertex_bindings.push_back({source.binding, source.block_size,
                                    source.rate == artifact::InputRate::kInstance
                                        ? VK_VERTEX_INPUT_RATE_INSTANCE
                                        : VK_VERTEX_INPUT_RATE_VERTEX});
    for (const artifact::Attribute& attribute : source.attributes) {
      KILN_TRY_VOID(FillAttribute(source, attribute, desc));
    }
  }
  // Sorted in a copy: the order of the attributes themselves is that of the metadata.
  std::vector<VertexAttributeDesc> sorted = desc.vertex_attributes;
  std::ranges::sort(sorted, {}, &VertexAttributeDesc::location);
  const auto twice = std::ranges::adjacent_find(sorted, {}, &VertexAttributeDesc::location);
  if (twice != sorted.end()) {
    return Invalid(desc.name, fmt::format("attributes '{}' and '{}' both have location {}",
                                          twice->name, std::next(twice)->name, twice->location));
  }
  return {};
}

VkStencilOpState StencilOf(const artifact::StencilFace& face) {
  return {.failOp = ToVulkan(face.on_fail),
          .passOp = ToVulkan(face.on_pass),
          .depthFailOp = ToVulkan(face.on_depth_fail),
          .compareOp = ToVulkan(face.compare),
          .compareMask = face.compare_mask,
          .writeMask = face.write_mask,
          .reference = face.reference};
}

// Every field of the state is taken over as it stands. What does not matter is dropped later, by
// CanonicalState and for the key only.
void FillState(const PipelineMetadata& metadata, const PassSignature& signature,
               PipelineDesc& desc) {
  const artifact::Settings& settings = metadata.settings;
  const artifact::FixedState& fixed = metadata.fixed_state;
  desc.raster = {.topology = ToVulkan(fixed.topology),
                 .primitive_restart = fixed.primitive_restart,
                 .polygon_mode = ToVulkan(settings.polygon_mode),
                 .cull_mode = ToVulkan(settings.cull_mode),
                 .front_face = ToVulkan(fixed.front_face),
                 .depth_clamp = fixed.depth_clamp,
                 .discard = fixed.rasterizer_discard,
                 .depth_bias = fixed.depth_bias,
                 .line_width = fixed.line_width};
  desc.multisample = {.samples = signature.samples,
                      .sample_shading = fixed.sample_shading,
                      .alpha_to_coverage = fixed.alpha_to_coverage,
                      .alpha_to_one = fixed.alpha_to_one};
  desc.depth_stencil = {.depth_test = settings.depth_test,
                        .depth_write = settings.depth_write,
                        .depth_compare = ToVulkan(settings.depth_compare_operation),
                        .bounds_test = settings.depth_bounds_test,
                        .bounds_min = settings.depth_min,
                        .bounds_max = settings.depth_max,
                        .stencil_test = settings.stencil_test,
                        .front = StencilOf(settings.stencil_front),
                        .back = StencilOf(settings.stencil_back)};
  desc.blend_constants = metadata.blend_constants;
  desc.logic_op = fixed.logic_op;
  desc.viewport_y = fixed.viewport_y;
}

// Viewport and scissor have no values anywhere but in the command buffer, so a driver would read
// them where nothing is.
Result<void> FillDynamicStates(const artifact::FixedState& fixed, PipelineDesc& desc) {
  for (const artifact::DynamicState state : fixed.dynamic_state) {
    if (std::ranges::count(fixed.dynamic_state, state) > 1) {
      return Invalid(desc.name, fmt::format("dynamic state {} stands there twice", NameOf(state)));
    }
    desc.dynamic_states.push_back(ToVulkan(state));
  }
  for (const auto state : {artifact::DynamicState::kViewport, artifact::DynamicState::kScissor}) {
    if (std::ranges::find(fixed.dynamic_state, state) == fixed.dynamic_state.end()) {
      return Invalid(desc.name, fmt::format("{} is no dynamic state", NameOf(state)));
    }
  }
  return {};
}

VkPipelineColorBlendAttachmentState BlendOf(const ColorOutput& output) {
  VkColorComponentFlags mask = 0;
  for (size_t i = 0; i < output.write.size(); ++i) {
    // The bits of the components follow each other from red to alpha.
    mask |= output.write[i] ? VK_COLOR_COMPONENT_R_BIT << i : 0;
  }
  return {.blendEnable = output.use_blend ? VK_TRUE : VK_FALSE,
          .srcColorBlendFactor = ToVulkan(output.source_color_blend_factor),
          .dstColorBlendFactor = ToVulkan(output.destination_color_blend_factor),
          .colorBlendOp = ToVulkan(output.color_blend_operation),
          .srcAlphaBlendFactor = ToVulkan(output.source_alpha_blend_factor),
          .dstAlphaBlendFactor = ToVulkan(output.destination_alpha_blend_factor),
          .alphaBlendOp = ToVulkan(output.alpha_blend_operation),
          .colorWriteMask = mask};
}

// The pass comes from the engine and the output from a shader, so this is where the two meet for
// the first time.
Result<void> FillOutput(const ColorOutput& output, PipelineDesc& desc) {
  const std::vector<VkFormat>& formats = desc.signature.color;
  if (output.location >= formats.size() || formats[output.location] == VK_FORMAT_UNDEFINED) {
    return Mismatch(desc.name,
                    fmt::format("color output '{}' writes attachment {}, the pass has {}",
                                output.name, output.location, formats.size()));
  }
  const VkFormat format = formats[output.location];
  const std::optional<ColorFormat> holds = DescribeColorFormat(format);
  // The kind of number must agree. Components may differ, since Vulkan drops what the format does
  // not have.
  if (!holds || holds->item != output.item) {
    return Mismatch(desc.name,
                    fmt::format("color output '{}' is {}, attachment {} is {}", output.name,
                                NameOf(output.item), output.location, FormatName(format)));
  }
  if (output.use_blend && output.item != OutputItem::kFloat) {
    return Mismatch(desc.name, fmt::format("color output '{}' blends, which integers cannot ({})",
                                           output.name, FormatName(format)));
  }
  const bool taken = std::ranges::any_of(
      desc.outputs, [&](const OutputDesc& other) { return other.location == output.location; });
  if (taken) {
    return Invalid(desc.name, fmt::format("two color outputs have location {}", output.location));
  }
  desc.outputs.push_back({output.name, output.location, output.item, output.components_count});
  desc.attachments[output.location] = BlendOf(output);
  return {};
}

// The pass may have more attachments than the program writes.
Result<void> FillTargets(const PipelineMetadata& metadata, const PassSignature& signature,
                         PipelineDesc& desc) {
  desc.signature = signature;
  // An attachment without an output keeps a mask of zero: Vulkan wants a state for each.
  desc.attachments.resize(signature.color.size());  // beyond the outputs: write mask 0
  for (const ColorOutput& output : metadata.color_outputs) {
    if (output.components_count != 0) {  // nothing is written there
      KILN_TRY_VOID(FillOutput(output, desc));
    }
  }
  const VkImageAspectFlags aspects = DepthStencilAspects(signature.depth_stencil);
  const artifact::Settings& settings = metadata.settings;
  if ((settings.depth_test || settings.depth_bounds_test) &&
      (aspects & VK_IMAGE_ASPECT_DEPTH_BIT) == 0) {
    return Mismatch(desc.name,
                    fmt::format("the depth test is on, the pass has {} for depth and stencil",
                                FormatName(signature.depth_stencil)));
  }
  if (settings.stencil_test && (aspects & VK_IMAGE_ASPECT_STENCIL_BIT) == 0) {
    return Mismatch(desc.name,
                    fmt::format("the stencil test is on, the pass has {} for depth and stencil",
                                FormatName(signature.depth_stencil)));
  }
  return {};
}

}  // namespace

// Stages and layout come first: without them nothing else can be told about the pipeline.
Result<PipelineDesc> DescFrom(std::string_view name, const PipelineMetadata& metadata,
                              const PassSignature& signature) {
  PipelineDesc desc;
  desc.name = name;
  const bool compute = metadata.pipeline_type == PipelineType::kCompute;
  desc.bind_point = compute ? VK_PIPELINE_BIND_POINT_COMPUTE : VK_PIPELINE_BIND_POINT_GRAPHICS;
  KILN_TRY_VOID(FillStages(metadata, desc));
  KILN_TRY_VOID(FillSets(metadata, desc));
  desc.layout_hash = metadata.layout_hash;
  desc.required_features = metadata.required_features;
  desc.required_extensions = metadata.required_extensions;
  if (compute) {
    desc.workgroup_size = metadata.workgroup_size;
    return desc;
  }
  KILN_TRY_VOID(FillVertexInput(metadata, desc));
  FillState(metadata, signature, desc);
  KILN_TRY_VOID(FillDynamicStates(metadata.fixed_state, desc));
  // The targets come last, as the pass is compared with all that the pipeline turned on.
  KILN_TRY_VOID(FillTargets(metadata, signature, desc));
  return desc;
}

// For tools that have a program and no pass: formats that every device can render to.
PassSignature DefaultSignature(const PipelineMetadata& metadata) {
  PassSignature signature;
  for (const ColorOutput& output : metadata.color_outputs) {
    // Locations may have gaps, which stay undefined formats.
    const size_t count = std::max<size_t>(signature.color.size(), output.location + size_t{1});
    signature.color.resize(count, VK_FORMAT_UNDEFINED);
    VkFormat& format = signature.color[output.location];
    if (output.components_count == 0) {
      continue;
    }
    switch (output.item) {
      case OutputItem::kFloat:
        format = VK_FORMAT_R8G8B8A8_UNORM;
        break;
      case OutputItem::kUint:
        format = VK_FORMAT_R32G32B32A32_UINT;
        break;
      case OutputItem::kSint:
        format = VK_FORMAT_R32G32B32A32_SINT;
        break;
    }
  }
  const artifact::Settings& settings = metadata.settings;
  if (settings.stencil_test) {
    signature.depth_stencil = VK_FORMAT_D32_SFLOAT_S8_UINT;
  } else if (settings.depth_test || settings.depth_bounds_test) {
    signature.depth_stencil = VK_FORMAT_D32_SFLOAT;
  }
  return signature;
}

// Some devices lack the one format with 32 bits and stencil, and all of those have the other;
// Vulkan demands one of the two.
PassSignature DefaultSignature(const PipelineMetadata& metadata, const DeviceCaps& caps) {
  PassSignature signature = DefaultSignature(metadata);
  const auto lacks = [&](VkFormat format) {
    return (caps.Format(format).optimalTilingFeatures &
            VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT) == 0;
  };
  if (signature.depth_stencil == VK_FORMAT_D32_SFLOAT_S8_UINT &&
      lacks(VK_FORMAT_D32_SFLOAT_S8_UINT) && !lacks(VK_FORMAT_D24_UNORM_S8_UINT)) {
    signature.depth_stencil = VK_FORMAT_D24_UNORM_S8_UINT;
  }
  return signature;
}

}  // namespace kiln::runtime
