// SPDX-License-Identifier: MIT
// Records the passes of one frame. Private to runtime/graph.
#pragma once

#include <vector>

#include "runtime/graph/execute.h"
#include "runtime/graph/execute/device_objects.h"

namespace kiln::graph {

// Host memory of one frame in flight.
struct RingSlot {
  vk::Buffer upload;
  vk::Buffer readback;
};

// What stays allocated between frames.
struct RecordScratch {
  std::vector<VkImageMemoryBarrier2> images;
  std::vector<VkRenderingAttachmentInfo> color;
  runtime::PassSignature signature;
};

class FrameRecorder {
 public:
  FrameRecorder(runtime::Device& device, DeviceObjects& objects, const RingSlot& ring,
                const Plan& plan, const Graph& graph, RecordScratch& scratch, bool labels)
      : device_(device),
        objects_(objects),
        ring_(ring),
        plan_(plan),
        graph_(graph),
        rows_(graph.rows()),
        scratch_(scratch),
        labels_(labels) {}

  void RunHostPasses();
  // Histories that start from their initial contents.
  void ResetHistories(VkCommandBuffer commands);
  // The barrier before the position, if there is one, and the pass.
  void RecordPosition(uint32_t position, VkCommandBuffer commands);

  BoundTexture Texture(uint32_t pass, uint32_t version);
  BoundBuffer Buffer(uint32_t pass, uint32_t version);
  bool WasReset(uint32_t version) const;
  const Graph& graph() const { return graph_; }
  const runtime::PassSignature& signature() const { return scratch_.signature; }
  VkExtent2D area() const { return area_; }
  void FailUndeclared(uint32_t pass, uint32_t version);

  // The first error of a callback or of an object that could not be made.
  const std::vector<Error>& errors() const { return errors_; }
  uint32_t barriers = 0;

 private:
  const AccessRow* AccessOf(uint32_t pass, uint32_t version, uint32_t& index) const;
  void Barrier(const BarrierPoint& point, VkCommandBuffer commands);
  bool BeginRendering(uint32_t pass, VkCommandBuffer commands);
  VkRenderingAttachmentInfo Attachment(uint32_t index);
  VkAttachmentStoreOp StoreOf(const AccessRow& access) const;
  VkImageView AttachmentView(const AccessRow& access);
  void Call(uint32_t pass, VkCommandBuffer commands);
  void Clear(uint32_t pass, VkCommandBuffer commands);
  void Fill(uint32_t chain, const VkClearValue& value, VkCommandBuffer commands);
  void CopyToPresent(uint32_t pass, VkCommandBuffer commands);

  runtime::Device& device_;
  DeviceObjects& objects_;
  const RingSlot& ring_;
  const Plan& plan_;
  const Graph& graph_;
  const Declarations& rows_;
  RecordScratch& scratch_;
  bool labels_;
  VkExtent2D area_ = {};
  std::vector<Error> errors_;
};

}  // namespace kiln::graph
