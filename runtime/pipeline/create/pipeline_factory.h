// SPDX-License-Identifier: MIT
// Descriptions and words -> Vulkan objects: modules and layouts that are shared, pipelines with the
// driver's feedback. See spec/pso 6.1, 6.3, 7.6, 7.9
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "compiler/base/mutex.h"
#include "runtime/pipeline/create/build.h"
#include "runtime/pipeline/pipeline_layouts.h"
#include "runtime/vk/device.h"

namespace kiln::runtime {

// Whether pipelines can be linked from parts, and quickly so. See spec/pso 7.9
bool CanLinkFast(const DeviceCaps& caps);

// Words of the stages of a description, in its order.
using StageWords = std::vector<std::span<const uint32_t>>;

// Safe from any thread. The device outlives it.
class PipelineFactory {
 public:
  explicit PipelineFactory(const Device& device) : device_(&device), layouts_(device) {}

  // How a pipeline is made: of its own, or only if the driver has it in its caches.
  enum class Mode : uint8_t { kFull, kCachedOnly };

  Result<LayoutSet> Layouts(const PipelineDesc& desc);

  // Requires: build.layouts; CheckDevice succeeded. Sets pipeline, creation and from_cache.
  // Errors: PIPELINE_FAILED, OUT_OF_MEMORY, DEVICE_LOST; COMPILE_REQUIRED with kCachedOnly.
  Result<void> Create(Build& build, const StageWords& words, VkPipelineCache cache, Mode mode);

  // Links the pipeline from parts, making those that are new. Sets fast.
  // Requires: CanLinkFast(device.caps()); a graphics pipeline. Errors: as Create.
  Result<void> CreateFast(Build& build, const StageWords& words, VkPipelineCache cache);

  // Modules are shared by content until somebody calls this.
  void ReleaseModules();

  size_t modules_made() const;
  size_t set_layout_count() const;
  size_t pipeline_layout_count() const;
  size_t library_count() const;

 private:
  using SharedModules = std::vector<std::shared_ptr<vk::UniqueShaderModule>>;

  Result<SharedModules> Modules(const Build& build, const StageWords& words);
  Error Failed(const Build& build, VkResult result) const;

  const Device* device_;
  mutable Mutex mutex_;
  PipelineLayouts layouts_ KILN_GUARDED_BY(mutex_);
  std::map<Digest, std::shared_ptr<vk::UniqueShaderModule>> modules_ KILN_GUARDED_BY(mutex_);
  size_t modules_made_ KILN_GUARDED_BY(mutex_) = 0;
  std::map<Hash128, vk::UniquePipeline> parts_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::runtime
