// SPDX-License-Identifier: MIT
// The device features that kiln knows by name: the names that metadata may require, and what
// Device::Create switches on when a device offers it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/vk/table.h"

namespace kiln::vk {

// The feature structures of Vulkan 1.3, chained. Chain before use and after every copy.
struct FeatureChain {
  VkPhysicalDeviceFeatures2 core;
  VkPhysicalDeviceVulkan11Features v11;
  VkPhysicalDeviceVulkan12Features v12;
  VkPhysicalDeviceVulkan13Features v13;

  FeatureChain();
  VkPhysicalDeviceFeatures2* Chain();
};

// What is both in `offered` and known by name.
FeatureChain KnownFeatures(const FeatureChain& offered);

// Names of the known features that are on: snake case of the Vulkan members, sorted.
std::vector<std::string> FeatureNames(const FeatureChain& features);

// Whether kiln knows a feature of that name.
bool IsKnownFeature(std::string_view name);

}  // namespace kiln::vk
