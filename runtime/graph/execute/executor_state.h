// SPDX-License-Identifier: MIT
// What an executor keeps, and a frame from waiting for its slot to carrying over: a slot per frame
// in flight, recording, submission, objects, and what is carried from frame to frame. Private to
// runtime/graph.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/graph/execute.h"
#include "runtime/graph/execute/command_slot.h"
#include "runtime/graph/execute/frame_recording.h"
#include "runtime/graph/execute/submission.h"

namespace kiln::graph {

struct ExecutorState {
  ExecutorState(runtime::Device& used_device, const ExecutorConfig& used_config)
      : device(used_device), config(used_config), objects(used_device) {}
  ~ExecutorState();
  ExecutorState(const ExecutorState&) = delete;
  ExecutorState& operator=(const ExecutorState&) = delete;

  Result<void> Start();
  Result<FrameTicket> Run(const Plan& plan, const Graph& graph);
  Result<void> RunImmediately(const Plan& plan, const Graph& graph, CommandSlot& slot);
  void Remember(const Plan& plan, const Declarations& rows);
  // Waits until the slot's last frame is done and makes it ready for the next one.
  Result<void> Reuse(CommandSlot& slot, uint64_t last_value);
  Result<void> GrowRings(const Plan& plan);
  // Names the last finished pass, if markers know it.
  Error Explain(Error error) const;

  runtime::Device& device;
  ExecutorConfig config;
  DeviceObjects objects;
  std::vector<CommandSlot> slots;
  std::unique_ptr<FrameRecording> recording;  // these two from Start on
  std::unique_ptr<Submission> submission;
  uint64_t frame = 0;                  // the last one submitted
  std::vector<uint64_t> frame_values;  // by slot: of the timeline
  Carried carried;
  std::vector<uint32_t> object_numbers;
  ExecutorMetrics metrics;
  std::vector<PassTime> pass_times;
  // where the ring of the last frame was, for Readback
  size_t last_slot = 0;
  std::vector<uint64_t> ring_offsets;  // by chain
};

}  // namespace kiln::graph
