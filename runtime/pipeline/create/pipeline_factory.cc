// SPDX-License-Identifier: MIT
#include "runtime/pipeline/create/pipeline_factory.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "runtime/pipeline/create/canonical_state.h"
#include "runtime/pipeline/create/create_info.h"

namespace kiln::runtime {
namespace {

Duration Now() { return std::chrono::steady_clock::now().time_since_epoch(); }

std::vector<Digest> DigestsOf(const Build& build) {
  std::vector<Digest> code;
  code.reserve(build.code.size());
  for (const CodeRef& ref : build.code) {
    code.push_back(ref.digest);
  }
  return code;
}

std::vector<VkShaderModule> HandlesOf(
    const std::vector<std::shared_ptr<vk::UniqueShaderModule>>& modules) {
  std::vector<VkShaderModule> handles;
  handles.reserve(modules.size());
  for (const auto& module : modules) {
    handles.push_back(module->get());
  }
  return handles;
}

}  // namespace

// Devices may have the extension and link slowly; then a link takes as long as a creation and would
// delay it only.
bool CanLinkFast(const DeviceCaps& caps) {
  return caps.fast_linking && caps.HasExtension(VK_EXT_GRAPHICS_PIPELINE_LIBRARY_EXTENSION_NAME);
}

// A lost device keeps its own reason, since it concerns all pipelines and not this one.
Error PipelineFactory::Failed(const Build& build, VkResult result) const {
  Error error = vk::VulkanError(
      result, fmt::format("create pipeline '{}' on {}", build.desc.name, device_->identity().name));
  if (result == VK_PIPELINE_COMPILE_REQUIRED) {
    error.reason = "COMPILE_REQUIRED";
  } else if (result != VK_ERROR_DEVICE_LOST) {
    error.reason = "PIPELINE_FAILED";
  }
  return error;
}

Result<LayoutSet> PipelineFactory::Layouts(const PipelineDesc& desc) {
  const MutexLock lock(mutex_);
  return layouts_.Get(desc);
}

// Modules are made under the lock. It takes little time compared with a pipeline, and two threads
// would otherwise make the same module twice.
Result<PipelineFactory::SharedModules> PipelineFactory::Modules(const Build& build,
                                                                const StageWords& words) {
  SharedModules out;
  const MutexLock lock(mutex_);
  for (size_t i = 0; i < words.size(); ++i) {
    // The caller gets a share of its own, so that ReleaseModules may forget a module while a
    // creation still uses it.
    std::shared_ptr<vk::UniqueShaderModule>& known = modules_[build.code[i].digest];
    if (known == nullptr) {
      // The module is made of the words at once, so they need not outlive this call.
      VkShaderModuleCreateInfo info{};
      info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
      info.codeSize = words[i].size_bytes();
      info.pCode = words[i].data();
      VkShaderModule handle = VK_NULL_HANDLE;
      const VkResult result =
          device_->table().CreateShaderModule(device_->handle(), &info, nullptr, &handle);
      if (result != VK_SUCCESS) {
        // An empty entry would be taken for a module the next time.
        modules_.erase(build.code[i].digest);
        return Failed(build, result);
      }
      known = std::make_shared<vk::UniqueShaderModule>(device_->table(), device_->handle(), handle);
      ++modules_made_;
    }
    out.push_back(known);
  }
  return out;
}

// No lock is held while the driver works: this is the call that takes milliseconds to seconds, and
// all workers make it at the same time.
Result<void> PipelineFactory::Create(Build& build, const StageWords& words, VkPipelineCache cache,
                                     Mode mode) {
  KILN_TRY(const SharedModules modules, Modules(build, words));
  const std::vector<VkShaderModule> handles = HandlesOf(modules);
  const CreateInfo info(build.desc, device_->caps(), handles, build.layouts.layout);
  CreationFeedback feedback;
  VkPipeline handle = VK_NULL_HANDLE;
  const Duration start = Now();
  const VkResult result = info.Create(
      *device_, cache,
      mode == Mode::kCachedOnly ? VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT : 0,
      &feedback, &handle);
  // The time is that of the driver alone: modules and layouts were there before.
  build.creation = Now() - start;
  if (result != VK_SUCCESS) {
    return Failed(build, result);
  }
  build.pipeline = vk::UniquePipeline(device_->table(), device_->handle(), handle);
  // A driver that was asked to fail rather than to compile has not compiled, whatever its feedback
  // says.
  build.from_cache = feedback.cache_hit || mode == Mode::kCachedOnly;
  build.feedback = feedback;
  return {};
}

// Parts are made and linked under the lock. They are meant to be fast, and a part that a second
// pipeline shares must be there before it is linked.
Result<void> PipelineFactory::CreateFast(Build& build, const StageWords& words,
                                         VkPipelineCache cache) {
  KILN_TRY(const SharedModules modules, Modules(build, words));
  const std::vector<VkShaderModule> handles = HandlesOf(modules);
  const CreateInfo info(build.desc, device_->caps(), handles, build.layouts.layout);
  const auto keys = PartKeys(build.desc, DigestsOf(build));
  std::array<VkPipeline, kLibraryParts> parts{};
  const Duration start = Now();
  const MutexLock lock(mutex_);
  for (size_t i = 0; i < kLibraryParts; ++i) {
    vk::UniquePipeline& known = parts_[keys[i]];
    if (!known) {
      VkPipeline handle = VK_NULL_HANDLE;
      const VkResult result =
          info.CreatePart(*device_, cache, static_cast<LibraryPart>(i), &handle);
      if (result != VK_SUCCESS) {
        parts_.erase(keys[i]);
        return Failed(build, result);
      }
      known = vk::UniquePipeline(device_->table(), device_->handle(), handle);
    }
    parts[i] = known.get();
  }
  VkPipeline handle = VK_NULL_HANDLE;
  const VkResult result = info.Link(*device_, cache, parts, &handle);
  build.creation = Now() - start;
  if (result != VK_SUCCESS) {
    return Failed(build, result);
  }
  // The linked pipeline is kept beside the optimised one that follows, since frames in flight may
  // still use it.
  build.fast = vk::UniquePipeline(device_->table(), device_->handle(), handle);
  return {};
}

void PipelineFactory::ReleaseModules() {
  const MutexLock lock(mutex_);
  modules_.clear();  // creations that run keep theirs
}

size_t PipelineFactory::modules_made() const {
  const MutexLock lock(mutex_);
  return modules_made_;
}

size_t PipelineFactory::set_layout_count() const {
  const MutexLock lock(mutex_);
  return layouts_.set_layout_count();
}

size_t PipelineFactory::pipeline_layout_count() const {
  const MutexLock lock(mutex_);
  return layouts_.pipeline_layout_count();
}

size_t PipelineFactory::library_count() const {
  const MutexLock lock(mutex_);
  return parts_.size();
}

}  // namespace kiln::runtime
