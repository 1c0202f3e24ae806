// SPDX-License-Identifier: MIT
// Warm-up draws: some drivers compile at the first draw of a pipeline, so it is drawn once where
// nobody sees it: 1 × 1 targets of its formats, an empty scissor, zeroed buffers and small images.
// See spec/pso 7.5
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "runtime/pipeline/create/build.h"
#include "runtime/vk/buffer.h"
#include "runtime/vk/image.h"
#include "runtime/vk/queue.h"

namespace kiln::runtime {

// Of the thread that draws, since it submits to the device's queue. The device outlives it;
// destruction waits for what was submitted.
class WarmUpDraws {
 public:
  static constexpr size_t kBatch = 16;

  static Result<std::unique_ptr<WarmUpDraws>> Create(const Device& device);

  // One submission. Requires: the build is ready. Returns its timeline value.
  // Errors: OUT_OF_MEMORY, DEVICE_LOST.
  Result<uint64_t> Submit(const Build& build);
  // Errors: kDeadlineExceeded, DEVICE_LOST.
  Result<void> Wait(uint64_t value, std::chrono::nanoseconds timeout) {
    return queue_.Wait(value, timeout);
  }
  Result<uint64_t> Completed() const { return queue_.Completed(); }

 private:
  struct SeenImage {
    vk::Image image;
    VkImageLayout layout = VK_IMAGE_LAYOUT_UNDEFINED;
  };
  struct ImageKey {
    VkImageViewType type = VK_IMAGE_VIEW_TYPE_2D;
    VkFormat format = VK_FORMAT_UNDEFINED;
    VkImageUsageFlags usage = 0;
    VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;
    uint32_t layers = 1;
    uint32_t location = 0;  // of a color target: no two of a pass are one image

    auto Fields() const { return std::tie(type, format, usage, samples, layers, location); }
    bool operator<(const ImageKey& other) const { return Fields() < other.Fields(); }
  };
  struct Targets {
    std::vector<VkRenderingAttachmentInfo> color;
    VkRenderingAttachmentInfo depth = {};
  };
  struct Pool {
    uint64_t value = 0;
    vk::UniqueDescriptorPool pool;
  };

  explicit WarmUpDraws(const Device& device, vk::Queue queue)
      : device_(&device), memory_(device), queue_(std::move(queue)) {}

  Result<void> Record(const Build& build, VkCommandBuffer commands);
  Result<void> RecordDraw(const Build& build, VkCommandBuffer commands);
  Result<Targets> MakeTargets(const PassSignature& signature, VkCommandBuffer commands);
  Result<void> BindSets(const Build& build, VkCommandBuffer commands);
  Result<VkDescriptorSet> MakeSet(const Build& build, uint32_t set, VkCommandBuffer commands);
  Result<void> WriteBinding(const Build& build, uint32_t set, const BindingDesc& binding,
                            VkDescriptorSet handle, VkCommandBuffer commands);
  Result<VkImageView> View(const ImageKey& key, VkImageLayout layout, VkCommandBuffer commands);
  Result<VkImageView> Sampled(const Build& build, uint32_t set, const BindingDesc& binding,
                              VkCommandBuffer commands);
  Result<VkBufferView> Texels(const BindingDesc& binding);
  Result<VkSampler> SamplerFor(const Build& build, uint32_t set, const BindingDesc& binding);
  Result<VkSampler> Sampler(uint32_t sampler_class);
  Result<VkBuffer> Zeros(VkDeviceSize bytes);
  void Barrier(VkCommandBuffer commands) const;

  const Device* device_;
  vk::Memory memory_;                                // outlives what lies in it
  std::deque<vk::Buffer> zeros_;                     // the last one is the largest
  std::map<VkFormat, vk::UniqueBufferView> texels_;  // of the first of them
  std::map<ImageKey, SeenImage> images_;
  std::map<uint32_t, vk::UniqueSampler> samplers_;
  std::deque<Pool> pools_;  // ascending values
  vk::Queue queue_;         // waits first when everything goes
};

}  // namespace kiln::runtime
