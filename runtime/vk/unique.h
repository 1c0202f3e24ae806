// SPDX-License-Identifier: MIT
// Sole owner of one Vulkan object of a device: destroyed with its owner, moved, never copied.
//   UniqueBuffer buffer(table, device, handle);
#pragma once

#include <utility>

#include "runtime/vk/table.h"

namespace kiln::vk {

// Destroy is the member of Table that destroys a Handle. The table and the device outlive the
// object.
template <class Handle, auto Destroy>
class Unique {
 public:
  Unique() = default;
  Unique(const Table& table, VkDevice device, Handle handle)
      : table_(&table), device_(device), handle_(handle) {}
  ~Unique() { Reset(); }
  Unique(Unique&& other) noexcept
      : table_(other.table_),
        device_(other.device_),
        handle_(std::exchange(other.handle_, Handle{})) {}
  Unique& operator=(Unique&& other) noexcept {
    if (this != &other) {
      Reset();
      table_ = other.table_;
      device_ = other.device_;
      handle_ = std::exchange(other.handle_, Handle{});
    }
    return *this;
  }

  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != Handle{}; }

  void Reset() {
    if (handle_ != Handle{}) {
      (table_->*Destroy)(device_, std::exchange(handle_, Handle{}), nullptr);
    }
  }

 private:
  const Table* table_ = nullptr;
  VkDevice device_ = VK_NULL_HANDLE;
  Handle handle_ = {};
};

using UniqueBuffer = Unique<VkBuffer, &Table::DestroyBuffer>;
using UniqueBufferView = Unique<VkBufferView, &Table::DestroyBufferView>;
using UniqueCommandPool = Unique<VkCommandPool, &Table::DestroyCommandPool>;
using UniqueDescriptorPool = Unique<VkDescriptorPool, &Table::DestroyDescriptorPool>;
using UniqueFence = Unique<VkFence, &Table::DestroyFence>;
using UniqueImage = Unique<VkImage, &Table::DestroyImage>;
using UniqueImageView = Unique<VkImageView, &Table::DestroyImageView>;
using UniqueMemory = Unique<VkDeviceMemory, &Table::FreeMemory>;
using UniquePipeline = Unique<VkPipeline, &Table::DestroyPipeline>;
using UniquePipelineCache = Unique<VkPipelineCache, &Table::DestroyPipelineCache>;
using UniquePipelineLayout = Unique<VkPipelineLayout, &Table::DestroyPipelineLayout>;
using UniqueQueryPool = Unique<VkQueryPool, &Table::DestroyQueryPool>;
using UniqueSampler = Unique<VkSampler, &Table::DestroySampler>;
using UniqueSemaphore = Unique<VkSemaphore, &Table::DestroySemaphore>;
using UniqueSetLayout = Unique<VkDescriptorSetLayout, &Table::DestroyDescriptorSetLayout>;
using UniqueShaderModule = Unique<VkShaderModule, &Table::DestroyShaderModule>;

}  // namespace kiln::vk
