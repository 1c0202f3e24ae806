// SPDX-License-Identifier: MIT
#include "runtime/graph/execute.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "runtime/graph/execute_state.h"

namespace kiln::graph {

ExecutorState::~ExecutorState() {
  if (timeline && value != 0) {
    const bool done = WaitFor(value, kLongestWait).ok();  // what cannot finish cannot be waited for
    for (size_t i = 0; done && i < slots.size(); ++i) {
      (void)Recycle(slots[i]);  // the timeline may be ahead of the fence
    }
  }
  objects.retired().Collect(~uint64_t{0});
}

Result<void> ExecutorState::Start() {
  const vk::Table& table = device.table();
  table.GetDeviceQueue(device.handle(), device.queue_family(), 0, &queue);
  VkSemaphoreTypeCreateInfo type{};
  type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo semaphore_info{};
  semaphore_info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  semaphore_info.pNext = &type;
  VkSemaphore semaphore = VK_NULL_HANDLE;
  KILN_TRY_VK(table.CreateSemaphore(device.handle(), &semaphore_info, nullptr, &semaphore),
              "create the timeline of a graph");
  timeline = vk::UniqueSemaphore(table, device.handle(), semaphore);
  config.frames_in_flight = std::max(config.frames_in_flight, 1U);
  config.record_threads = std::max(config.record_threads, 1U);
  slots.resize(config.frames_in_flight);
  for (CommandSlot& slot : slots) {
    KILN_TRY_VOID(StartSlot(slot));
  }
  scratch.resize(config.record_threads);
  results.resize(config.record_threads);
  if (config.record_threads > 1) {
    threads = std::make_unique<RecordThreads>(config.record_threads);
  }
  frame_values.assign(config.frames_in_flight, 0);
  config.labels = config.labels && table.CmdBeginDebugUtilsLabelEXT != nullptr &&
                  table.CmdEndDebugUtilsLabelEXT != nullptr;
  return {};
}

Result<void> ExecutorState::StartSlot(CommandSlot& slot) {
  const vk::Table& table = device.table();
  VkCommandPoolCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  info.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
  info.queueFamilyIndex = device.queue_family();
  slot.lanes.resize(config.record_threads);
  for (CommandLane& lane : slot.lanes) {
    VkCommandPool pool = VK_NULL_HANDLE;
    KILN_TRY_VK(table.CreateCommandPool(device.handle(), &info, nullptr, &pool),
                "create a command pool of a graph");
    lane.pool = vk::UniqueCommandPool(table, device.handle(), pool);
  }
  VkFenceCreateInfo fence_info{};
  fence_info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
  VkFence fence = VK_NULL_HANDLE;
  KILN_TRY_VK(table.CreateFence(device.handle(), &fence_info, nullptr, &fence),
              "create a fence of a graph");
  slot.fence = vk::UniqueFence(table, device.handle(), fence);
  return {};
}

Result<void> ExecutorState::WaitFor(uint64_t wanted, std::chrono::nanoseconds timeout) const {
  const VkSemaphore semaphore = timeline.get();
  VkSemaphoreWaitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = &semaphore;
  info.pValues = &wanted;
  const VkResult result =
      device.table().WaitSemaphores(device.handle(), &info, static_cast<uint64_t>(timeout.count()));
  if (result == VK_TIMEOUT) {
    return Error{ErrorCode::kDeadlineExceeded,
                 fmt::format("a frame did not finish within {} ms", timeout.count() / 1'000'000),
                 "DEADLINE"};
  }
  KILN_TRY_VK(result, "wait for a frame");
  return {};
}

// Requires: the timeline has reached the slot's value.
Result<void> ExecutorState::Recycle(CommandSlot& slot) const {
  const VkFence fence = slot.fence.get();
  if (slot.pending) {
    KILN_TRY_VK(device.table().WaitForFences(device.handle(), 1, &fence, VK_TRUE, ~uint64_t{0}),
                "wait for a frame's fence");
    KILN_TRY_VK(device.table().ResetFences(device.handle(), 1, &fence), "reset a frame's fence");
    slot.pending = false;
  }
  return {};
}

Result<void> ExecutorState::Reuse(CommandSlot& slot, uint64_t last_value) {
  KILN_TRY_VOID(WaitFor(last_value, kLongestWait));
  KILN_TRY_VOID(Recycle(slot));
  slot.marks.ReadTimes(device, pass_times);
  for (CommandLane& lane : slot.lanes) {
    KILN_TRY_VK(device.table().ResetCommandPool(device.handle(), lane.pool.get(), 0),
                "reset a command pool of a graph");
    lane.used = 0;
  }
  return {};
}

// Adds the pass that finished last to a lost device; the latest frame that knows one decides.
Error ExecutorState::Explain(Error error) const {
  for (size_t age = 0; error.reason == "DEVICE_LOST" && age < slots.size(); ++age) {
    const CommandSlot& slot = slots[(frame + slots.size() - age) % slots.size()];
    if (const std::optional<std::string> last = slot.marks.LastFinished()) {
      error.context += "; " + *last;
      break;
    }
  }
  return error;
}

// Host memory only grows, in all slots at once, so that a frame that fits once always does. Frames
// in flight keep what they have.
Result<void> ExecutorState::GrowRings(const Plan& plan) {
  constexpr VkBufferUsageFlags kUsages =
      VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
      VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
      VK_BUFFER_USAGE_INDEX_BUFFER_BIT | VK_BUFFER_USAGE_VERTEX_BUFFER_BIT |
      VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;
  const auto grow = [&](vk::Buffer& buffer, uint64_t bytes, vk::MemoryUse use) -> Result<void> {
    if (bytes > buffer.size) {
      KILN_TRY(vk::Buffer grown, vk::CreateBuffer(device, objects.memory(), bytes, kUsages, use));
      objects.retired().Add(frame, std::exchange(buffer, std::move(grown)));
    }
    return {};
  };
  for (CommandSlot& slot : slots) {
    KILN_TRY_VOID(grow(slot.ring.upload, plan.metrics.upload_bytes, vk::MemoryUse::kUpload));
    KILN_TRY_VOID(grow(slot.ring.readback, plan.metrics.readback_bytes, vk::MemoryUse::kReadback));
  }
  return {};
}

Executor::Executor(std::unique_ptr<ExecutorState> state) : state_(std::move(state)) {}
Executor::Executor(Executor&&) noexcept = default;
Executor::~Executor() = default;

Result<Executor> Executor::Create(runtime::Device& device, const ExecutorConfig& config) {
  auto state = std::make_unique<ExecutorState>(device, config);
  KILN_TRY_VOID(state->Start());
  return Executor(std::move(state));
}

Result<FrameTicket> Executor::Execute(const Plan& plan, const Graph& graph) {
  Result<FrameTicket> ticket = state_->Run(plan, graph);
  return ticket.ok() ? std::move(ticket) : state_->Explain(ticket.error());
}

Result<FrameTicket> ExecutorState::Run(const Plan& plan, const Graph& graph) {
  const Declarations& rows = graph.rows();
  const uint64_t next = frame + 1;
  const size_t index = next % slots.size();
  CommandSlot& slot = slots[index];
  KILN_TRY_VOID(CheckSignals(plan, rows));
  KILN_TRY_VOID(Reuse(slot, frame_values[index]));
  KILN_TRY_VOID(GrowRings(plan));
  KILN_TRY_VOID(slot.marks.Prepare(device, objects.memory(), plan, rows, config));
  BindObjects(plan, carried, object_numbers);
  KILN_TRY_VOID(objects.Prepare(plan, rows, object_numbers, next));
  FrameRecorder host(device, objects, slot.ring, plan, graph, scratch.front(), false);
  host.RunHostPasses();
  if (!host.errors().empty()) {
    return host.errors().front();
  }
  if (config.immediate) {
    KILN_TRY_VOID(RunImmediately(plan, graph, slot));
  } else {
    KILN_TRY_VOID(RecordFrame(plan, graph, slot));
    KILN_TRY_VOID(Submit(plan, rows, slot));
  }
  slot.marks.Submitted();
  const Result<PresentStatus> present = PresentImages(rows);
  frame = next;
  frame_values[index] = value;
  last_slot = index;
  Remember(plan, rows);
  if (!present.ok()) {
    return present.error();  // what was submitted is carried on all the same
  }
  return FrameTicket{.value = value, .present = *present};
}

// What the frames after a submitted one need to know of it.
void ExecutorState::Remember(const Plan& plan, const Declarations& rows) {
  ring_offsets.resize(plan.chains.size());
  for (size_t chain = 0; chain < plan.chains.size(); ++chain) {
    ring_offsets[chain] = plan.chains[chain].offset;
  }
  RememberSignals(plan, rows);
  Commit(plan, rows.frame, object_numbers, carried);
  const uint64_t in_flight = slots.size();
  objects.Collect(frame, frame > in_flight ? frame - in_flight : 0);
  metrics.committed_bytes = objects.committed;
  metrics.images_created = objects.created;
  metrics.images_destroyed = objects.destroyed;
  metrics.batches = static_cast<uint32_t>(plan.batches.size());
  metrics.command_buffers = 0;
  for (const CommandLane& lane : slots[last_slot].lanes) {
    metrics.command_buffers += static_cast<uint32_t>(lane.used);
  }
}

bool Executor::Done(FrameTicket ticket) const {
  uint64_t reached = 0;
  const VkResult result = state_->device.table().GetSemaphoreCounterValue(
      state_->device.handle(), state_->timeline.get(), &reached);
  return result == VK_SUCCESS && reached >= ticket.value;
}

Result<void> Executor::Wait(FrameTicket ticket, std::chrono::nanoseconds timeout) {
  const Result<void> done = state_->WaitFor(ticket.value, timeout);
  return done.ok() ? done : state_->Explain(done.error());
}

const std::vector<PassTime>& Executor::PassTimes() const { return state_->pass_times; }
const TimeSeries& Executor::record_times() const { return state_->record_times; }

BoundBuffer Executor::Readback(const Graph& graph, BufferId id) const {
  const uint32_t version = graph.Find(id);
  if (version == kNone) {
    return {};
  }
  const uint32_t chain = graph.rows().versions[version].chain;
  const vk::Buffer& ring = state_->slots[state_->last_slot].ring.readback;
  const uint64_t offset = state_->ring_offsets[chain];
  if (graph.rows().chains[chain].memory != MemoryKind::kReadback || offset >= ring.size) {
    return {};
  }
  return {.buffer = ring.handle.get(),
          .offset = offset,
          .size = graph.rows().chains[chain].size,
          .mapped = ring.mapped().data() + offset};
}

const Carried& Executor::carried() const { return state_->carried; }
const ExecutorMetrics& Executor::metrics() const { return state_->metrics; }

}  // namespace kiln::graph
