// SPDX-License-Identifier: MIT
// One drawing of a preview: a command buffer that is recorded, submitted and waited for by one
// thread.
#include "runtime/preview/frame.h"

#include <algorithm>

#include "compiler/base/check.h"

namespace kiln::preview {
namespace {

VkExtent2D ExtentOf(const Target& target) {
  return {target.image.info.extent.width, target.image.info.extent.height};
}

VkRenderingAttachmentInfo InfoOf(const Attachment& attachment) {
  VkRenderingAttachmentInfo info{};
  info.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO;
  info.imageView = attachment.target->image.view.get();
  info.imageLayout = attachment.target->last.layout;
  // Nothing of an earlier frame may show, so a picture depends on its own draws alone.
  info.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
  info.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  info.clearValue = attachment.clear;
  return info;
}

}  // namespace

// Samples and views are left at their defaults, because previews draw one view with one sample.
runtime::PassSignature SignatureOf(const PassInfo& pass) {
  runtime::PassSignature signature;
  for (const Attachment& attachment : pass.color) {
    signature.color.push_back(attachment.target->image.info.format);
  }
  if (pass.depth) {
    signature.depth_stencil = pass.depth->target->image.info.format;
  }
  return signature;
}

Result<Frame> Frame::Begin(const runtime::Device& device, vk::Queue& queue) {
  KILN_TRY(const VkCommandBuffer commands, queue.Begin());
  return Frame(device, queue, commands);
}

// The clear values are those of the attachments. Targets are transitioned outside of rendering,
// since a barrier inside of it may not change a layout.
void Frame::BeginPass(const PassInfo& pass) {
  const vk::Table& table = device_->table();
  std::vector<VkRenderingAttachmentInfo> color;
  for (const Attachment& attachment : pass.color) {
    Transition(table, commands_, *attachment.target, kColorAttachment);
    color.push_back(InfoOf(attachment));
    // All attachments of a pass have one size, so any of them tells the area.
    area_ = ExtentOf(*attachment.target);
  }
  VkRenderingAttachmentInfo depth{};
  if (pass.depth) {
    Transition(table, commands_, *pass.depth->target, kDepthAttachment);
    depth = InfoOf(*pass.depth);
    area_ = ExtentOf(*pass.depth->target);
  }
  // What was drawn in an earlier pass is read in this one, and the transition is the barrier
  // between the two.
  for (Target* const target : pass.sampled) {
    if (target->last.layout != kSampled.layout) {
      Transition(table, commands_, *target, kSampled);
    }
  }
  VkRenderingInfo info{};
  info.sType = VK_STRUCTURE_TYPE_RENDERING_INFO;
  info.renderArea = {{0, 0}, area_};
  info.layerCount = 1;
  info.colorAttachmentCount = static_cast<uint32_t>(color.size());
  info.pColorAttachments = color.data();
  info.pDepthAttachment = pass.depth ? &depth : nullptr;
  table.CmdBeginRendering(commands_, &info);
}

// A pipeline that is not there is left out and the frame goes on, as in an engine.
void RecordDraw(const vk::Table& table, VkCommandBuffer commands, VkExtent2D area,
                runtime::Pipelines& pipelines, const Draw& draw) {
  if (!pipelines.Bind(commands, draw.pipeline, runtime::OnMissing::Skip()).drawable) {
    return;
  }
  const runtime::LayoutSet& layouts = pipelines.Layouts(draw.pipeline);
  const runtime::PipelineDesc& desc = pipelines.Desc(draw.pipeline);
  runtime::SetViewportFor(table, commands, desc, area);
  // A state that is dynamic has to be set once, and the description holds the value that the
  // program gave.
  if (std::ranges::find(desc.dynamic_states, VK_DYNAMIC_STATE_DEPTH_BOUNDS) !=
      desc.dynamic_states.end()) {
    table.CmdSetDepthBounds(commands, desc.depth_stencil.bounds_min, desc.depth_stencil.bounds_max);
  }
  // All sets are bound at once: a preview draws so little that sharing them would save nothing.
  if (!draw.sets.empty()) {
    table.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, layouts.layout, 0,
                                static_cast<uint32_t>(draw.sets.size()), draw.sets.data(), 0,
                                nullptr);
  }
  if (layouts.push_size != 0) {
    KILN_CHECK(draw.push.size() == layouts.push_size, "{} of {}", draw.push.size(),
               layouts.push_size);
    table.CmdPushConstants(commands, layouts.layout, layouts.stages, 0, layouts.push_size,
                           draw.push.data());
  }
  for (const auto& [binding, buffer] : draw.vertex_buffers) {
    const VkDeviceSize offset = 0;
    table.CmdBindVertexBuffers(commands, binding, 1, &buffer, &offset);
  }
  if (draw.indices == VK_NULL_HANDLE) {
    table.CmdDraw(commands, draw.count, draw.instances, 0, 0);
    return;
  }
  table.CmdBindIndexBuffer(commands, draw.indices, 0, VK_INDEX_TYPE_UINT32);
  table.CmdDrawIndexed(commands, draw.count, draw.instances, 0, 0, 0);
}

void Frame::Add(runtime::Pipelines& pipelines, const Draw& draw) {
  RecordDraw(device_->table(), commands_, area_, pipelines, draw);
}

void Frame::EndPass() { device_->table().CmdEndRendering(commands_); }

// Records a copy only; the buffer holds the pixels after Finish.
Result<vk::Buffer> Frame::ReadBack(vk::Memory& memory, Target& target) {
  const VkExtent2D extent = ExtentOf(target);
  KILN_TRY(vk::Buffer buffer,
           // Four bytes for each pixel: the target has eight bits in each of four channels.
           vk::CreateBuffer(*device_, memory, VkDeviceSize{extent.width} * extent.height * 4,
                            VK_BUFFER_USAGE_TRANSFER_DST_BIT, vk::MemoryUse::kReadback));
  Transition(device_->table(), commands_, target, kCopySource);
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  region.imageExtent = target.image.info.extent;
  device_->table().CmdCopyImageToBuffer(commands_, target.image.handle.get(), target.last.layout,
                                        buffer.handle.get(), 1, &region);
  return buffer;
}

// Waits for the device without a limit. The commands may be dropped afterwards.
Result<void> Frame::Finish() {
  KILN_TRY(const uint64_t done, queue_->Submit(commands_));
  // A preview has nothing to do while the device draws.
  return queue_->Wait(done);
}

// Requires that Finish has returned. Rows follow one another without padding, because the copy
// named no row length.
Picture PictureOf(const vk::Buffer& buffer, VkExtent2D extent) {
  Picture picture{extent.width, extent.height, {}};
  picture.rgba.resize(buffer.size);
  std::memcpy(picture.rgba.data(), buffer.mapped().data(), buffer.size);
  return picture;
}

}  // namespace kiln::preview
