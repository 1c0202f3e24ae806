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

constexpr Requirement kRequirements[] = {
    {Need::kFloat16, "shader_float16", "VK_KHR_shader_float16_int8", Environment::kVulkan12},
    {Need::kStorageBuffer16BitAccess, "storage_buffer_16bit_access", "VK_KHR_16bit_storage",
     Environment::kVulkan11},
    {Need::kSampledImageArrayNonUniformIndexing, "shader_sampled_image_array_non_uniform_indexing",
     "VK_EXT_descriptor_indexing", Environment::kVulkan12},
    {Need::kFragmentStores, "fragment_stores_and_atomics", "", Environment::kVulkan10},
    {Need::kVertexStores, "vertex_pipeline_stores_and_atomics", "", Environment::kVulkan10},
    {Need::kStorageBufferClass, "", "VK_KHR_storage_buffer_storage_class", Environment::kVulkan11},
};

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
    if ((needs & BitOf(row.need)) != 0 && environment < row.core) {
      names.push_back(row.extension);
    }
  }
  return Sorted(std::move(names));
}

}  // namespace kiln::target
