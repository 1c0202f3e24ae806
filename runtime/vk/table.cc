// SPDX-License-Identifier: MIT
// The only file that touches global Vulkan symbols: those of volk, whose implementation is here.
#define VOLK_IMPLEMENTATION
#include "runtime/vk/table.h"

#include <array>
#include <volk.h>

#include <fmt/format.h>

#include "runtime/vk/device_function.h"

namespace kiln::vk {

// Messages name the packages of Debian and Ubuntu, as a missing loader is the first thing that
// fails on a fresh machine.
Result<void> LoadGlobal(Table& table) {
  if (volkInitialize() != VK_SUCCESS) {
    return Error{ErrorCode::kUnavailable,
                 "there is no Vulkan loader (libvulkan.so.1); install libvulkan1 and a driver, for "
                 "example mesa-vulkan-drivers",
                 "NO_DEVICE"};
  }
#define KILN_VK_LOAD(name) table.name = vk##name;
  KILN_VK_GLOBAL_FUNCTIONS(KILN_VK_LOAD)
#undef KILN_VK_LOAD
  return {};
}

// For programs that have a loader of their own, as engines do. Before LoadGlobal.
void AdoptLoader(PFN_vkGetInstanceProcAddr get_instance_proc_addr) {
  volkInitializeCustom(get_instance_proc_addr);
}

// Two functions stand for all of Vulkan 1.1: an instance that has them was made by a loader that is
// new enough.
Result<void> LoadInstance(Table& table, VkInstance instance) {
#define KILN_VK_LOAD(name) \
  table.name = reinterpret_cast<PFN_vk##name>(vkGetInstanceProcAddr(instance, "vk" #name));
  KILN_VK_INSTANCE_FUNCTIONS(KILN_VK_LOAD)
#undef KILN_VK_LOAD
  if (table.EnumeratePhysicalDevices == nullptr || table.GetPhysicalDeviceProperties2 == nullptr) {
    return Error{ErrorCode::kUnavailable, "the Vulkan instance lacks functions of Vulkan 1.1",
                 "NO_DEVICE"};
  }
  // volk finds device functions through this one.
  vkGetDeviceProcAddr = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
      vkGetInstanceProcAddr(instance, "vkGetDeviceProcAddr"));
  return {};
}

// All functions are required at once. A missing one would otherwise be a crash at its first call.
Result<void> LoadDevice(Table& table, VkDevice device) {
  VolkDeviceTable functions;
  volkLoadDeviceTable(&functions, device);
#define KILN_VK_LOAD(name)                                                                  \
  if (functions.vk##name == nullptr) {                                                      \
    return Error{ErrorCode::kUnavailable, "the Vulkan device lacks vk" #name, "NO_DEVICE"}; \
  }                                                                                         \
  table.name = functions.vk##name;
  KILN_VK_DEVICE_FUNCTIONS(KILN_VK_LOAD)
#undef KILN_VK_LOAD
  return {};
}

// Null: the device has no such function.
PFN_vkVoidFunction DeviceFunction(VkDevice device, const char* name) {
  return vkGetDeviceProcAddr(device, name);
}

// Only results that Kiln's own calls can give have a row. VulkanError prints the number beside the
// name, which tells the others.
std::string_view ResultName(VkResult result) {
  struct Row {
    VkResult result;
    std::string_view name;
  };
  static constexpr auto kRows = std::to_array<Row>({
      {VK_SUCCESS, "VK_SUCCESS"},
      {VK_NOT_READY, "VK_NOT_READY"},
      {VK_TIMEOUT, "VK_TIMEOUT"},
      {VK_INCOMPLETE, "VK_INCOMPLETE"},
      {VK_PIPELINE_COMPILE_REQUIRED, "VK_PIPELINE_COMPILE_REQUIRED"},
      {VK_ERROR_OUT_OF_HOST_MEMORY, "VK_ERROR_OUT_OF_HOST_MEMORY"},
      {VK_ERROR_OUT_OF_DEVICE_MEMORY, "VK_ERROR_OUT_OF_DEVICE_MEMORY"},
      {VK_ERROR_INITIALIZATION_FAILED, "VK_ERROR_INITIALIZATION_FAILED"},
      {VK_ERROR_DEVICE_LOST, "VK_ERROR_DEVICE_LOST"},
      {VK_ERROR_MEMORY_MAP_FAILED, "VK_ERROR_MEMORY_MAP_FAILED"},
      {VK_ERROR_LAYER_NOT_PRESENT, "VK_ERROR_LAYER_NOT_PRESENT"},
      {VK_ERROR_EXTENSION_NOT_PRESENT, "VK_ERROR_EXTENSION_NOT_PRESENT"},
      {VK_ERROR_FEATURE_NOT_PRESENT, "VK_ERROR_FEATURE_NOT_PRESENT"},
      {VK_ERROR_INCOMPATIBLE_DRIVER, "VK_ERROR_INCOMPATIBLE_DRIVER"},
      {VK_ERROR_TOO_MANY_OBJECTS, "VK_ERROR_TOO_MANY_OBJECTS"},
      {VK_ERROR_FORMAT_NOT_SUPPORTED, "VK_ERROR_FORMAT_NOT_SUPPORTED"},
      {VK_ERROR_FRAGMENTED_POOL, "VK_ERROR_FRAGMENTED_POOL"},
      {VK_ERROR_OUT_OF_POOL_MEMORY, "VK_ERROR_OUT_OF_POOL_MEMORY"},
      {VK_ERROR_INVALID_SHADER_NV, "VK_ERROR_INVALID_SHADER_NV"},
      {VK_ERROR_UNKNOWN, "VK_ERROR_UNKNOWN"},
  });
  // Results of other extensions have no name here; the number stands beside it in messages.
  for (const Row& row : kRows) {
    if (row.result == result) {
      return row.name;
    }
  }
  return "VkResult";
}

// Trouble that a program can do something about has a reason of its own: a lost device is made
// anew, memory is given back.
Error VulkanError(VkResult result, std::string_view what) {
  Error error{ErrorCode::kUnavailable,
              fmt::format("cannot {}: {} ({})", what, ResultName(result), static_cast<int>(result)),
              "VULKAN"};
  if (result == VK_ERROR_DEVICE_LOST) {
    error.reason = "DEVICE_LOST";
  } else if (result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY) {
    error.code = ErrorCode::kResourceExhausted;
    error.reason = "OUT_OF_MEMORY";
  }
  return error;
}

}  // namespace kiln::vk
