// SPDX-License-Identifier: MIT
// The Vulkan objects behind plans, kept from frame to frame: blocks of memory with the images and
// buffers in them, objects of temporals, rings of host memory. See spec/graph 7
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/base/mutex.h"
#include "runtime/graph/plan.h"
#include "runtime/vk/buffer.h"
#include "runtime/vk/memory.h"
#include "runtime/vk/retire.h"
#include "runtime/vk/unique.h"

namespace kiln::graph {

struct ViewKey {
  Range range;
  VkImageViewType type = VK_IMAGE_VIEW_TYPE_2D;

  friend bool operator==(const ViewKey&, const ViewKey&) = default;
};

struct GraphImage {
  ChainRow desc = {};
  uint32_t memory_class = kNone;
  uint32_t block = 0;
  uint64_t offset = 0;
  uint64_t used = 0;          // frame
  vk::Allocation allocation;  // of temporals
  vk::UniqueImage image;
  std::vector<std::pair<ViewKey, vk::UniqueImageView>> views;
};

struct GraphBlock {
  vk::UniqueMemory memory;
  vk::UniqueBuffer buffer;  // of buffer classes: over the whole block
  uint64_t size = 0;
};

// An image or buffer that is kept, by the object number of Carried.
struct KeptObject {
  GraphImage image;
  vk::Buffer buffer;
  uint64_t used = 0;
};

// One thread, but Image, View and Buffer may be asked by several. The device outlives it.
class DeviceObjects {
 public:
  explicit DeviceObjects(const runtime::Device& device) : device_(device), memory_(device) {}

  // Makes what the plan needs and is not there yet. `objects` are those of BindObjects.
  // Errors: OUT_OF_MEMORY.
  Result<void> Prepare(const Plan& plan, const Declarations& rows,
                       const std::vector<uint32_t>& objects, uint64_t frame);
  // Destroys what no frame has used for a while. Requires: `completed` frames are done.
  void Collect(uint64_t frame, uint64_t completed);

  VkImage Image(uint32_t chain) const;
  Result<VkImageView> View(uint32_t chain, const ViewKey& key, VkFormat format);
  // Device buffers; the offset is in bytes.
  VkBuffer Buffer(uint32_t chain, VkDeviceSize& offset) const;

  vk::Memory& memory() { return memory_; }
  vk::Retire& retired() { return retired_; }
  uint32_t created = 0;  // images, since it was reset
  uint32_t destroyed = 0;
  uint64_t committed = 0;

 private:
  Result<void> GrowBlocks(const Plan& plan);
  Result<GraphBlock> NewBlock(const MemoryClass& memory_class, uint64_t size);
  Result<uint32_t> FindType(uint32_t types) const;
  Result<vk::UniqueImage> NewImage(const ChainRow& chain);
  Result<void> BindPacked(const Plan& plan, const Declarations& rows, uint32_t chain,
                          uint64_t frame);
  Result<KeptObject> NewKept(const ChainRow& row);
  Result<void> BindKept(const ChainRow& row, uint32_t chain, uint32_t object, uint64_t frame);
  GraphImage* ImageOf(uint32_t chain);

  // Where a chain of the current plan lies.
  struct Bound {
    uint32_t image = kNone;
    uint32_t kept = kNone;
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceSize offset = 0;
    VkImage imported = VK_NULL_HANDLE;
    VkImageView imported_view = VK_NULL_HANDLE;
  };

  const runtime::Device& device_;
  vk::Memory memory_;
  vk::Retire retired_;
  std::vector<std::vector<GraphBlock>> blocks_;  // by class
  std::vector<GraphImage> images_;
  std::vector<KeptObject> kept_;
  std::vector<Bound> bound_;  // by chain
  Mutex views_;               // guards the views of all images
};

}  // namespace kiln::graph
