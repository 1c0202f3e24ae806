// SPDX-License-Identifier: MIT
#include "runtime/graph/read_back.h"

#include "runtime/graph/execute.h"
#include "runtime/graph/formats.h"

namespace kiln::graph {

BufferId ReadBack(Graph& graph, TextureId texture, const TextureDesc& desc) {
  // The first level of the first layer is what is copied.
  TextureDesc copied = desc;
  copied.mips = 1;
  copied.layers = 1;
  const PassId pass = graph.CreatePass({.name = "read back", .kind = PassKind::kTransfer});
  graph.ReadTexture(pass, {texture, {.accesses = VK_ACCESS_2_TRANSFER_READ_BIT}});
  const BufferId pixels = graph.CreateBuffer(
      pass, {.name = "pixels",
             .desc = {.size = TexelBytes(copied), .memory = MemoryKind::kReadback},
             .access = {.accesses = VK_ACCESS_2_TRANSFER_WRITE_BIT},
             // The copy fills the buffer, so nothing has to be cleared before.
             .contents = {.kind = ContentKind::kAllWritten},
             .keep = {}});
  const VkExtent3D extent = desc.size;
  const VkImageAspectFlags aspects = AspectsOfFormat(desc.format);
  // Handles are captured by value: the callback runs later, when the declaring function is gone.
  graph.SetCallback(pass,
                    [=](runtime::Device&, const Resources& resources, CommandBuffer& commands) {
                      const BoundTexture from = resources.Texture(texture);
                      const BoundBuffer to = resources.Buffer(pixels);
                      VkBufferImageCopy region{};
                      // The ring holds the buffers of several passes, so this one begins at its
                      // offset.
                      region.bufferOffset = to.offset;
                      region.imageSubresource = {aspects, 0, 0, 1};
                      region.imageExtent = extent;
                      commands.table().CmdCopyImageToBuffer(commands.handle(), from.image,
                                                            from.layout, to.buffer, 1, &region);
                    });
  // The host reads it after the frame.
  graph.ExportBuffer(
      pixels, {.stages = VK_PIPELINE_STAGE_2_HOST_BIT, .accesses = VK_ACCESS_2_HOST_READ_BIT});
  return pixels;
}

}  // namespace kiln::graph
