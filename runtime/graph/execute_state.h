// SPDX-License-Identifier: MIT
// What an executor keeps: a slot per frame in flight with its command pools and host memory, the
// threads that record, objects, and what is carried from frame to frame. Private to runtime/graph.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/graph/execute.h"
#include "runtime/graph/frame_marks.h"
#include "runtime/graph/record_commands.h"
#include "runtime/graph/record_threads.h"

namespace kiln::graph {

inline constexpr std::chrono::seconds kLongestWait{60};

// Command buffers that one thread records for one frame in flight; reused after their pool was
// reset.
struct CommandLane {
  vk::UniqueCommandPool pool;
  std::vector<VkCommandBuffer> buffers;
  size_t used = 0;
};

// A run of positions of one batch, recorded into one command buffer.
struct Cut {
  uint32_t batch = 0;
  uint32_t first = 0;  // positions, both included
  uint32_t last = 0;
  uint32_t lane = 0;
  VkCommandBuffer commands = VK_NULL_HANDLE;
};

// What became of one thread's part of a frame.
struct LaneResult {
  std::optional<Error> error;
  uint32_t barriers = 0;
};

struct CommandSlot {
  std::vector<CommandLane> lanes;  // by recording thread
  // Signalled with the frame's value of the timeline, and waited for after it: the validation
  // layers of 2022 do not learn from timelines what the host has waited for.
  vk::UniqueFence fence;
  bool pending = false;  // the fence was submitted
  RingSlot ring;
  FrameMarks marks;
};

struct SemaphoreSignal {
  VkSemaphore semaphore;
  uint64_t value;
};

struct ExecutorState {
  ExecutorState(runtime::Device& used_device, const ExecutorConfig& used_config)
      : device(used_device), config(used_config), objects(used_device) {}
  ~ExecutorState();
  ExecutorState(const ExecutorState&) = delete;
  ExecutorState& operator=(const ExecutorState&) = delete;

  Result<void> Start();
  Result<FrameTicket> Run(const Plan& plan, const Graph& graph);
  void Remember(const Plan& plan, const Declarations& rows);
  Result<void> StartSlot(CommandSlot& slot);
  Result<void> WaitFor(uint64_t wanted, std::chrono::nanoseconds timeout) const;
  Result<void> Recycle(CommandSlot& slot) const;
  // Waits until the slot's last frame is done and makes it ready for the next one.
  Result<void> Reuse(CommandSlot& slot, uint64_t last_value);
  Result<void> GrowRings(const Plan& plan);
  // Names the last finished pass, if markers know it.
  Error Explain(Error error) const;

  // record_frame.cc: every batch, cut for the threads; `cuts` then holds the command buffers.
  Result<void> RecordFrame(const Plan& plan, const Graph& graph, CommandSlot& slot);
  void CutBatches(const Plan& plan);
  // Room for the cuts in every slot, and for any pass on every thread: where batches are cut
  // changes, and later frames need not make any.
  Result<void> GrowLanes();
  void GrowScratch(const Plan& plan);
  void RecordLane(const Plan& plan, const Graph& graph, CommandSlot& slot, uint32_t lane);
  Result<void> RecordCut(FrameRecorder& recorder, const Plan& plan, CommandSlot& slot, Cut& cut);
  Result<VkCommandBuffer> Begin(CommandLane& lane) const;
  Result<void> AddBuffer(CommandLane& lane) const;

  // submit.cc
  Result<void> CheckSignals(const Plan& plan, const Declarations& rows) const;
  void RememberSignals(const Plan& plan, const Declarations& rows);
  Result<void> Submit(const Plan& plan, const Declarations& rows, CommandSlot& slot);
  // One position after the other, each waited for.
  Result<void> RunImmediately(const Plan& plan, const Graph& graph, CommandSlot& slot);
  Result<PresentStatus> PresentImages(const Declarations& rows) const;
  void AddUses(const Plan& plan, const Declarations& rows, const Batch& batch, bool waits);
  Result<void> RunOne(CommandSlot& slot, VkCommandBuffer buffer);
  Result<void> SubmitOne(CommandSlot& slot, VkCommandBuffer buffer, uint64_t signal);

  runtime::Device& device;
  ExecutorConfig config;
  DeviceObjects objects;
  VkQueue queue = VK_NULL_HANDLE;
  vk::UniqueSemaphore timeline;
  std::vector<CommandSlot> slots;
  uint64_t frame = 0;                  // the last one submitted
  uint64_t value = 0;                  // of the timeline; frames in immediate mode use several
  std::vector<uint64_t> frame_values;  // by slot
  Carried carried;
  std::vector<uint32_t> object_numbers;
  std::vector<SemaphoreSignal> signalled;
  std::vector<RecordScratch> scratch;  // by recording thread
  std::unique_ptr<RecordThreads> threads;
  std::vector<Cut> cuts;
  std::vector<double> pass_costs;   // by declared pass: mean time of recording; 0: unknown
  std::vector<LaneResult> results;  // by recording thread
  ExecutorMetrics metrics;
  TimeSeries record_times;
  std::vector<PassTime> pass_times;
  std::vector<VkSubmitInfo2> submits;
  std::vector<VkCommandBufferSubmitInfo> commands;
  std::vector<VkSemaphoreSubmitInfo> waits;
  std::vector<VkSemaphoreSubmitInfo> signals;
  // where the ring of the last frame was, for Readback
  size_t last_slot = 0;
  std::vector<uint64_t> ring_offsets;  // by chain
};

}  // namespace kiln::graph
