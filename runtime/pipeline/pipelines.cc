// SPDX-License-Identifier: MIT
#include "runtime/pipeline/pipelines.h"

#include <utility>

#include <fmt/format.h>

#include "runtime/pipeline/canonical_state.h"
#include "runtime/pipeline/create_info.h"
#include "runtime/pipeline/to_vulkan.h"

namespace kiln::runtime {
namespace {

constexpr uint32_t kSpirvMagic = 0x07230203;
constexpr size_t kSpirvHeaderWords = 5;

// The words of every stage of the pipeline, in its order.
Result<std::vector<std::span<const uint32_t>>> WordsOf(const PipelineDesc& desc,
                                                       std::span<const ModuleWords> modules) {
  std::vector<std::span<const uint32_t>> out;
  for (const StageDesc& stage : desc.stages) {
    const ModuleWords* found = nullptr;
    for (const ModuleWords& module : modules) {
      if (!module.stage || ToVulkan(*module.stage) == stage.stage) {
        found = &module;
      }
    }
    if (found == nullptr) {
      return Error{
          ErrorCode::kInvalidArgument,
          fmt::format("'{}': there is no SPIR-V for entry point '{}'", desc.name, stage.entry),
          "METADATA_INCOMPLETE"};
    }
    if (found->words.size() < kSpirvHeaderWords || found->words[0] != kSpirvMagic) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("'{}': the words for entry point '{}' are not SPIR-V", desc.name,
                               stage.entry),
                   "METADATA_INVALID"};
    }
    out.push_back(found->words);
  }
  return out;
}

}  // namespace

Result<VkShaderModule> Pipelines::Module(std::span<const uint32_t> words, const Digest& digest) {
  if (const auto known = modules_.find(digest); known != modules_.end()) {
    return known->second.get();
  }
  VkShaderModuleCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  info.codeSize = words.size_bytes();
  info.pCode = words.data();
  VkShaderModule handle = VK_NULL_HANDLE;
  KILN_TRY_VK(device_->table().CreateShaderModule(device_->handle(), &info, nullptr, &handle),
              "create a shader module");
  modules_.emplace(digest, vk::UniqueShaderModule(device_->table(), device_->handle(), handle));
  ++modules_made_;
  return handle;
}

Result<void> Pipelines::Create(Entry& entry, std::span<const std::span<const uint32_t>> words,
                               std::span<const Digest> code) {
  std::vector<VkShaderModule> modules;
  for (size_t i = 0; i < words.size(); ++i) {
    KILN_TRY(const VkShaderModule module, Module(words[i], code[i]));
    modules.push_back(module);
  }
  const CreateInfo info(entry.desc, device_->caps(), modules, entry.layouts.layout);
  VkPipeline handle = VK_NULL_HANDLE;
  const VkResult result = info.Create(device_->table(), device_->handle(), &handle);
  if (result != VK_SUCCESS) {
    Error error = vk::VulkanError(result, fmt::format("create pipeline '{}' on {}", entry.desc.name,
                                                      device_->identity().name));
    error.reason = "PIPELINE_FAILED";
    return error;
  }
  entry.pipeline = vk::UniquePipeline(device_->table(), device_->handle(), handle);
  return {};
}

void Pipelines::Build(Entry& entry, std::span<const std::span<const uint32_t>> words,
                      std::span<const Digest> code) {
  if (auto fits = CheckDevice(entry.desc, device_->caps()); !fits.ok()) {
    entry.error = std::move(fits).error();
    entry.state = PipelineState::kUnsupported;
    return;
  }
  auto layouts = layouts_.Get(entry.desc);
  if (!layouts.ok()) {
    entry.error = std::move(layouts).error();
    entry.state = PipelineState::kFailed;
    return;
  }
  entry.layouts = *layouts;
  if (auto created = Create(entry, words, code); !created.ok()) {
    entry.error = std::move(created).error();
    entry.state = PipelineState::kFailed;
  }
}

Result<PipelineId> Pipelines::Add(std::string_view name, const PipelineMetadata& metadata,
                                  std::span<const ModuleWords> modules,
                                  const PassSignature& signature) {
  auto entry = std::make_unique<Entry>();
  KILN_TRY(entry->desc, DescFrom(name, metadata, signature));
  KILN_TRY(const auto words, WordsOf(entry->desc, modules));
  std::vector<Digest> code;
  code.reserve(words.size());
  for (const std::span<const uint32_t> module : words) {
    code.push_back(DigestOf(std::as_bytes(module)));
  }
  const Hash128 key = PipelineKey(entry->desc, code);
  ++added_;
  if (const auto known = by_key_.find(key); known != by_key_.end()) {
    return known->second;
  }
  Build(*entry, words, code);
  const PipelineId id{static_cast<uint32_t>(entries_.size())};
  entries_.push_back(std::move(entry));
  by_key_.emplace(key, id);
  return id;
}

VkPipeline Pipelines::Get(PipelineId id) const noexcept {
  return entries_[id.index]->pipeline.get();
}

PipelineState Pipelines::State(PipelineId id) const noexcept { return entries_[id.index]->state; }

const LayoutSet& Pipelines::Layouts(PipelineId id) const noexcept {
  return entries_[id.index]->layouts;
}

const PipelineDesc& Pipelines::Desc(PipelineId id) const noexcept {
  return entries_[id.index]->desc;
}

const Error* Pipelines::ErrorOf(PipelineId id) const noexcept {
  const std::optional<Error>& error = entries_[id.index]->error;
  return error ? &*error : nullptr;
}

PipelineStats Pipelines::Stats() const {
  PipelineStats stats{.added = added_,
                      .saved = added_ - entries_.size(),
                      .modules = modules_made_,
                      .set_layouts = layouts_.set_layout_count(),
                      .pipeline_layouts = layouts_.pipeline_layout_count()};
  for (const auto& entry : entries_) {
    stats.ready += entry->state == PipelineState::kReady ? 1 : 0;
    stats.failed += entry->state == PipelineState::kFailed ? 1 : 0;
    stats.unsupported += entry->state == PipelineState::kUnsupported ? 1 : 0;
  }
  return stats;
}

void SetViewportFor(const vk::Table& table, VkCommandBuffer commands, const PipelineDesc& desc,
                    VkExtent2D area) {
  const auto width = static_cast<float>(area.width);
  const auto height = static_cast<float>(area.height);
  VkViewport viewport{0.0F, 0.0F, width, height, 0.0F, 1.0F};
  if (desc.viewport_y == artifact::ViewportY::kUp) {
    viewport.y = height;
    viewport.height = -height;
  }
  table.CmdSetViewport(commands, 0, 1, &viewport);
  const VkRect2D scissor{{0, 0}, area};
  table.CmdSetScissor(commands, 0, 1, &scissor);
}

}  // namespace kiln::runtime
