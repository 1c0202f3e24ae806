// SPDX-License-Identifier: MIT
// What textures and buffers need on a device: asked once per description, then remembered.
// See spec/graph 3.5, 7.4
#pragma once

#include <vector>

#include "runtime/graph/declarations.h"
#include "runtime/graph/memory_model.h"
#include "runtime/vk/device.h"

namespace kiln::graph {

VkImageCreateInfo ImageInfoOf(const ChainRow& chain);
VkImageCreateInfo ImageInfoOf(const TextureDesc& desc);

// Usages of buffers that the graph makes: every one, since one buffer serves a block.
inline constexpr VkBufferUsageFlags kBufferUsages =
    VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
    VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
    VK_BUFFER_USAGE_INDEX_BUFFER_BIT | VK_BUFFER_USAGE_VERTEX_BUFFER_BIT |
    VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;

// The device outlives it. One thread.
class DeviceModel final : public MemoryModel {
 public:
  explicit DeviceModel(const runtime::Device& device);

  bool Texture(const TextureDesc& desc, MemoryNeeds& needs) override;
  MemoryNeeds Buffer(const BufferDesc& desc) override;
  uint64_t identity() const override { return identity_; }

 private:
  struct Row {
    TextureDesc desc;
    bool known = false;
    MemoryNeeds needs;
  };

  const runtime::Device& device_;
  std::vector<Row> rows_;
  uint64_t buffer_alignment_ = 256;
  uint64_t identity_ = 2;
};

}  // namespace kiln::graph
