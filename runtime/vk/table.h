// SPDX-License-Identifier: MIT
// The Vulkan functions that kiln calls, as a struct of pointers. Nothing calls a global vk* symbol:
// real tables are filled from the loader here, a table of fakes is the driver of unit tests.
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <string_view>

#include <vulkan/vulkan_core.h>

#include "compiler/base/result.h"

namespace kiln::vk {

#define KILN_VK_GLOBAL_FUNCTIONS(X)       \
  X(CreateInstance)                       \
  X(EnumerateInstanceExtensionProperties) \
  X(EnumerateInstanceLayerProperties)     \
  X(EnumerateInstanceVersion)

#define KILN_VK_INSTANCE_FUNCTIONS(X)       \
  X(CmdBeginDebugUtilsLabelEXT)             \
  X(CmdEndDebugUtilsLabelEXT)               \
  X(CreateDebugUtilsMessengerEXT)           \
  X(CreateDevice)                           \
  X(DestroyDebugUtilsMessengerEXT)          \
  X(DestroyInstance)                        \
  X(EnumerateDeviceExtensionProperties)     \
  X(EnumeratePhysicalDevices)               \
  X(GetPhysicalDeviceFeatures2)             \
  X(GetPhysicalDeviceFormatProperties)      \
  X(GetPhysicalDeviceMemoryProperties)      \
  X(GetPhysicalDeviceProperties2)           \
  X(GetPhysicalDeviceQueueFamilyProperties) \
  X(QueuePresentKHR)

#define KILN_VK_DEVICE_FUNCTIONS(X)   \
  X(AllocateCommandBuffers)           \
  X(AllocateDescriptorSets)           \
  X(AllocateMemory)                   \
  X(BeginCommandBuffer)               \
  X(BindBufferMemory)                 \
  X(BindImageMemory)                  \
  X(CmdBeginRendering)                \
  X(CmdBindDescriptorSets)            \
  X(CmdBindIndexBuffer)               \
  X(CmdBindPipeline)                  \
  X(CmdBindVertexBuffers)             \
  X(CmdBlitImage)                     \
  X(CmdClearColorImage)               \
  X(CmdClearDepthStencilImage)        \
  X(CmdCopyBuffer)                    \
  X(CmdCopyBufferToImage)             \
  X(CmdCopyImage)                     \
  X(CmdCopyImageToBuffer)             \
  X(CmdDispatch)                      \
  X(CmdDraw)                          \
  X(CmdDrawIndexed)                   \
  X(CmdEndRendering)                  \
  X(CmdFillBuffer)                    \
  X(CmdPipelineBarrier2)              \
  X(CmdPushConstants)                 \
  X(CmdResetQueryPool)                \
  X(CmdSetDepthBounds)                \
  X(CmdSetScissor)                    \
  X(CmdSetViewport)                   \
  X(CmdWriteTimestamp2)               \
  X(CreateBuffer)                     \
  X(CreateBufferView)                 \
  X(CreateCommandPool)                \
  X(CreateComputePipelines)           \
  X(CreateDescriptorPool)             \
  X(CreateDescriptorSetLayout)        \
  X(CreateFence)                      \
  X(CreateGraphicsPipelines)          \
  X(CreateImage)                      \
  X(CreateImageView)                  \
  X(CreatePipelineCache)              \
  X(CreatePipelineLayout)             \
  X(CreateQueryPool)                  \
  X(CreateSampler)                    \
  X(CreateSemaphore)                  \
  X(CreateShaderModule)               \
  X(DestroyBuffer)                    \
  X(DestroyBufferView)                \
  X(DestroyCommandPool)               \
  X(DestroyDescriptorPool)            \
  X(DestroyDescriptorSetLayout)       \
  X(DestroyDevice)                    \
  X(DestroyFence)                     \
  X(DestroyImage)                     \
  X(DestroyImageView)                 \
  X(DestroyPipeline)                  \
  X(DestroyPipelineCache)             \
  X(DestroyPipelineLayout)            \
  X(DestroyQueryPool)                 \
  X(DestroySampler)                   \
  X(DestroySemaphore)                 \
  X(DestroyShaderModule)              \
  X(DeviceWaitIdle)                   \
  X(EndCommandBuffer)                 \
  X(FreeMemory)                       \
  X(GetBufferMemoryRequirements)      \
  X(GetDeviceImageMemoryRequirements) \
  X(GetDeviceQueue)                   \
  X(GetImageMemoryRequirements)       \
  X(GetPipelineCacheData)             \
  X(GetQueryPoolResults)              \
  X(GetSemaphoreCounterValue)         \
  X(MapMemory)                        \
  X(MergePipelineCaches)              \
  X(QueueSubmit2)                     \
  X(ResetCommandBuffer)               \
  X(ResetCommandPool)                 \
  X(ResetFences)                      \
  X(UpdateDescriptorSets)             \
  X(WaitForFences)                    \
  X(WaitSemaphores)

// NOLINTBEGIN(readability-identifier-naming): members have the names of the functions.
struct Table {
#define KILN_VK_MEMBER(name) PFN_vk##name name = nullptr;
  KILN_VK_GLOBAL_FUNCTIONS(KILN_VK_MEMBER)
  KILN_VK_INSTANCE_FUNCTIONS(KILN_VK_MEMBER)
  KILN_VK_DEVICE_FUNCTIONS(KILN_VK_MEMBER)
#undef KILN_VK_MEMBER
};
// NOLINTEND(readability-identifier-naming)

// Opens the Vulkan loader and fills the global functions.
// Errors: kUnavailable, NO_DEVICE if there is no loader, with the package to install.
Result<void> LoadGlobal(Table& table);

// Requires: LoadGlobal, or an engine's vkGetInstanceProcAddr given to AdoptLoader.
// Errors: kUnavailable if a function is missing; those of extensions may be.
Result<void> LoadInstance(Table& table, VkInstance instance);
Result<void> LoadDevice(Table& table, VkDevice device);

// Uses an engine's loader instead of opening one.
void AdoptLoader(PFN_vkGetInstanceProcAddr get_instance_proc_addr);

// "VK_ERROR_DEVICE_LOST"
std::string_view ResultName(VkResult result);

// An error whose reason is DEVICE_LOST, OUT_OF_MEMORY or VULKAN; `what` failed.
Error VulkanError(VkResult result, std::string_view what);

// KILN_TRY_VK(table.F(…), "create the buffer"): returns the error to the caller unless it
// succeeded.
#define KILN_TRY_VK(call, what)                                                 \
  do {                                                                          \
    if (const VkResult kiln_vk_result = (call); kiln_vk_result != VK_SUCCESS) { \
      return ::kiln::vk::VulkanError(kiln_vk_result, what);                     \
    }                                                                           \
  } while (false)

}  // namespace kiln::vk
