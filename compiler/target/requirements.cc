// SPDX-License-Identifier: MIT
#include "compiler/target/requirements.h"

#include <algorithm>

namespace kiln::target {
namespace {

struct Requirement {
  Need need;
  std::string_view feature;    // empty: none
  std::string_view extension;  // empty: none in any version
  Environment core;            // first version that has it without the extension
};

// Above every environment: no version of Vulkan has made it core, so the extension is always asked
// for.
constexpr auto kNever = static_cast<Environment>(0xff);

// Which feature of a device each need stands for. The names are those of the fields of
// VkPhysicalDevice*Features in snake case, as metadata hold them. Needs without a row (derivatives,
// queries of images) are met by every device or come together with one that has a row.
constexpr Requirement kRequirements[] = {
    {Need::kFloat16, "shader_float16", "VK_KHR_shader_float16_int8", Environment::kVulkan12},
    {Need::kStorageBuffer16BitAccess, "storage_buffer_16bit_access", "VK_KHR_16bit_storage",
     Environment::kVulkan11},
    {Need::kSampledImageArrayNonUniformIndexing, "shader_sampled_image_array_non_uniform_indexing",
     "VK_EXT_descriptor_indexing", Environment::kVulkan12},
    {Need::kFragmentStores, "fragment_stores_and_atomics", "", Environment::kVulkan10},
    {Need::kVertexStores, "vertex_pipeline_stores_and_atomics", "", Environment::kVulkan10},
    {Need::kFloat64, "shader_float64", "", Environment::kVulkan10},
    {Need::kInt64, "shader_int64", "", Environment::kVulkan10},
    {Need::kInt64Atomics, "shader_buffer_int64_atomics", "VK_KHR_shader_atomic_int64",
     Environment::kVulkan12},
    {Need::kInt16, "shader_int16", "", Environment::kVulkan10},
    {Need::kImageGatherExtended, "shader_image_gather_extended", "", Environment::kVulkan10},
    {Need::kStorageImageMultisample, "shader_storage_image_multisample", "",
     Environment::kVulkan10},
    {Need::kImageMSArray, "shader_storage_image_multisample", "", Environment::kVulkan10},
    {Need::kImageCubeArray, "image_cube_array", "", Environment::kVulkan10},
    {Need::kSampledCubeArray, "image_cube_array", "", Environment::kVulkan10},
    {Need::kSparseResidency, "shader_resource_residency", "", Environment::kVulkan10},
    {Need::kMinLod, "shader_resource_min_lod", "", Environment::kVulkan10},
    {Need::kStorageImageExtendedFormats, "shader_storage_image_extended_formats", "",
     Environment::kVulkan10},
    {Need::kStorageImageReadWithoutFormat, "shader_storage_image_read_without_format", "",
     Environment::kVulkan10},
    {Need::kStorageImageWriteWithoutFormat, "shader_storage_image_write_without_format", "",
     Environment::kVulkan10},
    {Need::kUniformBuffer16BitAccess, "uniform_and_storage_buffer_16bit_access",
     "VK_KHR_16bit_storage", Environment::kVulkan11},
    {Need::kInt64Image, "shader_image_int64_atomics", "VK_EXT_shader_image_atomic_int64", kNever},
    {Need::kUniformBufferArrayNonUniformIndexing,
     "shader_uniform_buffer_array_non_uniform_indexing", "VK_EXT_descriptor_indexing",
     Environment::kVulkan12},
    {Need::kStorageBufferArrayNonUniformIndexing,
     "shader_storage_buffer_array_non_uniform_indexing", "VK_EXT_descriptor_indexing",
     Environment::kVulkan12},
    {Need::kStorageImageArrayNonUniformIndexing, "shader_storage_image_array_non_uniform_indexing",
     "VK_EXT_descriptor_indexing", Environment::kVulkan12},
    {Need::kUniformBufferArrayDynamicIndexing, "shader_uniform_buffer_array_dynamic_indexing", "",
     Environment::kVulkan10},
    {Need::kSampledImageArrayDynamicIndexing, "shader_sampled_image_array_dynamic_indexing", "",
     Environment::kVulkan10},
    {Need::kStorageBufferArrayDynamicIndexing, "shader_storage_buffer_array_dynamic_indexing", "",
     Environment::kVulkan10},
    {Need::kStorageImageArrayDynamicIndexing, "shader_storage_image_array_dynamic_indexing", "",
     Environment::kVulkan10},
    {Need::kUniformTexelBufferArrayDynamicIndexing,
     "shader_uniform_texel_buffer_array_dynamic_indexing", "VK_EXT_descriptor_indexing",
     Environment::kVulkan12},
    {Need::kUniformTexelBufferArrayNonUniformIndexing,
     "shader_uniform_texel_buffer_array_non_uniform_indexing", "VK_EXT_descriptor_indexing",
     Environment::kVulkan12},
    {Need::kStorageTexelBufferArrayDynamicIndexing,
     "shader_storage_texel_buffer_array_dynamic_indexing", "VK_EXT_descriptor_indexing",
     Environment::kVulkan12},
    {Need::kStorageTexelBufferArrayNonUniformIndexing,
     "shader_storage_texel_buffer_array_non_uniform_indexing", "VK_EXT_descriptor_indexing",
     Environment::kVulkan12},
    {Need::kDemote, "shader_demote_to_helper_invocation",
     "VK_EXT_shader_demote_to_helper_invocation", Environment::kVulkan13},
    {Need::kGeometry, "geometry_shader", "", Environment::kVulkan10},
    {Need::kClipDistance, "shader_clip_distance", "", Environment::kVulkan10},
    {Need::kCullDistance, "shader_cull_distance", "", Environment::kVulkan10},
    {Need::kSampleRateShading, "sample_rate_shading", "", Environment::kVulkan10},
    {Need::kDrawParameters, "shader_draw_parameters", "VK_KHR_shader_draw_parameters",
     Environment::kVulkan11},
    {Need::kScalarBlockLayout, "scalar_block_layout", "VK_EXT_scalar_block_layout",
     Environment::kVulkan12},
    {Need::kStorageBufferClass, "", "VK_KHR_storage_buffer_storage_class", Environment::kVulkan11},
};

// Several needs share a feature or an extension. The order of names goes into metadata, which are
// compared byte by byte.
std::vector<std::string_view> Sorted(std::vector<std::string_view> names) {
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

std::vector<std::string_view> FeaturesOf(Needs needs) {
  std::vector<std::string_view> names;
  for (const Requirement& row : kRequirements) {
    if ((needs & BitOf(row.need)) != 0 && !row.feature.empty()) {
      names.push_back(row.feature);
    }
  }
  return Sorted(std::move(names));
}

std::vector<std::string_view> DeviceExtensionsOf(Needs needs, Environment environment) {
  std::vector<std::string_view> names;
  for (const Requirement& row : kRequirements) {
    // Environments are ordered by version, so one comparison tells whether it is core already.
    if ((needs & BitOf(row.need)) != 0 && environment < row.core && !row.extension.empty()) {
      names.push_back(row.extension);
    }
  }
  return Sorted(std::move(names));
}

}  // namespace kiln::target
