// SPDX-License-Identifier: MIT
// Device memory in blocks: few large allocations, handed out in ranges by first fit. Buffers and
// images live in blocks of their own, so that bufferImageGranularity never matters; so do uses,
// since the validation layer overestimates what a draw reads of an instance buffer (stride ×
// vertices) and would report the neighbour.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/vk/device.h"
#include "runtime/vk/unique.h"

namespace kiln::vk {

enum class MemoryUse : uint8_t {
  kDevice,    // read and written by the device
  kUpload,    // written by the host, mapped
  kReadback,  // read by the host, mapped
};

enum class MemoryKind : uint8_t { kBuffer, kImage };

class Memory;

// A range of device memory, given back with its owner.
class Allocation {
 public:
  Allocation() = default;
  Allocation(Allocation&& other) noexcept;
  Allocation& operator=(Allocation&& other) noexcept;
  ~Allocation();

  VkDeviceMemory memory() const { return memory_; }
  VkDeviceSize offset() const { return offset_; }
  // The whole range; empty unless the memory is mapped (kUpload, kReadback).
  std::span<std::byte> mapped() const { return mapped_; }

 private:
  friend class Memory;

  Memory* owner_ = nullptr;
  size_t block_ = 0;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  VkDeviceSize offset_ = 0;
  VkDeviceSize size_ = 0;
  std::span<std::byte> mapped_;
};

// Outlives its allocations; the device outlives it. One thread at a time.
class Memory {
 public:
  explicit Memory(const runtime::Device& device) : device_(device) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Mapped memory is coherent. Errors: kResourceExhausted, OUT_OF_MEMORY.
  Result<Allocation> Allocate(const VkMemoryRequirements& needs, MemoryUse use, MemoryKind kind);

  // Blocks that are allocated from the driver.
  size_t block_count() const { return blocks_.size(); }
  // Bytes that are handed out.
  VkDeviceSize used() const { return used_; }

 private:
  friend class Allocation;

  struct Range {
    VkDeviceSize begin;
    VkDeviceSize end;
  };
  struct Block {
    UniqueMemory memory;
    uint32_t type = 0;
    MemoryUse use = MemoryUse::kDevice;
    MemoryKind kind = MemoryKind::kBuffer;
    VkDeviceSize size = 0;
    std::byte* mapped = nullptr;
    std::vector<Range> free;  // ascending, never adjacent
  };

  Result<uint32_t> FindType(uint32_t allowed, MemoryUse use) const;
  Result<Block> NewBlock(uint32_t type, MemoryUse use, MemoryKind kind, VkDeviceSize size);
  bool TakeFrom(size_t index, const VkMemoryRequirements& needs, Allocation& out);
  void Give(size_t index, Range range);

  const runtime::Device& device_;
  std::vector<Block> blocks_;
  VkDeviceSize used_ = 0;
};

}  // namespace kiln::vk
