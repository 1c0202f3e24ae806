// SPDX-License-Identifier: MIT
// What is missing and what is too much are gathered apart: a feature that the device lacks makes
// the pipeline impossible (UNSUPPORTED) whatever its numbers are, so limits are told only without
// one.
#include "runtime/pipeline/create/check_device.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "runtime/pipeline/formats.h"

namespace kiln::runtime {
namespace {

// Part of the Vulkan 1.3 that every device here has; modules for older targets still name them.
constexpr std::string_view kCoreExtensions[] = {
    "VK_EXT_descriptor_indexing",
    "VK_KHR_16bit_storage",
    "VK_KHR_shader_float16_int8",
    "VK_KHR_storage_buffer_storage_class",
};

class Check {
 public:
  Check(const PipelineDesc& desc, const DeviceCaps& caps) : desc_(desc), caps_(caps) {}
  Result<void> Run();

 private:
  void Need(bool condition, std::string_view feature) {
    if (condition && !caps_.HasFeature(feature)) {
      missing_.emplace_back(feature);
    }
  }
  void AtMost(uint64_t value, uint64_t limit, std::string_view what) {
    if (value > limit) {
      limits_.push_back(fmt::format("{} {}, at most {}", value, what, limit));
    }
  }

  void CheckRequired();
  void CheckVertexInput();
  void CheckState();
  void CheckAttachments();
  void CheckDescriptors();

