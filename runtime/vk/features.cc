// SPDX-License-Identifier: MIT
// The features of Vulkan by name, as packs require them and devices report them. One table gives
// both directions.
#include "runtime/vk/features.h"

#include <algorithm>
#include <array>

#include "runtime/vk/enable_feature.h"

namespace kiln::vk {
namespace {

// Rows point at their member by a function, because the members lie in four structures of different
// types.
struct Row {
  std::string_view name;
  VkBool32& (*member)(FeatureChain&);
};

// Functions and not pointers to members, because the members lie in different structures of the
// chain.
#define KILN_CORE(name, field)                                                       \
  Row {                                                                              \
    name, [](FeatureChain& chain) -> VkBool32& { return chain.core.features.field; } \
  }
#define KILN_V(version, name, field)                                              \
  Row {                                                                           \
    name, [](FeatureChain& chain) -> VkBool32& { return chain.v##version.field; } \
  }

// One row per feature, sorted by name.
// Names are taken from here in this order, and DeviceCaps searches them by halving.
constexpr auto kRows = std::to_array<Row>({
    KILN_CORE("alpha_to_one", alphaToOne),
    KILN_V(12, "buffer_device_address", bufferDeviceAddress),
    KILN_CORE("depth_bias_clamp", depthBiasClamp),
    KILN_CORE("depth_bounds", depthBounds),
    KILN_CORE("depth_clamp", depthClamp),
    KILN_V(12, "descriptor_indexing", descriptorIndexing),
    KILN_CORE("dual_src_blend", dualSrcBlend),
    KILN_V(13, "dynamic_rendering", dynamicRendering),
    KILN_CORE("fill_mode_non_solid", fillModeNonSolid),
    KILN_CORE("fragment_stores_and_atomics", fragmentStoresAndAtomics),
    KILN_CORE("geometry_shader", geometryShader),
    KILN_V(12, "host_query_reset", hostQueryReset),
    KILN_CORE("image_cube_array", imageCubeArray),
    KILN_CORE("independent_blend", independentBlend),
    KILN_CORE("logic_op", logicOp),
    KILN_V(13, "maintenance4", maintenance4),
    KILN_V(11, "multiview", multiview),
    KILN_V(13, "pipeline_creation_cache_control", pipelineCreationCacheControl),
    KILN_V(12, "runtime_descriptor_array", runtimeDescriptorArray),
    KILN_CORE("sample_rate_shading", sampleRateShading),
    KILN_CORE("sampler_anisotropy", samplerAnisotropy),
    KILN_V(12, "scalar_block_layout", scalarBlockLayout),
    KILN_V(12, "separate_depth_stencil_layouts", separateDepthStencilLayouts),
    KILN_V(12, "shader_buffer_int64_atomics", shaderBufferInt64Atomics),
    KILN_CORE("shader_clip_distance", shaderClipDistance),
    KILN_CORE("shader_cull_distance", shaderCullDistance),
    KILN_V(13, "shader_demote_to_helper_invocation", shaderDemoteToHelperInvocation),
    KILN_V(11, "shader_draw_parameters", shaderDrawParameters),
    KILN_V(12, "shader_float16", shaderFloat16),
    KILN_CORE("shader_float64", shaderFloat64),
    KILN_CORE("shader_image_gather_extended", shaderImageGatherExtended),
    KILN_CORE("shader_int16", shaderInt16),
    KILN_CORE("shader_int64", shaderInt64),
    KILN_V(12, "shader_int8", shaderInt8),
    KILN_CORE("shader_resource_min_lod", shaderResourceMinLod),
    KILN_CORE("shader_resource_residency", shaderResourceResidency),
    KILN_CORE("shader_sampled_image_array_dynamic_indexing",
              shaderSampledImageArrayDynamicIndexing),
    KILN_V(12, "shader_sampled_image_array_non_uniform_indexing",
           shaderSampledImageArrayNonUniformIndexing),
    KILN_CORE("shader_storage_buffer_array_dynamic_indexing",
              shaderStorageBufferArrayDynamicIndexing),
    KILN_V(12, "shader_storage_buffer_array_non_uniform_indexing",
           shaderStorageBufferArrayNonUniformIndexing),
    KILN_CORE("shader_storage_image_array_dynamic_indexing",
              shaderStorageImageArrayDynamicIndexing),
    KILN_V(12, "shader_storage_image_array_non_uniform_indexing",
           shaderStorageImageArrayNonUniformIndexing),
    KILN_CORE("shader_storage_image_extended_formats", shaderStorageImageExtendedFormats),
    KILN_CORE("shader_storage_image_multisample", shaderStorageImageMultisample),
    KILN_CORE("shader_storage_image_read_without_format", shaderStorageImageReadWithoutFormat),
    KILN_CORE("shader_storage_image_write_without_format", shaderStorageImageWriteWithoutFormat),
    KILN_V(12, "shader_storage_texel_buffer_array_dynamic_indexing",
           shaderStorageTexelBufferArrayDynamicIndexing),
    KILN_V(12, "shader_storage_texel_buffer_array_non_uniform_indexing",
           shaderStorageTexelBufferArrayNonUniformIndexing),
    KILN_V(13, "shader_terminate_invocation", shaderTerminateInvocation),
    KILN_CORE("shader_uniform_buffer_array_dynamic_indexing",
              shaderUniformBufferArrayDynamicIndexing),
    KILN_V(12, "shader_uniform_buffer_array_non_uniform_indexing",
           shaderUniformBufferArrayNonUniformIndexing),
    KILN_V(12, "shader_uniform_texel_buffer_array_dynamic_indexing",
           shaderUniformTexelBufferArrayDynamicIndexing),
    KILN_V(12, "shader_uniform_texel_buffer_array_non_uniform_indexing",
           shaderUniformTexelBufferArrayNonUniformIndexing),
    KILN_V(13, "shader_zero_initialize_workgroup_memory", shaderZeroInitializeWorkgroupMemory),
    KILN_V(11, "storage_buffer_16bit_access", storageBuffer16BitAccess),
    KILN_V(13, "synchronization2", synchronization2),
    KILN_V(12, "timeline_semaphore", timelineSemaphore),
    KILN_V(11, "uniform_and_storage_buffer_16bit_access", uniformAndStorageBuffer16BitAccess),
    KILN_V(12, "uniform_buffer_standard_layout", uniformBufferStandardLayout),
    KILN_CORE("vertex_pipeline_stores_and_atomics", vertexPipelineStoresAndAtomics),
    KILN_CORE("wide_lines", wideLines),
});

#undef KILN_CORE
#undef KILN_V

}  // namespace

// Zero in all flags: nothing is enabled that was not asked for.
FeatureChain::FeatureChain() : core{}, v11{}, v12{}, v13{} {
  core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  v13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
}

// Set anew at each call, because copies of the struct would point into the original.
VkPhysicalDeviceFeatures2* FeatureChain::Chain() {
  core.pNext = &v11;
  v11.pNext = &v12;
  v12.pNext = &v13;
  v13.pNext = nullptr;
  return &core;
}

// Only what has a row is copied. So no feature is enabled that kiln has no name for.
FeatureChain KnownFeatures(const FeatureChain& offered) {
  // A copy, since the rows give references that can be written to.
  FeatureChain source = offered;
  FeatureChain known;
  for (const Row& row : kRows) {
    row.member(known) = row.member(source);
  }
  return known;
}

std::vector<std::string> FeatureNames(const FeatureChain& features) {
  FeatureChain source = features;
  // In the order of the rows, which is sorted.
  std::vector<std::string> names;
  for (const Row& row : kRows) {
    if (row.member(source) == VK_TRUE) {
      names.emplace_back(row.name);
    }
  }
  return names;
}

// What the runtime itself relies on, whatever the programs are.
std::span<const std::string_view> NeededFeatures() {
  static constexpr auto kNeeded = std::to_array<std::string_view>(
      {"dynamic_rendering", "synchronization2", "timeline_semaphore"});
  return kNeeded;
}

bool EnableFeature(FeatureChain& features, std::string_view name) {
  // A linear search: it is asked for a few names when a device is made.
  const auto row = std::ranges::find(kRows, name, &Row::name);
  if (row == kRows.end()) {
    return false;
  }
  row->member(features) = VK_TRUE;
  return true;
}

// Linear, unlike DeviceCaps: it asks about a name alone, without a device, and is in no hot path.
bool IsKnownFeature(std::string_view name) {
  return std::ranges::any_of(kRows, [&](const Row& row) { return row.name == name; });
}

}  // namespace kiln::vk
