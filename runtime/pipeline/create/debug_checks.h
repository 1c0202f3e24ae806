// SPDX-License-Identifier: MIT
// Checks of what holds by construction, for those who doubt the construction: the metadata of a
// pipeline against the SPIR-V words it comes with, and its layout hash against the layouts that
// were made. Off unless asked for. See spec/pso 5.4, 6.2.3, 6.3.2
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/mutex.h"
#include "runtime/pipeline/pipeline_desc.h"
#include "runtime/pipeline/pipeline_layouts.h"

namespace kiln::runtime {

// Every location that the vertex stage reads is that of an attribute, every one that the fragment
// stage reads is written by the vertex stage, every one that it writes is that of a color output;
// all of the same kind of number. Pure. Requires: `words` of every stage of `desc`, in its order.
// Errors: METADATA_INVALID naming entry point and location.
Result<void> CheckLocations(const PipelineDesc& desc,
                            std::span<const std::span<const uint32_t>> words);

// What works and yet is hardly meant, one sentence each: components of an attachment that the write
// mask lets through and the shader does not have, so that what they become is undefined. Pure.
std::vector<std::string> LintsOf(const PipelineDesc& desc);

// Equal layout hashes must mean equal objects. Any thread.
class LayoutFamilies {
 public:
  // Remembers the first pipeline of a hash. A hash of zero says nothing.
  // Requires: layouts. Errors: METADATA_INVALID naming both pipelines and the hash.
  Result<void> Check(std::string_view name, const Hash128& hash, const LayoutSet& layouts);

 private:
  struct Family {
    std::string first;  // pipeline
    VkPipelineLayout layout = VK_NULL_HANDLE;
  };
  Mutex mutex_;
  // Stage flags are part of the objects and not of the hash.
  std::map<std::pair<Hash128, VkShaderStageFlags>, Family> families_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::runtime