  const PipelineDesc& desc_;
  const DeviceCaps& caps_;
  std::vector<std::string> missing_;
  std::vector<std::string> limits_;
};

// Whatever the compiler has put into the metadata is required as it stands; the rest of this file
// derives needs from the state, which the compiler cannot know.
void Check::CheckRequired() {
  for (const std::string& feature : desc_.required_features) {
    Need(true, feature);
  }
  for (const std::string& extension : desc_.required_extensions) {
    if (!caps_.HasExtension(extension) &&
        std::ranges::find(kCoreExtensions, extension) == std::end(kCoreExtensions)) {
      missing_.push_back(extension);
    }
  }
}

void Check::CheckVertexInput() {
  const VkPhysicalDeviceLimits& limits = caps_.limits;
  AtMost(desc_.vertex_attributes.size(), limits.maxVertexInputAttributes, "vertex attributes");
  AtMost(desc_.vertex_bindings.size(), limits.maxVertexInputBindings, "vertex buffers");
  for (const VkVertexInputBindingDescription& binding : desc_.vertex_bindings) {
    AtMost(binding.stride, limits.maxVertexInputBindingStride, "bytes from vertex to vertex");
    // Numbers begin with zero, so the number after the largest is what the limit counts.
    AtMost(binding.binding + uint64_t{1}, limits.maxVertexInputBindings, "vertex buffer bindings");
  }
  for (const VertexAttributeDesc& attribute : desc_.vertex_attributes) {
    AtMost(attribute.offset, limits.maxVertexInputAttributeOffset, "bytes of attribute offset");
    AtMost(attribute.location + uint64_t{1}, limits.maxVertexInputAttributes,
           "vertex input locations");
    // DescFrom has made a binding for the source of each attribute, so the search cannot fail.
    const auto source = std::ranges::find(desc_.vertex_bindings, attribute.binding,
                                          &VkVertexInputBindingDescription::binding);
    // The format is asked for as it will be used, with the offset and stride of this source.
    if (!DeviceVertexFormat(attribute.item, attribute.components, attribute.offset, source->stride,
                            caps_)) {
      missing_.push_back(fmt::format("{} for attribute '{}'",
                                     FormatName(VertexFormat(attribute.item, attribute.components)),
                                     attribute.name));
    }
  }
}

// Each state that is no part of plain Vulkan has one feature; the names are those of the metadata
// and not those of Vulkan.
void Check::CheckState() {
  Need(desc_.raster.polygon_mode != VK_POLYGON_MODE_FILL, "fill_mode_non_solid");
  Need(desc_.raster.depth_clamp, "depth_clamp");
  Need(desc_.raster.line_width != 1.0F, "wide_lines");
  Need(desc_.depth_stencil.bounds_test, "depth_bounds");
  Need(desc_.multisample.sample_shading, "sample_rate_shading");
  Need(desc_.multisample.alpha_to_one, "alpha_to_one");
  Need(desc_.logic_op, "logic_op");
  Need(desc_.signature.view_mask != 0, "multiview");
}

// The support of a format can only be asked of the device: it differs between drivers, and the
// formats come from the pass.
void Check::CheckAttachments() {
  AtMost(desc_.attachments.size(), caps_.limits.maxColorAttachments, "color attachments");
  for (size_t i = 0; i < desc_.attachments.size(); ++i) {
    const VkFormat format = desc_.signature.color[i];
    if (format == VK_FORMAT_UNDEFINED) {
      continue;
    }
    const VkFormatFeatureFlags features = caps_.Format(format).optimalTilingFeatures;
    if ((features & VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT) == 0) {
      missing_.push_back(fmt::format("{} as color attachment {}", FormatName(format), i));
    } else if (desc_.attachments[i].blendEnable == VK_TRUE &&
               (features & VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BLEND_BIT) == 0) {
      missing_.push_back(
          fmt::format("blending on {} of color attachment {}", FormatName(format), i));
    }
  }
  // The rows are plain data without padding, so the bytes may be compared. Different rows need a
  // feature; equal ones never do.
  const auto differs = [&](const VkPipelineColorBlendAttachmentState& state) {
    return std::memcmp(&state, desc_.attachments.data(), sizeof(state)) != 0;
  };
  Need(std::ranges::any_of(desc_.attachments, differs), "independent_blend");
  const VkFormat depth = desc_.signature.depth_stencil;
  if (depth != VK_FORMAT_UNDEFINED && (caps_.Format(depth).optimalTilingFeatures &
                                       VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT) == 0) {
    missing_.push_back(fmt::format("{} as depth-stencil attachment", FormatName(depth)));
  }
}

void Check::CheckDescriptors() {
  const VkPhysicalDeviceLimits& limits = caps_.limits;
  struct Row {
    VkDescriptorType type;
    VkDescriptorType texels;  // counted with them
    uint32_t per_stage;
    uint32_t per_layout;
    std::string_view what;
  };
  constexpr VkDescriptorType kNone = VK_DESCRIPTOR_TYPE_MAX_ENUM;
  // Vulkan counts texel buffers with the images of their kind.
  // Every binding is visible to every stage of its pipeline type, so both limits see all of them.
  const auto rows = std::to_array<Row>({
      {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, kNone, limits.maxPerStageDescriptorUniformBuffers,
       limits.maxDescriptorSetUniformBuffers, "uniform buffers"},
      {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, kNone, limits.maxPerStageDescriptorStorageBuffers,
       limits.maxDescriptorSetStorageBuffers, "storage buffers"},
      {VK_DESCRIPTOR_TYPE_SAMPLER, kNone, limits.maxPerStageDescriptorSamplers,
       limits.maxDescriptorSetSamplers, "samplers"},
      {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER,
       limits.maxPerStageDescriptorSampledImages, limits.maxDescriptorSetSampledImages, "images"},
      {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER,
       limits.maxPerStageDescriptorStorageImages, limits.maxDescriptorSetStorageImages,
       "storage images"},
  });
  uint64_t resources = 0;
  for (const Row& row : rows) {
    // An array of descriptors counts with all its items.
    uint64_t count = 0;
    for (const SetDesc& set : desc_.sets) {
      for (const BindingDesc& binding : set) {
        // A combined one is an image and a sampler.
        const bool combined = binding.type == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER &&
                              (row.type == VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE ||
                               row.type == VK_DESCRIPTOR_TYPE_SAMPLER);
        count +=
            combined || binding.type == row.type || binding.type == row.texels ? binding.count : 0;
      }
    }
    AtMost(count, std::min(row.per_stage, row.per_layout), row.what);
    // Samplers are not counted as resources of a stage by Vulkan.
    resources += row.type == VK_DESCRIPTOR_TYPE_SAMPLER ? 0 : count;
  }
  AtMost(resources, limits.maxPerStageResources, "resources");
  // All sets that metadata can have are compared with the limit, used or not, so that the answer
  // does not depend on which of them a program uses.
  AtMost(kSetCount, limits.maxBoundDescriptorSets, "descriptor sets");
  // Told among what is missing, as a program whose block has no room is impossible here.
  if (desc_.push_size > limits.maxPushConstantsSize) {
    missing_.push_back(fmt::format("{} bytes of push constants, at most {} are there",
                                   desc_.push_size, limits.maxPushConstantsSize));
  }
}

// All of it is checked before anything is told, so that one message has everything that is missing.
Result<void> Check::Run() {
  CheckRequired();
  CheckDescriptors();
  if (desc_.bind_point == VK_PIPELINE_BIND_POINT_COMPUTE) {
    const VkPhysicalDeviceLimits& limits = caps_.limits;
    // Three sizes of 32 bits could overflow only after a limit was passed, which is told already.
    uint64_t invocations = 1;
    for (size_t i = 0; i < 3; ++i) {
      AtMost(desc_.workgroup_size[i], limits.maxComputeWorkGroupSize[i],
             fmt::format("invocations of a workgroup along {}", "xyz"[i]));
      invocations *= desc_.workgroup_size[i];
    }
    AtMost(invocations, limits.maxComputeWorkGroupInvocations, "invocations of a workgroup");
  } else {
    CheckVertexInput();
    CheckState();
    CheckAttachments();
  }
  if (!missing_.empty()) {
    return Error{ErrorCode::kFailedPrecondition,
                 fmt::format("'{}' needs {} (not offered by {})", desc_.name,
                             fmt::join(missing_, ", "), caps_.device_name),
                 "UNSUPPORTED"};
  }
  if (!limits_.empty()) {
    return Error{
        ErrorCode::kFailedPrecondition,
        fmt::format("'{}' has {} on {}", desc_.name, fmt::join(limits_, "; "), caps_.device_name),
        "LIMIT"};
  }
  return {};
}

}  // namespace

Result<void> CheckDevice(const PipelineDesc& desc, const DeviceCaps& caps) {
  return Check(desc, caps).Run();
}

}  // namespace kiln::runtime
