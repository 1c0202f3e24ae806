// SPDX-License-Identifier: MIT
// Pipeline state objects, built from metadata and SPIR-V words alone. Equal pipelines are built
// once; one that cannot be had on this device, or that the driver refuses, costs itself and nothing
// else. Spec: pso §4, §7.1
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/digest.h"
#include "runtime/pipeline/pipeline_desc.h"
#include "runtime/pipeline/pipeline_layouts.h"
#include "runtime/vk/device.h"
#include "runtime/vk/unique.h"

namespace kiln::runtime {

// Stable for the life of Pipelines.
struct PipelineId {
  uint32_t index = ~0U;
  friend bool operator==(PipelineId, PipelineId) = default;
};

enum class PipelineState : uint8_t {
  kReady,
  kFailed,       // the driver refused
  kUnsupported,  // the device cannot have it
};

// A SPIR-V module: of one stage, or of all (no stage).
struct ModuleWords {
  std::optional<artifact::Stage> stage;
  std::span<const uint32_t> words;
};

struct PipelineStats {
  size_t added = 0;  // calls of Add that gave an id
  size_t ready = 0;  // distinct pipelines
  size_t failed = 0;
  size_t unsupported = 0;
  size_t saved = 0;    // additions that equal an earlier one
  size_t modules = 0;  // distinct shader modules made
  size_t set_layouts = 0;
  size_t pipeline_layouts = 0;
};

// Add and ReleaseModules: one thread at a time. Get, State, Layouts and Desc: any thread, but not
// while something is added; no lock, no allocation. The device outlives it and does not move.
class Pipelines {
 public:
  explicit Pipelines(const Device& device) : device_(&device), layouts_(device) {}
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  // Builds the pipeline, or finds the equal one. `name` is for messages. Words are read now, not
  // kept. A pipeline that the device or driver refuses has an id, too; State and ErrorOf tell.
  // Errors: METADATA_INCOMPLETE, METADATA_INVALID, SIGNATURE_MISMATCH; an entry point without
  // words.
  Result<PipelineId> Add(std::string_view name, const PipelineMetadata& metadata,
                         std::span<const ModuleWords> modules, const PassSignature& signature);

  // Null unless ready. Requires: an id of this object, here and below.
  VkPipeline Get(PipelineId id) const noexcept;
  PipelineState State(PipelineId id) const noexcept;
  const LayoutSet& Layouts(PipelineId id) const noexcept;
  const PipelineDesc& Desc(PipelineId id) const noexcept;
  // Why it is not ready; nullptr if it is.
  const Error* ErrorOf(PipelineId id) const noexcept;

  // Modules are shared by content while pipelines are being added; this drops them.
  void ReleaseModules() { modules_.clear(); }

  PipelineStats Stats() const;

 private:
  struct Entry {
    PipelineDesc desc;
    LayoutSet layouts;
    vk::UniquePipeline pipeline;
    std::optional<Error> error;
    PipelineState state = PipelineState::kReady;
  };

  void Build(Entry& entry, std::span<const std::span<const uint32_t>> words,
             std::span<const Digest> code);
  Result<void> Create(Entry& entry, std::span<const std::span<const uint32_t>> words,
                      std::span<const Digest> code);
  Result<VkShaderModule> Module(std::span<const uint32_t> words, const Digest& digest);

  const Device* device_;
  PipelineLayouts layouts_;
  std::map<Digest, vk::UniqueShaderModule> modules_;
  std::map<Hash128, PipelineId> by_key_;
  std::vector<std::unique_ptr<Entry>> entries_;  // by PipelineId
  size_t added_ = 0;
  size_t modules_made_ = 0;
};

// The viewport of the whole area as metadata's viewport_y wants it, and a scissor of the same area.
void SetViewportFor(const vk::Table& table, VkCommandBuffer commands, const PipelineDesc& desc,
                    VkExtent2D area);

}  // namespace kiln::runtime
