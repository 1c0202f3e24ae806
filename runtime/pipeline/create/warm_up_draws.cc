// SPDX-License-Identifier: MIT
#include "runtime/pipeline/create/warm_up_draws.h"

#include <algorithm>
#include <bit>

#include "runtime/pipeline/create/sampling.h"
#include "runtime/pipeline/create/stand_in.h"

namespace kiln::runtime {
namespace {

// 64 KiB hold the vertices and uniform blocks of common programs, so one buffer is mostly enough.
constexpr VkDeviceSize kLeastZeros = 65'536;
constexpr uint32_t kVertices = 3;
constexpr VkDeviceSize kTexelBytes = 256;  // texels of any format, few of which a device limits
// Bits of ImageHint::sampler_class, as packs have them.
constexpr uint32_t kNearest = 1;
constexpr uint32_t kClamp = 2;
constexpr uint32_t kComparison = 4;

// Hints are few for each pipeline, so they are searched from the front.
const ImageHint* HintFor(const Build& build, uint32_t set, uint32_t binding) {
  const auto found = std::ranges::find_if(build.hints, [&](const ImageHint& hint) {
    return hint.set == set && hint.binding == binding;
  });
  return found == build.hints.end() ? nullptr : &*found;
}

}  // namespace

Result<std::unique_ptr<WarmUpDraws>> WarmUpDraws::Create(const Device& device) {
  KILN_TRY(vk::Queue queue, vk::Queue::Create(device));
  return std::unique_ptr<WarmUpDraws>(new WarmUpDraws(device, std::move(queue)));
}

// Everything before is done and seen: the draws share what they write.
// The widest barrier there is. Draws are tiny and follow one another, so precision would gain
// nothing here.
void WarmUpDraws::Barrier(VkCommandBuffer commands) const {
  VkMemoryBarrier2 barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
  barrier.srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  barrier.srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT;
  barrier.dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  barrier.dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
  VkDependencyInfo dependency{};
  dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  dependency.memoryBarrierCount = 1;
  dependency.pMemoryBarriers = &barrier;
  device_->table().CmdPipelineBarrier2(commands, &dependency);
}

// One buffer is shared by all bindings, grows by powers of two and is never freed before the end:
// an older one may still be read by the device.
Result<VkBuffer> WarmUpDraws::Zeros(VkDeviceSize bytes) {
  if (zeros_.empty() || zeros_.back().size < bytes) {
    KILN_TRY(vk::Buffer buffer,
             vk::CreateBuffer(
                 *device_, memory_, std::max(std::bit_ceil(bytes), kLeastZeros),
                 VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                     VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT |
                     VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT,
                 vk::MemoryUse::kUpload));
    std::ranges::fill(buffer.mapped(), std::byte{0});
    zeros_.push_back(std::move(buffer));
  }
  return zeros_.back().handle.get();
}

// Samplers are made once for each class. Which filter and address mode are used matters only for
// drivers that compile for them.
Result<VkSampler> WarmUpDraws::Sampler(uint32_t sampler_class) {
  vk::UniqueSampler& known = samplers_[sampler_class];
  if (known) {
    return known.get();
  }
  const bool nearest = (sampler_class & kNearest) != 0;
  VkSamplerCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO;
  info.magFilter = nearest ? VK_FILTER_NEAREST : VK_FILTER_LINEAR;
  info.minFilter = info.magFilter;
  info.mipmapMode = nearest ? VK_SAMPLER_MIPMAP_MODE_NEAREST : VK_SAMPLER_MIPMAP_MODE_LINEAR;
  info.addressModeU = (sampler_class & kClamp) != 0 ? VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE
                                                    : VK_SAMPLER_ADDRESS_MODE_REPEAT;
  info.addressModeV = info.addressModeU;
  info.addressModeW = info.addressModeU;
  info.maxLod = VK_LOD_CLAMP_NONE;
  if ((sampler_class & kComparison) != 0) {
    info.compareEnable = VK_TRUE;
    info.compareOp = VK_COMPARE_OP_LESS_OR_EQUAL;
  }
  VkSampler handle = VK_NULL_HANDLE;
  KILN_TRY_VK(device_->table().CreateSampler(device_->handle(), &info, nullptr, &handle),
              "create a sampler for a warm-up draw");
  known = vk::UniqueSampler(device_->table(), device_->handle(), handle);
  return handle;
}

// Whether a sampler compares is part of the program and never of a hint.
Result<VkSampler> WarmUpDraws::SamplerFor(const Build& build, uint32_t set,
                                          const BindingDesc& binding) {
  const ImageHint* const hint = HintFor(build, set, binding.binding);
  const uint32_t plain = CanFilterAll(build.desc, device_->caps()) ? 0 : kNearest;
  const uint32_t other = hint == nullptr ? plain : hint->sampler_class & (kNearest | kClamp);
  return Sampler(other | (binding.comparison ? kComparison : 0));
}

// An image of one texel in that layout; what it holds does not matter.
Result<VkImageView> WarmUpDraws::View(const ImageKey& key, VkImageLayout layout,
                                      VkCommandBuffer commands) {
  // An image is made at its first use and kept, because programs of one pass draw to the same
  // formats.
  SeenImage& seen = images_[key];
  if (!seen.image.handle) {
    auto made = vk::CreateImage(*device_, memory_,
                                {.view_type = key.type,
                                 .format = key.format,
                                 .layers = key.layers,
                                 .samples = key.samples,
                                 .usage = key.usage});
    if (!made.ok()) {
      // An empty entry would be taken for an image by the next draw.
      images_.erase(key);
      return std::move(made).error();
    }
    seen.image = std::move(made).value();
  }
  // The layout is tracked in the order of recording, which is the order of execution on the one
  // queue.
  if (seen.layout != layout) {
    constexpr VkPipelineStageFlags2 kAll = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    vk::Transition(device_->table(), commands, seen.image,
                   {seen.layout, kAll, VK_ACCESS_2_MEMORY_WRITE_BIT},
                   {layout, kAll, VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT});
    seen.layout = layout;
  }
  return seen.image.view.get();
}

Result<VkImageView> WarmUpDraws::Sampled(const Build& build, uint32_t set,
                                         const BindingDesc& binding, VkCommandBuffer commands) {
  const bool storage = binding.type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
  const VkImageViewType type = ViewTypeOf(binding.image);
  // A format that every device can have where nothing says which one the program will meet.
  VkFormat format = StandInFormat(binding.image, binding.item, binding.format);
  KILN_TRY(const VkSampleCountFlagBits samples,
           StandInSamples(binding.image, binding.item, device_->caps()));
  const ImageHint* const hint = HintFor(build, set, binding.binding);
  // A hint may come from another machine, whose device may have had formats that this one cannot
  // sample. With several samples or integers it says too little.
  constexpr VkFormatFeatureFlags kNeeded = VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT;
  const bool plain = samples == VK_SAMPLE_COUNT_1_BIT && type != VK_IMAGE_VIEW_TYPE_3D &&
                     binding.item == artifact::OutputItem::kFloat;
  if (!storage && hint != nullptr && plain &&
      (device_->caps().Format(hint->format).optimalTilingFeatures & kNeeded) != 0) {
    format = hint->format;
  }
  return View({.type = type,
               .format = format,
               .usage = storage ? VkImageUsageFlags{VK_IMAGE_USAGE_STORAGE_BIT}
                                : VkImageUsageFlags{VK_IMAGE_USAGE_SAMPLED_BIT},
               .samples = samples,
               .layers = LeastLayers(type)},
              storage ? VK_IMAGE_LAYOUT_GENERAL : VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
              commands);
}

// Views are few and kept, as the buffer below them is.
Result<VkBufferView> WarmUpDraws::Texels(const BindingDesc& binding) {
  const VkFormat format = StandInFormat(binding.image, binding.item, binding.format);
  KILN_TRY_VOID(Zeros(1));
  const auto [known, added] = texels_.try_emplace(format);
  if (added) {
    auto made = vk::CreateTexelView(*device_, zeros_.front(), format, kTexelBytes);
    if (!made.ok()) {
      texels_.erase(known);  // an empty view would be taken for one by the next draw
      return std::move(made).error();
    }
    known->second = std::move(made).value();
  }
  return known->second.get();
}

Result<VkDescriptorSet> WarmUpDraws::MakeSet(const Build& build, uint32_t set,
                                             VkCommandBuffer commands) {
  const vk::Table& table = device_->table();
  const SetDesc& bindings = build.desc.sets[set];
  // A pool must have one size at least, and a set may have no bindings.
  std::vector<VkDescriptorPoolSize> sizes = {{VK_DESCRIPTOR_TYPE_SAMPLER, 1}};
  // Kinds may come up several times in this list, which Vulkan allows.
  for (const BindingDesc& binding : bindings) {
    sizes.push_back({binding.type, binding.count});
  }
  VkDescriptorPoolCreateInfo pool_info{};
  pool_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  pool_info.maxSets = 1;
  pool_info.poolSizeCount = static_cast<uint32_t>(sizes.size());
  pool_info.pPoolSizes = sizes.data();
  VkDescriptorPool pool = VK_NULL_HANDLE;
  KILN_TRY_VK(table.CreateDescriptorPool(device_->handle(), &pool_info, nullptr, &pool),
              "create a descriptor pool for a warm-up draw");
  // Each set has a pool of its own, which is freed as a whole when the device is done with the
  // submission that follows.
  pools_.push_back({queue_.submitted() + 1, {table, device_->handle(), pool}});
  VkDescriptorSetAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  info.descriptorPool = pool;
  info.descriptorSetCount = 1;
  info.pSetLayouts = &build.layouts.sets[set];
  VkDescriptorSet handle = VK_NULL_HANDLE;
  KILN_TRY_VK(table.AllocateDescriptorSets(device_->handle(), &info, &handle),
              "allocate a descriptor set for a warm-up draw");
  for (const BindingDesc& binding : bindings) {
    KILN_TRY_VOID(WriteBinding(build, set, binding, handle, commands));
  }
  return handle;
}

// Every binding of the layout gets something valid, even those that the shader does not reach: a
// descriptor that is not written is undefined behaviour if it is read.
Result<void> WarmUpDraws::WriteBinding(const Build& build, uint32_t set, const BindingDesc& binding,
                                       VkDescriptorSet handle, VkCommandBuffer commands) {
  VkWriteDescriptorSet write{};
  write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
  write.dstSet = handle;
  write.dstBinding = binding.binding;
  write.descriptorCount = binding.count;
  write.descriptorType = binding.type;
  VkDescriptorBufferInfo buffer{};
  std::vector<VkDescriptorBufferInfo> buffers;
  std::vector<VkDescriptorImageInfo> images;
  std::vector<VkBufferView> texels;
  if (binding.type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER ||
      binding.type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER) {
    // A multiple of 16, because blocks are padded to it in the shader, and never zero, which Vulkan
    // refuses.
    buffer.range = std::max<VkDeviceSize>((VkDeviceSize{binding.bytes} + 15) / 16 * 16, 16);
    KILN_TRY(buffer.buffer, Zeros(buffer.range));
    // All items of an array show the same resource, here and below.
    buffers.assign(binding.count, buffer);
    write.pBufferInfo = buffers.data();
  } else if (IsTexelBuffer(binding.type)) {
    KILN_TRY(const VkBufferView view, Texels(binding));
    texels.assign(binding.count, view);
    write.pTexelBufferView = texels.data();
  } else if (binding.type == VK_DESCRIPTOR_TYPE_SAMPLER) {
    KILN_TRY(const VkSampler sampler, SamplerFor(build, set, binding));
    images.assign(binding.count, {sampler, VK_NULL_HANDLE, VK_IMAGE_LAYOUT_UNDEFINED});
    write.pImageInfo = images.data();
  } else {
    VkSampler sampler = VK_NULL_HANDLE;
    if (binding.type == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER) {
      KILN_TRY(sampler, SamplerFor(build, set, binding));
    }
    KILN_TRY(const VkImageView view, Sampled(build, set, binding, commands));
    const VkImageLayout layout = binding.type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE
                                     ? VK_IMAGE_LAYOUT_GENERAL
                                     : VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    images.assign(binding.count, {sampler, view, layout});
    write.pImageInfo = images.data();
  }
  device_->table().UpdateDescriptorSets(device_->handle(), 1, &write, 0, nullptr);
  return {};
}

Result<void> WarmUpDraws::BindSets(const Build& build, VkCommandBuffer commands) {
  const vk::Table& table = device_->table();
  for (uint32_t i = 0; i < build.layouts.set_count; ++i) {
    KILN_TRY(const VkDescriptorSet set, MakeSet(build, i, commands));
    table.CmdBindDescriptorSets(commands, build.desc.bind_point, build.layouts.layout, i, 1, &set,
                                0, nullptr);
  }
  if (build.layouts.push_size != 0) {
    // Zeros again: nothing that is read may be undefined.
    const std::vector<std::byte> zeros(build.layouts.push_size);
    table.CmdPushConstants(commands, build.layouts.layout, build.layouts.stages, 0,
                           build.layouts.push_size, zeros.data());
  }
  return {};
}

Result<WarmUpDraws::Targets> WarmUpDraws::MakeTargets(const PassSignature& signature,
                                                      VkCommandBuffer commands) {
  // As many layers as the highest view needs.
  const auto layers = std::max(static_cast<uint32_t>(std::bit_width(signature.view_mask)), 1U);
  const VkImageViewType type = layers > 1 ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D;
  VkRenderingAttachmentInfo nothing{};
  nothing.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO;
  nothing.loadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
  nothing.storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
  Targets out{.color = {signature.color.size(), nothing}, .depth = nothing};
  for (uint32_t i = 0; i < out.color.size(); ++i) {
    if (signature.color[i] == VK_FORMAT_UNDEFINED) {
      continue;
    }
    out.color[i].imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
    KILN_TRY(out.color[i].imageView, View({.type = type,
                                           .format = signature.color[i],
                                           .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
                                           .samples = signature.samples,
                                           .layers = layers,
                                           .location = i},
                                          out.color[i].imageLayout, commands));
  }
  if (signature.depth_stencil != VK_FORMAT_UNDEFINED) {
    out.depth.imageLayout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
    KILN_TRY(out.depth.imageView, View({.type = type,
                                        .format = signature.depth_stencil,
                                        .usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT,
                                        .samples = signature.samples,
                                        .layers = layers},
                                       out.depth.imageLayout, commands));
  }
  return out;
}

Result<void> WarmUpDraws::RecordDraw(const Build& build, VkCommandBuffer commands) {
  const vk::Table& table = device_->table();
  const PipelineDesc& desc = build.desc;
  // All that can fail comes before rendering begins.
  KILN_TRY(const Targets targets, MakeTargets(desc.signature, commands));
  KILN_TRY_VOID(BindSets(build, commands));
  for (const VkVertexInputBindingDescription& binding : desc.vertex_bindings) {
    KILN_TRY(const VkBuffer zeros, Zeros(VkDeviceSize{binding.stride} * kVertices));
    const VkDeviceSize offset = 0;
    table.CmdBindVertexBuffers(commands, binding.binding, 1, &zeros, &offset);
  }
  const VkImageAspectFlags aspects = DepthStencilAspects(desc.signature.depth_stencil);
  VkRenderingInfo info{};
  info.sType = VK_STRUCTURE_TYPE_RENDERING_INFO;
  info.renderArea = {{0, 0}, {1, 1}};
  info.layerCount = 1;
  info.viewMask = desc.signature.view_mask;
  info.colorAttachmentCount = static_cast<uint32_t>(targets.color.size());
  info.pColorAttachments = targets.color.data();
  info.pDepthAttachment = (aspects & VK_IMAGE_ASPECT_DEPTH_BIT) != 0 ? &targets.depth : nullptr;
  info.pStencilAttachment = (aspects & VK_IMAGE_ASPECT_STENCIL_BIT) != 0 ? &targets.depth : nullptr;
  table.CmdBeginRendering(commands, &info);
  // The scissor is empty, so nothing is shaded and nothing written, but a driver that compiles at
  // the first draw has done so.
  const VkViewport viewport{0.0F, 0.0F, 1.0F, 1.0F, 0.0F, 1.0F};
  const VkRect2D nothing{{0, 0}, {0, 0}};
  table.CmdSetViewport(commands, 0, 1, &viewport);
  table.CmdSetScissor(commands, 0, 1, &nothing);
  // A dynamic state has to be set before the draw, or the draw is undefined.
  if (std::ranges::find(desc.dynamic_states, VK_DYNAMIC_STATE_DEPTH_BOUNDS) !=
      desc.dynamic_states.end()) {
    table.CmdSetDepthBounds(commands, 0.0F, 1.0F);
  }
  table.CmdDraw(commands, kVertices, 1, 0, 0);
  table.CmdEndRendering(commands);
  return {};
}

Result<void> WarmUpDraws::Record(const Build& build, VkCommandBuffer commands) {
  const vk::Table& table = device_->table();
  Barrier(commands);
  table.CmdBindPipeline(commands, build.desc.bind_point,
                        build.handle.load(std::memory_order_acquire));
  if (build.desc.bind_point == VK_PIPELINE_BIND_POINT_COMPUTE) {
    KILN_TRY_VOID(BindSets(build, commands));
    // One workgroup on zeroed buffers: for compute there is no scissor, so it really runs.
    table.CmdDispatch(commands, 1, 1, 1);
    return {};
  }
  return RecordDraw(build, commands);
}

Result<uint64_t> WarmUpDraws::Submit(const Build& build) {
  // Pools are freed in the order of their submissions, as the timeline counts up.
  KILN_TRY(const uint64_t completed, queue_.Completed());
  while (!pools_.empty() && pools_.front().value <= completed) {
    pools_.pop_front();
  }
  KILN_TRY(const VkCommandBuffer commands, queue_.Begin());
  const Result<void> recorded = Record(build, commands);
  // What was recorded so far is harmless, and a command buffer that has begun is submitted.
  KILN_TRY(const uint64_t value, queue_.Submit(commands));
  if (!recorded.ok()) {
    return recorded.error();
  }
  return value;
}

}  // namespace kiln::runtime
