// SPDX-License-Identifier: MIT
#include "runtime/vk/memory.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace kiln::vk {
namespace {

// Large enough that a device's limit of allocations is far away, and small enough that a tool does
// not take memory it never uses.
constexpr VkDeviceSize kBlockSize = VkDeviceSize{32} << 20;

VkDeviceSize AlignUp(VkDeviceSize value, VkDeviceSize alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

Allocation::Allocation(Allocation&& other) noexcept
    : owner_(std::exchange(other.owner_, nullptr)),
      block_(other.block_),
      memory_(other.memory_),
      offset_(other.offset_),
      size_(other.size_),
      mapped_(other.mapped_) {}

Allocation& Allocation::operator=(Allocation&& other) noexcept {
  std::swap(owner_, other.owner_);
  std::swap(block_, other.block_);
  std::swap(memory_, other.memory_);
  std::swap(offset_, other.offset_);
  std::swap(size_, other.size_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

Allocation::~Allocation() {
  // Only an allocation that holds memory gives any back.
  if (owner_ != nullptr) {
    owner_->Give(block_, {offset_, offset_ + size_});
  }
}

// First with what is liked, then without it; within each, the order of the device counts.
Result<uint32_t> Memory::FindType(uint32_t allowed, MemoryUse use) const {
  constexpr VkMemoryPropertyFlags kHost =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  // What the host reads or writes must be visible to it, and coherent so that nothing has to be
  // flushed.
  const VkMemoryPropertyFlags needed = use == MemoryUse::kDevice ? 0 : kHost;
  // Reading memory that is not cached is slow; for all else the device's own memory is best.
  const VkMemoryPropertyFlags liked = use == MemoryUse::kReadback
                                          ? VK_MEMORY_PROPERTY_HOST_CACHED_BIT
                                          : VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  const VkPhysicalDeviceMemoryProperties& types = device_.memory();
  for (const VkMemoryPropertyFlags wanted : {needed | liked, needed}) {
    for (uint32_t i = 0; i < types.memoryTypeCount; ++i) {
      if ((allowed >> i & 1U) != 0 && (types.memoryTypes[i].propertyFlags & wanted) == wanted) {
        return i;
      }
    }
  }
  return Error{
      ErrorCode::kResourceExhausted,
      fmt::format("no memory type of {:#x} is fit for use {}", allowed, static_cast<int>(use)),
      "OUT_OF_MEMORY"};
}

// Blocks that the host can see stay mapped for their whole life, as mapping is slow and allowed
// once at a time only.
Result<Memory::Block> Memory::NewBlock(uint32_t type, MemoryUse use, MemoryKind kind,
                                       VkDeviceSize size) {
  const Table& table = device_.table();
  VkMemoryAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  info.allocationSize = size;
  info.memoryTypeIndex = type;
  VkDeviceMemory handle = VK_NULL_HANDLE;
  KILN_TRY_VK(table.AllocateMemory(device_.handle(), &info, nullptr, &handle),
              fmt::format("allocate {} bytes of device memory", size));
  Block block{.memory = UniqueMemory(table, device_.handle(), handle),
              .type = type,
              .use = use,
              .kind = kind,
              .size = size,
              .mapped = nullptr,
              .free = {{0, size}}};
  if ((device_.memory().memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) !=
      0) {
    void* mapped = nullptr;
    KILN_TRY_VK(table.MapMemory(device_.handle(), handle, 0, VK_WHOLE_SIZE, 0, &mapped),
                "map device memory");
    block.mapped = static_cast<std::byte*>(mapped);
  }
  return block;
}

// The first free range that fits. What is left in front of it and behind stays free.
bool Memory::TakeFrom(size_t index, const VkMemoryRequirements& needs, Allocation& out) {
  Block& block = blocks_[index];
  // Ranges are sorted by their beginning, so low addresses fill up first.
  for (auto range = block.free.begin(); range != block.free.end(); ++range) {
    const VkDeviceSize begin = AlignUp(range->begin, needs.alignment);
    if (begin + needs.size > range->end) {
      continue;
    }
    const Range before{range->begin, begin};
    const Range after{begin + needs.size, range->end};
    range = block.free.erase(range);
    if (after.begin < after.end) {
      range = block.free.insert(range, after);
    }
    if (before.begin < before.end) {
      block.free.insert(range, before);
    }
    out.owner_ = this;
    out.block_ = index;
    out.memory_ = block.memory.get();
    out.offset_ = begin;
    out.size_ = needs.size;
    if (block.mapped != nullptr) {
      out.mapped_ = {block.mapped + begin, static_cast<size_t>(needs.size)};
    }
    used_ += needs.size;
    return true;
  }
  return false;
}

// Buffers and images never share a block. So nothing has to be said about the granularity that
// Vulkan wants between the two.
Result<Allocation> Memory::Allocate(const VkMemoryRequirements& needs, MemoryUse use,
                                    MemoryKind kind) {
  KILN_TRY(const uint32_t type, FindType(needs.memoryTypeBits, use));
  Allocation out;
  // A block serves one type, use and kind, so what shares it never needs a gap.
  for (size_t i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i].type == type && blocks_[i].use == use && blocks_[i].kind == kind &&
        TakeFrom(i, needs, out)) {
      return out;
    }
  }
  // What is larger than a block gets one of its own size.
  KILN_TRY(Block block, NewBlock(type, use, kind, std::max(kBlockSize, needs.size)));
  blocks_.push_back(std::move(block));
  KILN_CHECK(TakeFrom(blocks_.size() - 1, needs, out), "size {} alignment {}", needs.size,
             needs.alignment);
  return out;
}

// Neighbouring free ranges are joined, or a block would break into pieces that nothing fits into.
void Memory::Give(size_t index, Range range) {
  std::vector<Range>& free = blocks_[index].free;
  used_ -= range.end - range.begin;
  auto next = std::ranges::lower_bound(free, range.begin, {}, &Range::begin);
  if (next != free.end() && next->begin == range.end) {
    range.end = next->end;
    next = free.erase(next);
  }
  if (next != free.begin() && std::prev(next)->end == range.begin) {
    std::prev(next)->end = range.end;
    return;
  }
  free.insert(next, range);
}

}  // namespace kiln::vk
