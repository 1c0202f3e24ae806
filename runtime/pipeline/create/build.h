// SPDX-License-Identifier: MIT
// One distinct pipeline on its way from description to object. Shared by every id whose key it has;
// built by at most one thread at a time. Internal to this folder.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/clock.h"
#include "runtime/pipeline/artifact_source.h"
#include "runtime/pipeline/pipeline_desc.h"
#include "runtime/pipeline/pipeline_layouts.h"
#include "runtime/pipeline/pipeline_report.h"
#include "runtime/vk/unique.h"

namespace kiln::runtime {

struct Build {
  explicit Build(PipelineDesc description) : desc(std::move(description)) {}

  // Does not change once others see the object.
  const PipelineDesc desc;
  Hash128 key;
  std::vector<CodeRef> code;  // by stage of desc
  uint64_t code_bytes = 0;
  std::vector<ImageHint> hints;
  LayoutSet layouts;

  // Of the thread that has made it kBuilding; readable by others once the state is final.
  std::shared_ptr<const ArtifactSource> source;
  std::optional<Error> error;
  vk::UniquePipeline pipeline;
  vk::UniquePipeline fast;  // kept after the optimised one is there: it may be bound still
  Duration creation = {};
  bool from_cache = false;
  CreationFeedback feedback;
  Lane lane = Lane::kSoon;  // where it waits if nobody says otherwise

  // Of the thread that draws; the first may be read by others.
  std::atomic<Duration> first_use = Duration{};
  uint64_t first_use_value = 0;  // of the submission that makes it; 0: none was made

  std::atomic<PipelineState> state = PipelineState::kQueued;
  std::atomic<VkPipeline> handle = VK_NULL_HANDLE;  // what to bind
  std::atomic<bool> used = false;                   // drawn, or warmed up

  std::atomic<bool> optimising = false;  // of what is kReadyFast
  std::atomic<BuildSource> asked_by = BuildSource::kPack;

  PipelineState State() const { return state.load(std::memory_order_acquire); }
  // There is work to do that nobody does.
  bool Wanted() const {
    const PipelineState now = State();
    return now == PipelineState::kQueued ||
           (now == PipelineState::kReadyFast && !optimising.load(std::memory_order_acquire));
  }
  // Makes the caller the one who builds, or optimises what is kReadyFast; false if somebody else is
  // or was.
  bool Claim() {
    PipelineState queued = PipelineState::kQueued;
    if (state.compare_exchange_strong(queued, PipelineState::kBuilding,
                                      std::memory_order_acq_rel)) {
      return true;
    }
    return queued == PipelineState::kReadyFast && !optimising.exchange(true);
  }
  // Requires for all three: the caller has claimed it.
  void Finish(PipelineState result) {
    source.reset();
    state.store(result, std::memory_order_release);
  }
  void Fail(PipelineState result, Error why) {
    error = std::move(why);
    Finish(result);
  }
  void GiveUp() { state.store(PipelineState::kQueued, std::memory_order_release); }
};

}  // namespace kiln::runtime
