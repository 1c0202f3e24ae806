// SPDX-License-Identifier: MIT
// One frame off-screen: passes by dynamic rendering, draws, reading a target back. Barriers follow
// from the last use that each target remembers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "runtime/pipeline/pipelines.h"
#include "runtime/preview/image_file.h"
#include "runtime/preview/target.h"
#include "runtime/vk/buffer.h"
#include "runtime/vk/queue.h"

namespace kiln::preview {

// One attachment of a pass: cleared at its start, stored at its end.
struct Attachment {
  Target* target = nullptr;
  VkClearValue clear = {};
};

struct PassInfo {
  std::vector<Attachment> color;  // by location
  std::optional<Attachment> depth;
  std::vector<Target*> sampled;  // targets of earlier passes that this one reads
};

struct Draw {
  runtime::PipelineId pipeline;
  std::vector<VkDescriptorSet> sets;                          // from set 0
  std::vector<std::pair<uint32_t, VkBuffer>> vertex_buffers;  // binding, buffer
  VkBuffer indices = VK_NULL_HANDLE;                          // of 32 bits; null: not indexed
  uint32_t count = 3;                                         // indices or vertices
  uint32_t instances = 1;
  std::span<const std::byte> push;  // as long as the layout's push size, or empty
};

// Records the draw into a pass over `area` that has begun; nothing if its pipeline is not ready,
// which the pipelines count. Requires: the pipeline is made for the signature of the pass.
void RecordDraw(const vk::Table& table, VkCommandBuffer commands, VkExtent2D area,
                runtime::Pipelines& pipelines, const Draw& draw);

// The signature that pipelines of this pass need.
runtime::PassSignature SignatureOf(const PassInfo& pass);

// Records into one command buffer. One thread; everything it is given outlives Finish.
class Frame {
 public:
  static Result<Frame> Begin(const runtime::Device& device, vk::Queue& queue);

  void BeginPass(const PassInfo& pass);
  // Requires: inside a pass; the pipeline is ready and made for the signature of the pass.
  void Add(runtime::Pipelines& pipelines, const Draw& draw);
  void EndPass();

  // Reads a target back when the frame is finished. Requires: outside a pass, an 8-bit RGBA target.
  Result<vk::Buffer> ReadBack(vk::Memory& memory, Target& target);

  // Submits and waits.
  Result<void> Finish();

 private:
  Frame(const runtime::Device& device, vk::Queue& queue, VkCommandBuffer commands)
      : device_(&device), queue_(&queue), commands_(commands) {}

  const runtime::Device* device_;
  vk::Queue* queue_;
  VkCommandBuffer commands_;
  VkExtent2D area_ = {};
};

// What ReadBack of a target of this size holds after Finish.
Picture PictureOf(const vk::Buffer& buffer, VkExtent2D extent);

}  // namespace kiln::preview
