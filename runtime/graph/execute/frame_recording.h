// SPDX-License-Identifier: MIT
// The command buffers of a frame. Every batch is cut at pass boundaries into as many as there are
// threads, so that each has about the same work; where it is cut changes nothing that the device
// sees. See spec/graph 8.2. Private to runtime/graph.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/graph/execute/command_slot.h"
#include "runtime/graph/execute/record_threads.h"

namespace kiln::graph {

// A run of positions of one batch, recorded into one command buffer.
struct Cut {
  uint32_t batch = 0;
  uint32_t first = 0;  // positions, both included
  uint32_t last = 0;
  uint32_t lane = 0;
  VkCommandBuffer commands = VK_NULL_HANDLE;
};

class FrameRecording {
 public:
  // Labels need an instance that has them.
  FrameRecording(runtime::Device& device, DeviceObjects& objects, uint32_t threads, bool labels);

  // Passes without commands, which the host runs before anything is recorded.
  Result<void> RunHostPasses(const Plan& plan, const Graph& graph, const CommandSlot& slot);
  // Every batch into command buffers of the slot; `slots` are all that there are, which then have
  // room for as many.
  Result<void> Record(const Plan& plan, const Graph& graph, CommandSlot& slot,
                      std::vector<CommandSlot>& slots);
  // One position after the other, each into a command buffer that `run` gets with the batch and the
  // position.
  template <class Run>
  Result<void> RecordEach(const Plan& plan, const Graph& graph, CommandSlot& slot, Run&& run) {
    FrameRecorder recorder = RecorderOf(plan, graph, slot, 0);
    pass_costs_.resize(plan.positions.size(), 0);
    for (uint32_t index = 0; index < plan.batches.size(); ++index) {
      const Batch& batch = plan.batches[index];
      for (uint32_t position = batch.first; position <= batch.last; ++position) {
        Cut cut{.batch = index, .first = position, .last = position};
        KILN_TRY_VOID(RecordCut(recorder, plan, slot, cut));
        if (!recorder.errors().empty()) {
          return recorder.errors().front();
        }
        KILN_TRY_VOID(run(batch, position, cut.commands));
      }
    }
    barriers_ = recorder.barriers;
    return {};
  }

  // Of the frame that was recorded last, in the order of its batches.
  const std::vector<Cut>& cuts() const { return cuts_; }
  uint32_t barriers() const { return barriers_; }
  const TimeSeries& times() const { return times_; }  // nanoseconds per pass

 private:
  // What became of one thread's part of a frame.
  struct LaneResult {
    std::optional<Error> error;
    uint32_t barriers = 0;
  };

  FrameRecorder RecorderOf(const Plan& plan, const Graph& graph, const CommandSlot& slot,
                           uint32_t lane) {
    return {device_, objects_, slot.ring, plan, graph, scratch_[lane], labels_};
  }
  void CutBatches(const Plan& plan);
  Result<void> GrowLanes(std::vector<CommandSlot>& slots);
  void GrowScratch(const Plan& plan);
  void RecordLane(const Plan& plan, const Graph& graph, CommandSlot& slot, uint32_t lane);
  Result<void> RecordCut(FrameRecorder& recorder, const Plan& plan, CommandSlot& slot, Cut& cut);

  runtime::Device& device_;
  DeviceObjects& objects_;
  const bool labels_;
  std::vector<RecordScratch> scratch_;      // by recording thread
  std::vector<LaneResult> results_;         // by recording thread
  std::unique_ptr<RecordThreads> threads_;  // null: one thread
  std::vector<Cut> cuts_;
  std::vector<double> pass_costs_;  // by declared pass: mean time of recording; 0: unknown
  uint32_t barriers_ = 0;
  TimeSeries times_;
};

}  // namespace kiln::graph
