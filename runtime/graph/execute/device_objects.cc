// SPDX-License-Identifier: MIT
// The objects of the device that a plan needs: blocks of memory, images, views. They are kept from
// frame to frame, since a steady engine asks for the same ones each time. One frame at a time
// prepares; its recording threads only ask for views, under a lock of their own.
#include "runtime/graph/execute/device_objects.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/graph/device_model.h"

namespace kiln::graph {
namespace {

// An object that eight frames did not use is given back. Until then a pass that is off for a frame
// finds it again.
constexpr uint64_t kUnusedFrames = 8;

// All that an image is created from; names and states do not matter.
bool SameImage(const ChainRow& a, const ChainRow& b) {
  return a.kind == b.kind && a.size == b.size && a.type == b.type && a.format == b.format &&
         a.extent.width == b.extent.width && a.extent.height == b.extent.height &&
         a.extent.depth == b.extent.depth && a.mips == b.mips && a.layers == b.layers &&
         a.samples == b.samples && a.flags == b.flags && a.usage == b.usage;
}

}  // namespace

// The first that fits, since Vulkan orders memory types so that better ones come first.
Result<uint32_t> DeviceObjects::FindType(uint32_t types) const {
  const VkPhysicalDeviceMemoryProperties& memory = device_.memory();
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    if ((types >> i & 1) != 0 &&
        (memory.memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0) {
      return i;
    }
  }
  return Error{ErrorCode::kResourceExhausted,
               fmt::format("no memory type of {:#x} is the device's own", types), "OUT_OF_MEMORY"};
}

// A block of buffers is one large buffer, and all buffers of the class are ranges of it. Images
// have no such thing; each is bound to its own place in the memory.
Result<GraphBlock> DeviceObjects::NewBlock(const MemoryClass& memory_class, uint64_t size) {
  const vk::Table& table = device_.table();
  GraphBlock block;
  block.size = size;
  // Images of a class share types of memory; a block of buffers asks what its one buffer needs.
  uint32_t types = memory_class.types;
  VkMemoryRequirements needs{.size = size, .alignment = 1, .memoryTypeBits = types};
  if (memory_class.kind == ResourceKind::kBuffer) {
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = size;
    info.usage = kBufferUsages;
    VkBuffer buffer = VK_NULL_HANDLE;
    KILN_TRY_VK(table.CreateBuffer(device_.handle(), &info, nullptr, &buffer),
                "create the buffer of a block");
    block.buffer = vk::UniqueBuffer(table, device_.handle(), buffer);
    table.GetBufferMemoryRequirements(device_.handle(), buffer, &needs);
  }
  // One allocation for each block, because devices allow only some thousand of them.
  VkMemoryAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  info.allocationSize = needs.size;
  KILN_TRY(info.memoryTypeIndex, FindType(needs.memoryTypeBits));
  VkDeviceMemory memory = VK_NULL_HANDLE;
  KILN_TRY_VK(table.AllocateMemory(device_.handle(), &info, nullptr, &memory),
              fmt::format("allocate a block of {} bytes", needs.size));
  block.memory = vk::UniqueMemory(table, device_.handle(), memory);
  // Counted with what the driver adds, as it is what really is taken.
  committed += needs.size;
  if (block.buffer) {
    KILN_TRY_VK(table.BindBufferMemory(device_.handle(), block.buffer.get(), memory, 0),
                "bind the buffer of a block");
  }
  return block;
}

// Blocks that are there never change: lists of a class only grow.
Result<void> DeviceObjects::GrowBlocks(const Plan& plan) {
  const std::vector<MemoryClass>& classes = plan.next.classes;
  blocks_.resize(std::max(blocks_.size(), classes.size()));
  for (size_t i = 0; i < classes.size(); ++i) {
    for (size_t block = blocks_[i].size(); block < classes[i].blocks.size(); ++block) {
      KILN_TRY(GraphBlock made, NewBlock(classes[i], classes[i].blocks[block]));
      blocks_[i].push_back(std::move(made));
    }
  }
  return {};
}

Result<vk::UniqueImage> DeviceObjects::NewImage(const ChainRow& chain) {
  const VkImageCreateInfo info = ImageInfoOf(chain);
  VkImage image = VK_NULL_HANDLE;
  KILN_TRY_VK(device_.table().CreateImage(device_.handle(), &info, nullptr, &image),
              "create an image");
  ++created;
  return vk::UniqueImage(device_.table(), device_.handle(), image);
}

// Buffers of a block are ranges of one VkBuffer and need no object of their own. Images do, and
// they are what this cache is for.
Result<void> DeviceObjects::BindPacked(const Plan& plan, const Declarations& rows, uint32_t chain,
                                       uint64_t frame) {
  const PlanChain& place = plan.chains[chain];
  const ChainRow& row = rows.chains[chain];
  const GraphBlock& block = blocks_[place.memory_class][place.block];
  if (!row.texture()) {
    bound_[chain].buffer = block.buffer.get();
    bound_[chain].offset = place.offset;
    return {};
  }
  // An image is known by its place and description. A frame like the one before finds all of its
  // images here and creates none.
  // Linear: a frame has some dozens of images.
  for (uint32_t i = 0; i < images_.size(); ++i) {
    const GraphImage& image = images_[i];
    if (image.memory_class == place.memory_class && image.block == place.block &&
        image.offset == place.offset && SameImage(image.desc, row)) {
      images_[i].used = frame;
      bound_[chain].image = i;
      return {};
    }
  }
  GraphImage image;
  image.desc = row;
  image.memory_class = place.memory_class;
  image.block = place.block;
  image.offset = place.offset;
  image.used = frame;
  KILN_TRY(image.image, NewImage(row));
  KILN_TRY_VK(device_.table().BindImageMemory(device_.handle(), image.image.get(),
                                              block.memory.get(), place.offset),
              "bind an image");
  bound_[chain].image = static_cast<uint32_t>(images_.size());
  images_.push_back(std::move(image));
  return {};
}

// Objects that live over frames have memory of their own and never share it.
Result<KeptObject> DeviceObjects::NewKept(const ChainRow& row) {
  KeptObject kept;
  kept.image.desc = row;
  if (!row.texture()) {
    KILN_TRY(kept.buffer,
             vk::CreateBuffer(device_, memory_, row.size, kBufferUsages, vk::MemoryUse::kDevice));
    return kept;
  }
  KILN_TRY(kept.image.image, NewImage(row));
  VkMemoryRequirements needs{};
  device_.table().GetImageMemoryRequirements(device_.handle(), kept.image.image.get(), &needs);
  KILN_TRY(kept.image.allocation,
           memory_.Allocate(needs, vk::MemoryUse::kDevice, vk::MemoryKind::kImage));
  KILN_TRY_VK(device_.table().BindImageMemory(device_.handle(), kept.image.image.get(),
                                              kept.image.allocation.memory(),
                                              kept.image.allocation.offset()),
              "bind a kept image");
  return kept;
}

Result<void> DeviceObjects::BindKept(const ChainRow& row, uint32_t chain, uint32_t object,
                                     uint64_t frame) {
  // Numbers of objects grow with each new history or temporal texture; places of old ones stay
  // empty.
  if (object >= kept_.size()) {
    kept_.resize(object + 1);
  }
  KeptObject& kept = kept_[object];
  // A frame that failed may have left another object under this number.
  if ((kept.image.image || kept.buffer.handle) && !SameImage(kept.image.desc, row)) {
    retired_.Add(frame, std::move(kept));
    kept = {};
  }
  if (!kept.image.image && !kept.buffer.handle) {
    KILN_TRY(kept, NewKept(row));
  }
  kept.used = frame;
  bound_[chain].kept = object;
  bound_[chain].buffer = kept.buffer.handle.get();
  return {};
}

// After success every chain of the plan is bound, except those that lie in the ring of the frame's
// slot.
Result<void> DeviceObjects::Prepare(const Plan& plan, const Declarations& rows,
                                    const std::vector<uint32_t>& objects, uint64_t frame) {
  created = 0;
  KILN_TRY_VOID(GrowBlocks(plan));
  // Bindings are made anew for each frame, objects are not.
  bound_.assign(plan.chains.size(), {});
  for (uint32_t chain = 0; chain < plan.chains.size(); ++chain) {
    switch (plan.chains[chain].place) {
      case Place::kNowhere:
      case Place::kRing:
        break;
      case Place::kPacked:
        KILN_TRY_VOID(BindPacked(plan, rows, chain, frame));
        break;
      case Place::kDedicated:
      case Place::kTemporal:
      case Place::kHistory:
        KILN_TRY_VOID(BindKept(plan.next.slots[plan.chains[chain].slot].desc, chain,
                               objects[plan.chains[chain].slot], frame));
        break;
      case Place::kImported:
        bound_[chain].imported = rows.bindings[chain].image;
        bound_[chain].imported_view = rows.bindings[chain].view;
        bound_[chain].buffer = rows.bindings[chain].buffer;
        bound_[chain].offset = rows.bindings[chain].offset;
        break;
    }
  }
  return {};
}

// Called once per frame, on the thread that submits. `completed` is what the device has finished;
// older objects are destroyed only behind it.
void DeviceObjects::Collect(uint64_t frame, uint64_t completed) {
  destroyed = 0;
  const auto old = [&](uint64_t used) { return used + kUnusedFrames < frame; };
  // From the end, so that an erased row does not move those that are still to be looked at.
  for (size_t i = images_.size(); i-- > 0;) {
    // The object is destroyed once the last frame that used it is done on the device.
    if (old(images_[i].used)) {
      const uint64_t used = images_[i].used;
      retired_.Add(used, std::move(images_[i]));
      images_.erase(images_.begin() + static_cast<ptrdiff_t>(i));
      ++destroyed;
    }
  }
  for (KeptObject& kept : kept_) {
    if (old(kept.used) && (kept.image.image || kept.buffer.handle)) {
      const uint64_t used = kept.used;
      retired_.Add(used, std::move(kept));
      kept = {};
    }
  }
  retired_.Collect(completed);
}

GraphImage* DeviceObjects::ImageOf(uint32_t chain) {
  const Bound& bound = bound_[chain];
  return bound.image != kNone  ? &images_[bound.image]
         : bound.kept != kNone ? &kept_[bound.kept].image
                               : nullptr;
}

VkImage DeviceObjects::Image(uint32_t chain) const {
  const Bound& bound = bound_[chain];
  return bound.image != kNone  ? images_[bound.image].image.get()
         : bound.kept != kNone ? kept_[bound.kept].image.image.get()
                               : bound.imported;
}

// Called by several recording threads at once. An image has a few views, so they are searched under
// one lock.
Result<VkImageView> DeviceObjects::View(uint32_t chain, const ViewKey& key, VkFormat format) {
  GraphImage* image = ImageOf(chain);
  if (image == nullptr) {
    // The view of an import is the caller's, whatever range the access names.
    return bound_[chain].imported_view;
  }
  const MutexLock lock(views_);
  for (const auto& [known, view] : image->views) {
    if (known == key) {
      return view.get();
    }
  }
  VkImageViewCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO;
  info.image = image->image.get();
  info.viewType = key.type;
  info.format = format;
  info.subresourceRange = {key.range.aspects, key.range.mip, key.range.mips, key.range.layer,
                           key.range.layers};
  VkImageView view = VK_NULL_HANDLE;
  KILN_TRY_VK(device_.table().CreateImageView(device_.handle(), &info, nullptr, &view),
              "create an image view");
  image->views.emplace_back(key, vk::UniqueImageView(device_.table(), device_.handle(), view));
  return view;
}

VkBuffer DeviceObjects::Buffer(uint32_t chain, VkDeviceSize& offset) const {
  offset = bound_[chain].offset;
  return bound_[chain].buffer;
}

}  // namespace kiln::graph
