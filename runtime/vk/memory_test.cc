// SPDX-License-Identifier: MIT
// The suballocator over a driver of fakes that counts allocations.
#include "runtime/vk/memory.h"

#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace kiln::vk {
namespace {

using runtime::Device;
using runtime::DeviceCaps;

struct Counts {
  int allocated = 0;
  int freed = 0;
  bool out_of_memory = false;
};
Counts counts;

VKAPI_ATTR VkResult VKAPI_CALL FakeAllocate(VkDevice /*device*/, const VkMemoryAllocateInfo* info,
                                            const VkAllocationCallbacks* /*callbacks*/,
                                            VkDeviceMemory* memory) {
  if (counts.out_of_memory) {
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  }
  ++counts.allocated;
  *memory = reinterpret_cast<VkDeviceMemory>(std::malloc(info->allocationSize));
  return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL FakeFree(VkDevice /*device*/, VkDeviceMemory memory,
                                    const VkAllocationCallbacks* /*callbacks*/) {
  ++counts.freed;
  std::free(reinterpret_cast<void*>(memory));
}

VKAPI_ATTR VkResult VKAPI_CALL FakeMap(VkDevice /*device*/, VkDeviceMemory memory,
                                       VkDeviceSize /*offset*/, VkDeviceSize /*size*/,
                                       VkMemoryMapFlags /*flags*/, void** data) {
  *data = reinterpret_cast<void*>(memory);
  return VK_SUCCESS;
}

// Type 0 is device local, type 1 is for the host.
Device FakeDevice() {
  counts = {};
  Table table;
  table.AllocateMemory = FakeAllocate;
  table.FreeMemory = FakeFree;
  table.MapMemory = FakeMap;
  VkPhysicalDeviceMemoryProperties memory{};
  memory.memoryTypeCount = 2;
  memory.memoryTypes[0].propertyFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  memory.memoryTypes[1].propertyFlags =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  return Device::OverTable(table, DeviceCaps{}, memory);
}

VkMemoryRequirements Needs(VkDeviceSize size, VkDeviceSize alignment = 16, uint32_t types = 3) {
  return {.size = size, .alignment = alignment, .memoryTypeBits = types};
}

Allocation Take(Memory& memory, const VkMemoryRequirements& needs,
                MemoryUse use = MemoryUse::kDevice, MemoryKind kind = MemoryKind::kBuffer) {
  auto result = memory.Allocate(needs, use, kind);
  EXPECT_TRUE(result.ok());
  return std::move(result).value();
}

TEST(Memory, SmallRequests_ShareOneBlockWithoutOverlap) {
  const Device device = FakeDevice();
  Memory memory(device);
  const Allocation a = Take(memory, Needs(100));
  const Allocation b = Take(memory, Needs(100, 256));
  const Allocation c = Take(memory, Needs(100));
  EXPECT_EQ(memory.block_count(), 1U);
  EXPECT_EQ(a.offset(), 0U);
  EXPECT_EQ(b.offset(), 256U);
  EXPECT_EQ(c.offset(), 112U);  // first fit: the gap before b
  EXPECT_EQ(memory.used(), 300U);
}

TEST(Memory, BuffersAndImagesAndUses_LiveInDifferentBlocks) {
  const Device device = FakeDevice();
  Memory memory(device);
  const Allocation buffer = Take(memory, Needs(100));
  const Allocation image = Take(memory, Needs(100), MemoryUse::kDevice, MemoryKind::kImage);
  EXPECT_EQ(memory.block_count(), 2U);
  EXPECT_NE(buffer.memory(), image.memory());
  const Allocation upload = Take(memory, Needs(100), MemoryUse::kUpload);
  const Allocation readback = Take(memory, Needs(100), MemoryUse::kReadback);
  EXPECT_NE(upload.memory(), readback.memory());
}

TEST(Memory, HostUses_AreMapped) {
  const Device device = FakeDevice();
  Memory memory(device);
  const Allocation upload = Take(memory, Needs(64), MemoryUse::kUpload);
  EXPECT_EQ(upload.mapped().size(), 64U);
  const Allocation local = Take(memory, Needs(64, 16, 1));
  EXPECT_TRUE(local.mapped().empty());
}

TEST(Memory, LargeRequest_GetsABlockOfItsOwn) {
  const Device device = FakeDevice();
  Memory memory(device);
  const Allocation large = Take(memory, Needs(VkDeviceSize{100} << 20));
  EXPECT_EQ(memory.block_count(), 1U);
  const Allocation small = Take(memory, Needs(1));
  EXPECT_EQ(memory.block_count(), 2U);
}

TEST(Memory, Freed_IsMergedAndUsedAgain) {
  const Device device = FakeDevice();
  Memory memory(device);
  Allocation a = Take(memory, Needs(VkDeviceSize{16} << 20));
  Allocation b = Take(memory, Needs(VkDeviceSize{16} << 20));
  a = Allocation();
  b = Allocation();
  EXPECT_EQ(memory.used(), 0U);
  const Allocation whole = Take(memory, Needs(VkDeviceSize{32} << 20));
  EXPECT_EQ(memory.block_count(), 1U);
  EXPECT_EQ(whole.offset(), 0U);
}

TEST(Memory, RandomUse_NeverOverlapsAndEndsEmpty) {
  const Device device = FakeDevice();
  {
    Memory memory(device);
    std::mt19937 random(7);
    std::vector<Allocation> live;
    for (int step = 0; step < 4000; ++step) {
      if (live.size() < 200 && random() % 3 != 0) {
        const VkDeviceSize size = 1 + random() % 100'000;
        live.push_back(
            Take(memory, Needs(size, VkDeviceSize{1} << random() % 9), MemoryUse::kUpload));
        // Every byte of a live range holds its own mark.
        std::memset(live.back().mapped().data(), static_cast<int>(live.size()), size);
        live.back().mapped()[0] = std::byte(step & 0xff);
      } else if (!live.empty()) {
        std::swap(live[random() % live.size()], live.back());
        live.pop_back();
      }
      for (size_t i = 0; i < live.size(); ++i) {
        for (size_t j = i + 1; step % 500 == 0 && j < live.size(); ++j) {
          const auto a = live[i].mapped();
          const auto b = live[j].mapped();
          EXPECT_TRUE(a.data() + a.size() <= b.data() || b.data() + b.size() <= a.data());
        }
      }
    }
    live.clear();
    EXPECT_EQ(memory.used(), 0U);
  }
  EXPECT_EQ(counts.allocated, counts.freed);
}

TEST(Memory, DriverIsOutOfMemory_IsAnError) {
  const Device device = FakeDevice();
  counts.out_of_memory = true;
  Memory memory(device);
  const auto result = memory.Allocate(Needs(1), MemoryUse::kDevice, MemoryKind::kBuffer);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().reason, "OUT_OF_MEMORY");
}

TEST(Memory, NoTypeFits_IsAnError) {
  const Device device = FakeDevice();
  Memory memory(device);
  const auto result = memory.Allocate(Needs(1, 1, 1), MemoryUse::kUpload, MemoryKind::kBuffer);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().reason, "OUT_OF_MEMORY");
}

}  // namespace
}  // namespace kiln::vk
