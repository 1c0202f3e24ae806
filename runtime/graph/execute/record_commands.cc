// SPDX-License-Identifier: MIT
// Walks the positions of the plan and records what stands there: a barrier point, then the pass.
// Objects, layouts and barriers were decided by planning; the recorder looks them up and decides
// nothing but load and store operations (spec/graph 4.9). Several threads may record parts of one
// frame, each with a recorder of its own; mistakes are collected and told when all are done.
#include "runtime/graph/execute/record_commands.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "runtime/graph/synchronization.h"

namespace kiln::graph {
namespace {

constexpr Accesses kColorAttachment =
    VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT;
constexpr Accesses kDepthAttachment =
    VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT | VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;

// A view of six layers of a cube is meant as a cube; other counts are arrays.
VkImageViewType ViewTypeOf(const ChainRow& chain, uint32_t layers) {
  if (chain.type == VK_IMAGE_TYPE_3D) {
    return VK_IMAGE_VIEW_TYPE_3D;
  }
  const bool cube = (chain.flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT) != 0 && layers == 6;
  return cube         ? VK_IMAGE_VIEW_TYPE_CUBE
         : layers > 1 ? VK_IMAGE_VIEW_TYPE_2D_ARRAY
                      : VK_IMAGE_VIEW_TYPE_2D;
}

// No level is smaller than one texel in any direction.
VkExtent3D LevelExtent(const ChainRow& chain, uint32_t mip) {
  return {std::max(chain.extent.width >> mip, 1U), std::max(chain.extent.height >> mip, 1U),
          std::max(chain.extent.depth >> mip, 1U)};
}

Range RangeOf(const AccessRow& access) {
  return {access.mip, access.mips, access.layer, access.layers, access.aspects};
}

}  // namespace

// A pass has a handful of accesses, so they are searched in a row. What it has not declared it must
// not touch, as no barrier was planned for it.
const AccessRow* FrameRecorder::AccessOf(uint32_t pass, uint32_t version, uint32_t& index) const {
  if (version == kNone) {
    return nullptr;  // a handle that stands for nothing; the result of a read is kNone, too
  }
  for (uint32_t i = plan_.pass_begin[pass]; i < plan_.pass_begin[pass + 1]; ++i) {
    index = plan_.pass_accesses[i];
    const AccessRow& access = rows_.accesses[index];
    if (access.version == version || access.result == version) {
      return &access;
    }
  }
  return nullptr;
}

void FrameRecorder::FailUndeclared(uint32_t pass, uint32_t version) {
  errors_.push_back(
      {.code = ErrorCode::kInvalidArgument,
       .context = fmt::format("UNDECLARED_ACCESS: pass '{}' asks for {}, which it did not declare",
                              rows_.PassName(pass),
                              version < rows_.versions.size()
                                  ? fmt::format("'{}'", rows_.VersionName(version))
                                  : std::string("an unknown handle")),
       .reason = "UNDECLARED_ACCESS"});
}

// Through the handle that the pass declared, with the range and layout of that access.
BoundTexture FrameRecorder::Texture(uint32_t pass, uint32_t version) {
  uint32_t index = 0;
  const AccessRow* access = AccessOf(pass, version, index);
  if (access == nullptr || !rows_.ChainOf(*access).texture()) {
    FailUndeclared(pass, version);
    return {};
  }
  const uint32_t chain = rows_.versions[access->version].chain;
  const ChainRow& row = rows_.chains[chain];
  Range range = RangeOf(*access);
  // A view that is sampled has one aspect.
  const bool sampled = (access->accesses & VK_ACCESS_2_SHADER_SAMPLED_READ_BIT) != 0;
  if (sampled && (range.aspects & VK_IMAGE_ASPECT_DEPTH_BIT) != 0) {
    range.aspects = VK_IMAGE_ASPECT_DEPTH_BIT;
  }
  BoundTexture out{.image = objects_.Image(chain),
                   .view = VK_NULL_HANDLE,
                   .layout = plan_.layouts[index],
                   .extent = LevelExtent(row, access->mip),
                   .format = row.format};
  constexpr VkImageUsageFlags kViewable = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT |
                                          VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                          VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT |
                                          VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT;
  // Textures that are only copied need no view, and Vulkan would refuse one.
  if ((row.usage & kViewable) != 0) {
    Result<VkImageView> view =
        objects_.View(chain, {.range = range, .type = ViewTypeOf(row, access->layers)}, row.format);
    if (!view.ok()) {
      errors_.push_back(view.error());
      return out;
    }
    out.view = *view;
  }
  return out;
}

// Host memory is mapped all the time; device memory has no pointer.
BoundBuffer FrameRecorder::Buffer(uint32_t pass, uint32_t version) {
  uint32_t index = 0;
  const AccessRow* access = AccessOf(pass, version, index);
  if (access == nullptr || rows_.ChainOf(*access).texture()) {
    FailUndeclared(pass, version);
    return {};
  }
  const uint32_t chain = rows_.versions[access->version].chain;
  BoundBuffer out;
  out.size = rows_.chains[chain].size;
  if (plan_.chains[chain].place == Place::kRing) {
    const bool upload = rows_.chains[chain].memory == MemoryKind::kUpload;
    const vk::Buffer& ring = upload ? ring_.upload : ring_.readback;
    out.buffer = ring.handle.get();
    out.offset = plan_.chains[chain].offset;
    out.mapped = ring.mapped().data() + out.offset;
    return out;
  }
  out.buffer = objects_.Buffer(chain, out.offset);
  return out;
}

// So that a pass can tell a history without a past from one that was kept.
bool FrameRecorder::WasReset(uint32_t version) const {
  return version < rows_.versions.size() && plan_.chains[rows_.versions[version].chain].reset;
}

// The handles that a callback gets are valid during the call only.
void FrameRecorder::Call(uint32_t pass, VkCommandBuffer commands) {
  const CallbackRow& callback = rows_.pass_notes[pass].callback;
  if (callback.call == nullptr) {
    return;
  }
  const Resources resources(*this, pass);
  CommandBuffer buffer(device_.table(), commands);
  callback.call(graph_.Captured(pass), &device_, &resources, &buffer);
}

// Before any command is recorded and in plan order (spec/graph 4.8.1).
void FrameRecorder::RunHostPasses() {
  for (uint32_t i = 0; i < plan_.host_passes; ++i) {
    Call(plan_.order[i].pass, VK_NULL_HANDLE);
  }
}

// Requires: the layout for transfers, and that rendering is not going on.
void FrameRecorder::Fill(uint32_t chain, const VkClearValue& value, VkCommandBuffer commands) {
  const vk::Table& table = device_.table();
  const ChainRow& row = rows_.chains[chain];
  if (!row.texture()) {
    VkDeviceSize offset = 0;
    const VkBuffer buffer = objects_.Buffer(chain, offset);
    // Fills work in words, so up to three bytes at the end are left as they are.
    const VkDeviceSize words = row.size / 4 * 4;
    if (words != 0) {
      table.CmdFillBuffer(commands, buffer, offset, words, value.color.uint32[0]);
    }
    return;
  }
  const VkImageAspectFlags aspects = row.aspects;
  const VkImageSubresourceRange range = {aspects, 0, row.mips, 0, row.layers};
  if ((aspects & VK_IMAGE_ASPECT_COLOR_BIT) != 0) {
    table.CmdClearColorImage(commands, objects_.Image(chain), VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                             &value.color, 1, &range);
  } else {
    table.CmdClearDepthStencilImage(commands, objects_.Image(chain),
                                    VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &value.depthStencil, 1,
                                    &range);
  }
}

// At the beginning of the frame and with the widest source scope. It happens when a history is new
// or lost, so it need not be cheap.
void FrameRecorder::ResetHistories(VkCommandBuffer commands) {
  for (uint32_t chain = 0; chain < plan_.chains.size(); ++chain) {
    if (!plan_.chains[chain].reset) {
      continue;
    }
    const ChainRow& row = rows_.chains[chain];
    VkMemoryBarrier2 memory{};
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
    memory.srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    memory.srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT;
    memory.dstStageMask = VK_PIPELINE_STAGE_2_CLEAR_BIT;
    memory.dstAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT;
    VkImageMemoryBarrier2 image{};
    image.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2;
    image.srcStageMask = memory.srcStageMask;
    image.srcAccessMask = memory.srcAccessMask;
    image.dstStageMask = memory.dstStageMask;
    image.dstAccessMask = memory.dstAccessMask;
    // From an undefined layout, as the old contents are dropped.
    image.newLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    image.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    image.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    image.image = objects_.Image(chain);
    image.subresourceRange = {row.aspects, 0, row.mips, 0, row.layers};
    VkDependencyInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
    info.memoryBarrierCount = row.texture() ? 0 : 1;
    info.pMemoryBarriers = &memory;
    info.imageMemoryBarrierCount = row.texture() ? 1 : 0;
    info.pImageMemoryBarriers = &image;
    device_.table().CmdPipelineBarrier2(commands, &info);
    Fill(chain, rows_.bindings[chain].clear, commands);
  }
}

// One command for each point, whatever it has to wait for: commands cost more than entries.
void FrameRecorder::Barrier(const BarrierPoint& point, VkCommandBuffer commands) {
  scratch_.images.clear();
  VkMemoryBarrier2 memory{};
  memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
  bool any_buffer = false;
  for (uint32_t i = 0; i < point.entries; ++i) {
    const BarrierEntry& entry = plan_.EntryAt(point, i);
    const Stages source = CombinedStages(entry.src_stages);
    const Stages destination = CombinedStages(entry.dst_stages);
    // All buffers share one memory barrier: Vulkan's drivers look at stages and accesses and not at
    // ranges.
    if (!rows_.chains[entry.chain].texture()) {
      any_buffer = true;
      memory.srcStageMask |= source;
      memory.srcAccessMask |= entry.src_accesses;
      memory.dstStageMask |= destination;
      memory.dstAccessMask |= entry.dst_accesses;
      continue;
    }
    const Box& cell = plan_.cells[entry.cell];
    VkImageMemoryBarrier2 image{};
    image.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2;
    image.srcStageMask = source;
    image.srcAccessMask = entry.src_accesses;
    // What is presented waits for a semaphore that is signalled after all commands. The transition
    // before it has no use behind it, and would be in no scope of that signal.
    image.dstStageMask = entry.reason == BarrierReason::kPresent
                             ? VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT
                             : destination;
    image.dstAccessMask = entry.dst_accesses;
    image.oldLayout = entry.old_layout;
    image.newLayout = entry.new_layout;
    image.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    image.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    image.image = objects_.Image(entry.chain);
    image.subresourceRange = {cell.aspects, cell.mip, cell.mips, cell.layer, cell.layers};
    scratch_.images.push_back(image);
  }
  VkDependencyInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  info.memoryBarrierCount = any_buffer ? 1 : 0;
  info.pMemoryBarriers = &memory;
  info.imageMemoryBarrierCount = static_cast<uint32_t>(scratch_.images.size());
  info.pImageMemoryBarriers = scratch_.images.data();
  device_.table().CmdPipelineBarrier2(commands, &info);
  ++barriers;
}

// Contents are stored if anything uses them later: in this frame, the next, or outside.
VkAttachmentStoreOp FrameRecorder::StoreOf(const AccessRow& access) const {
  if (!access.writes()) {
    return VK_ATTACHMENT_STORE_OP_NONE;
  }
  const VersionRow& version = rows_.versions[access.result];
  const ChainRow& chain = rows_.chains[version.chain];
  const PlanChain& place = plan_.chains[version.chain];
  const bool kept = version.temporal != 0 || version.output != 0 ||
                    chain.object == Object::kImported || place.last > plan_.positions[access.pass];
  return kept ? VK_ATTACHMENT_STORE_OP_STORE : VK_ATTACHMENT_STORE_OP_DONT_CARE;
}

// One level and the layers of the access; arrays are rendered to in layers.
VkImageView FrameRecorder::AttachmentView(const AccessRow& access) {
  const uint32_t chain = rows_.versions[access.version].chain;
  const ChainRow& row = rows_.chains[chain];
  Range range = RangeOf(access);
  range.mips = 1;
  const Result<VkImageView> view = objects_.View(
      chain,
      {.range = range,
       .type = access.layers > 1 ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D},
      row.format);
  if (!view.ok()) {
    errors_.push_back(view.error());
    return VK_NULL_HANDLE;
  }
  return *view;
}

VkRenderingAttachmentInfo FrameRecorder::Attachment(uint32_t index) {
  const AccessRow& access = rows_.accesses[index];
  VkRenderingAttachmentInfo info{};
  info.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO;
  info.imageView = AttachmentView(access);
  info.imageLayout = plan_.layouts[index];
  // What a version held before it was created is nobody's, so there is nothing to load.
  const bool fresh = access.op == Op::kCreate;
  info.loadOp = fresh && access.contents == ContentKind::kClear ? VK_ATTACHMENT_LOAD_OP_CLEAR
                : fresh || access.discard != 0                  ? VK_ATTACHMENT_LOAD_OP_DONT_CARE
                                                                : VK_ATTACHMENT_LOAD_OP_LOAD;
  info.storeOp = StoreOf(access);
  info.clearValue = rows_.bindings[rows_.versions[access.version].chain].clear;
  return info;
}

// False: the pass has no attachments. The signature is collected on the way: pipelines that the
// callback binds must fit it.
bool FrameRecorder::BeginRendering(uint32_t pass, VkCommandBuffer commands) {
  scratch_.color.clear();
  scratch_.signature.color.clear();
  scratch_.signature.depth_stencil = VK_FORMAT_UNDEFINED;
  VkRenderingAttachmentInfo depth{};
  bool any_depth = false;
  VkImageAspectFlags depth_aspects = 0;
  uint32_t layers = 1;
  // Attachments come in the order of the accesses of the pass, and this is the order of their
  // locations.
  for (uint32_t i = plan_.pass_begin[pass]; i < plan_.pass_begin[pass + 1]; ++i) {
    const uint32_t index = plan_.pass_accesses[i];
    const AccessRow& access = rows_.accesses[index];
    const ChainRow& chain = rows_.ChainOf(access);
    const bool color = (access.accesses & kColorAttachment) != 0;
    const bool is_depth = (access.accesses & kDepthAttachment) != 0;
    if (!color && !is_depth) {
      continue;
    }
    const VkExtent3D extent = LevelExtent(chain, access.mip);
    area_ = {extent.width, extent.height};
    // Extent, layers and samples are those of the last attachment and stand for all of them.
    layers = access.layers;
    scratch_.signature.samples = static_cast<VkSampleCountFlagBits>(chain.samples);
    if (color) {
      scratch_.color.push_back(Attachment(index));
      scratch_.signature.color.push_back(chain.format);
    } else {
      depth = Attachment(index);
      any_depth = true;
      depth_aspects = chain.aspects;
      scratch_.signature.depth_stencil = chain.format;
    }
  }
  if (scratch_.color.empty() && !any_depth) {
    return false;
  }
  VkRenderingInfo info{};
  info.sType = VK_STRUCTURE_TYPE_RENDERING_INFO;
  info.renderArea = {{0, 0}, area_};
  info.layerCount = layers;
  info.colorAttachmentCount = static_cast<uint32_t>(scratch_.color.size());
  info.pColorAttachments = scratch_.color.data();
  info.pDepthAttachment = (depth_aspects & VK_IMAGE_ASPECT_DEPTH_BIT) != 0 ? &depth : nullptr;
  info.pStencilAttachment = (depth_aspects & VK_IMAGE_ASPECT_STENCIL_BIT) != 0 ? &depth : nullptr;
  device_.table().CmdBeginRendering(commands, &info);
  return true;
}

// The pass was made by the graph and has one access: the resource that it clears.
void FrameRecorder::Clear(uint32_t pass, VkCommandBuffer commands) {
  const uint32_t index = plan_.pass_accesses[plan_.pass_begin[pass]];
  const uint32_t chain = rows_.versions[rows_.accesses[index].version].chain;
  Fill(chain, rows_.bindings[chain].clear, commands);
}

// A pass of the graph's own; the swapchain image has the layout that the plan gave it.
void FrameRecorder::CopyToPresent(uint32_t pass, VkCommandBuffer commands) {
  const vk::Table& table = device_.table();
  for (const PresentRow& present : rows_.presents) {
    if (present.copy_pass != pass) {
      continue;
    }
    const uint32_t source = rows_.versions[present.source].chain;
    const uint32_t target = rows_.versions[present.target].chain;
    const ChainRow& from = rows_.chains[source];
    const ChainRow& to = rows_.chains[target];
    const VkImageSubresourceLayers layers = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    const auto corner = [](const ChainRow& chain) {
      return VkOffset3D{static_cast<int32_t>(chain.extent.width),
                        static_cast<int32_t>(chain.extent.height), 1};
    };
    // A copy keeps every bit; a blit is needed only for another size or format.
    if (from.format == to.format && from.extent.width == to.extent.width &&
        from.extent.height == to.extent.height) {
      const VkImageCopy region = {layers, {0, 0, 0}, layers, {0, 0, 0}, from.extent};
      table.CmdCopyImage(commands, objects_.Image(source), VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                         objects_.Image(target), VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
      continue;
    }
    const VkImageBlit region = {layers, {{0, 0, 0}, corner(from)}, layers, {{0, 0, 0}, corner(to)}};
    table.CmdBlitImage(commands, objects_.Image(source), VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                       objects_.Image(target), VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region,
                       present.filter);
  }
}

// A position is a pass with the barrier before it; positions are recorded in order within one
// command buffer.
void FrameRecorder::RecordPosition(uint32_t position, VkCommandBuffer commands) {
  const vk::Table& table = device_.table();
  // Points are sorted by position.
  const auto point = std::lower_bound(
      plan_.points.begin(), plan_.points.end(), position,
      [](const BarrierPoint& candidate, uint32_t at) { return candidate.before < at; });
  if (point != plan_.points.end() && point->before == position) {
    Barrier(*point, commands);
  }
  const uint32_t pass = plan_.PassAt(position);
  if (labels_) {
    // A label wants a text that ends with a zero, and names have none; the copy on the stack avoids
    // an allocation for each pass.
    char name[96] = {};
    const std::string_view text = rows_.PassName(pass);
    std::memcpy(name, text.data(), std::min(text.size(), sizeof(name) - 1));
    VkDebugUtilsLabelEXT label{};
    label.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT;
    label.pLabelName = name;
    table.CmdBeginDebugUtilsLabelEXT(commands, &label);
  }
  area_ = {};
  const PassRow& row = rows_.passes[pass];
  switch (row.origin) {
    // A pass without attachments records outside of rendering, as dispatches in it would be wrong
    // inside.
    case Origin::kUser: {
      const bool rendering = row.kind == PassKind::kGraphics && BeginRendering(pass, commands);
      Call(pass, commands);
      if (rendering) {
        table.CmdEndRendering(commands);
      }
      break;
    }
    case Origin::kClear:
      Clear(pass, commands);
      break;
    case Origin::kPresentCopy:
      CopyToPresent(pass, commands);
      break;
    case Origin::kExport:
    case Origin::kPresent:
      break;
  }
  if (labels_) {
    table.CmdEndDebugUtilsLabelEXT(commands);
  }
}

BoundTexture Resources::Texture(TextureId id) const {
  return recorder_.Texture(pass_, recorder_.graph().Find(id));
}
BoundBuffer Resources::Buffer(BufferId id) const {
  return recorder_.Buffer(pass_, recorder_.graph().Find(id));
}
bool Resources::WasReset(TextureId id) const {
  return recorder_.WasReset(recorder_.graph().Find(id));
}
bool Resources::WasReset(BufferId id) const {
  return recorder_.WasReset(recorder_.graph().Find(id));
}
const runtime::PassSignature& Resources::Signature() const { return recorder_.signature(); }
VkExtent2D Resources::RenderArea() const { return recorder_.area(); }

}  // namespace kiln::graph
