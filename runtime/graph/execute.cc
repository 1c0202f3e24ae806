// SPDX-License-Identifier: MIT
#include "runtime/graph/execute.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "runtime/graph/record.h"
#include "runtime/graph/synchronization.h"

namespace kiln::graph {
namespace {

constexpr std::chrono::seconds kLongest{60};

// Command buffers of one frame in flight; reused after their pool was reset.
struct CommandSlot {
  vk::UniqueCommandPool pool;
  // Signalled with the frame's value of the timeline, and waited for after it: the validation
  // layers of 2022 do not learn from timelines what the host has waited for.
  vk::UniqueFence fence;
  bool pending = false;  // the fence was submitted
  std::vector<VkCommandBuffer> buffers;
  size_t used = 0;
  RingSlot ring;
};

struct SignalledValue {
  VkSemaphore semaphore;
  uint64_t value;
};

}  // namespace

struct ExecutorState {
  ExecutorState(runtime::Device& used_device, const ExecutorConfig& used_config)
      : device(used_device), config(used_config), objects(used_device) {}
  ~ExecutorState();
  ExecutorState(const ExecutorState&) = delete;
  ExecutorState& operator=(const ExecutorState&) = delete;

  Result<void> Start();
  Result<void> WaitFor(uint64_t value, std::chrono::nanoseconds timeout) const;
  Result<VkCommandBuffer> Begin(CommandSlot& slot);
  Result<void> GrowRing(const Plan& plan, RingSlot& ring);
  Result<void> CheckSignals(const Plan& plan, const Declarations& rows) const;
  void RememberSignals(const Plan& plan, const Declarations& rows);
  Result<void> Record(FrameRecorder& recorder, const Plan& plan, CommandSlot& slot);
  Result<void> RecordBatch(FrameRecorder& recorder, const Batch& batch, CommandSlot& slot,
                           bool first);
  Result<void> Submit(const Plan& plan, const Declarations& rows, CommandSlot& slot);
  Result<void> RunImmediately(FrameRecorder& recorder, const Plan& plan, const Declarations& rows,
                              CommandSlot& slot);
  Result<PresentStatus> PresentImages(const Declarations& rows) const;
  void AddUses(const Plan& plan, const Declarations& rows, uint32_t first, uint32_t count,
               bool wait);
  Result<void> RunOne(CommandSlot& slot, VkCommandBuffer commands);
  Result<void> SubmitOne(CommandSlot& slot, VkCommandBuffer commands, uint64_t signal);
  Result<void> Recycle(CommandSlot& slot) const;

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
  std::vector<SignalledValue> signalled;
  RecordScratch scratch;
  ExecutorMetrics metrics;
  std::vector<VkSubmitInfo2> submits;
  std::vector<VkCommandBufferSubmitInfo> commands;
  std::vector<VkSemaphoreSubmitInfo> waits;
  std::vector<VkSemaphoreSubmitInfo> signals;
  // where the ring of the last frame was, for Readback
  size_t last_slot = 0;
  std::vector<uint64_t> ring_offsets;  // by chain
};

ExecutorState::~ExecutorState() {
  if (timeline && value != 0) {
    const bool done = WaitFor(value, kLongest).ok();  // what cannot finish cannot be waited for
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
  for (uint32_t i = 0; i < config.frames_in_flight; ++i) {
    VkCommandPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    info.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
    info.queueFamilyIndex = device.queue_family();
    VkCommandPool pool = VK_NULL_HANDLE;
    KILN_TRY_VK(table.CreateCommandPool(device.handle(), &info, nullptr, &pool),
                "create a command pool of a graph");
    CommandSlot& slot = slots.emplace_back();
    slot.pool = vk::UniqueCommandPool(table, device.handle(), pool);
    VkFenceCreateInfo fence_info{};
    fence_info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
    VkFence fence = VK_NULL_HANDLE;
    KILN_TRY_VK(table.CreateFence(device.handle(), &fence_info, nullptr, &fence),
                "create a fence of a graph");
    slot.fence = vk::UniqueFence(table, device.handle(), fence);
  }
  frame_values.assign(config.frames_in_flight, 0);
  config.labels = config.labels && table.CmdBeginDebugUtilsLabelEXT != nullptr &&
                  table.CmdEndDebugUtilsLabelEXT != nullptr;
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

Result<VkCommandBuffer> ExecutorState::Begin(CommandSlot& slot) {
  const vk::Table& table = device.table();
  if (slot.used == slot.buffers.size()) {
    VkCommandBufferAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    info.commandPool = slot.pool.get();
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    VkCommandBuffer made = VK_NULL_HANDLE;
    KILN_TRY_VK(table.AllocateCommandBuffers(device.handle(), &info, &made),
                "allocate a command buffer of a graph");
    slot.buffers.push_back(made);
  }
  const VkCommandBuffer buffer = slot.buffers[slot.used++];
  VkCommandBufferBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  KILN_TRY_VK(table.BeginCommandBuffer(buffer, &begin), "begin a command buffer of a graph");
  return buffer;
}

// Host memory of a slot only grows; no unfinished frame uses it any more.
Result<void> ExecutorState::GrowRing(const Plan& plan, RingSlot& ring) {
  constexpr VkBufferUsageFlags kUsages =
      VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
      VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
      VK_BUFFER_USAGE_INDEX_BUFFER_BIT | VK_BUFFER_USAGE_VERTEX_BUFFER_BIT |
      VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;
  if (plan.metrics.upload_bytes > ring.upload.size) {
    ring.upload = {};
    KILN_TRY(ring.upload, vk::CreateBuffer(device, objects.memory(), plan.metrics.upload_bytes,
                                           kUsages, vk::MemoryUse::kUpload));
  }
  if (plan.metrics.readback_bytes > ring.readback.size) {
    ring.readback = {};
    KILN_TRY(ring.readback, vk::CreateBuffer(device, objects.memory(), plan.metrics.readback_bytes,
                                             kUsages, vk::MemoryUse::kReadback));
  }
  return {};
}

// Values of a timeline grow from frame to frame.
Result<void> ExecutorState::CheckSignals(const Plan& plan, const Declarations& rows) const {
  for (const uint32_t use : plan.signals) {
    const SemaphoreRow& row = rows.semaphore_uses[use];
    for (const SignalledValue& before : signalled) {
      if (row.value != 0 && before.semaphore == rows.semaphores[row.semaphore] &&
          row.value <= before.value) {
        return Error{ErrorCode::kInvalidArgument,
                     fmt::format("SEMAPHORE_VALUE: pass '{}' signals {} after {}",
                                 rows.PassName(row.pass), row.value, before.value),
                     "SEMAPHORE_VALUE"};
      }
    }
  }
  return {};
}

void ExecutorState::RememberSignals(const Plan& plan, const Declarations& rows) {
  for (const uint32_t use : plan.signals) {
    const SemaphoreRow& row = rows.semaphore_uses[use];
    if (row.value == 0) {
      continue;
    }
    const VkSemaphore semaphore = rows.semaphores[row.semaphore];
    const auto known =
        std::find_if(signalled.begin(), signalled.end(),
                     [&](const SignalledValue& before) { return before.semaphore == semaphore; });
    if (known == signalled.end()) {
      signalled.push_back({semaphore, row.value});
    } else {
      known->value = std::max(known->value, row.value);
    }
  }
}

Result<void> ExecutorState::RecordBatch(FrameRecorder& recorder, const Batch& batch,
                                        CommandSlot& slot, bool first) {
  KILN_TRY(const VkCommandBuffer buffer, Begin(slot));
  if (first) {
    recorder.ResetHistories(buffer);
  }
  for (uint32_t position = batch.first; position <= batch.last; ++position) {
    recorder.RecordPosition(position, buffer);
  }
  KILN_TRY_VK(device.table().EndCommandBuffer(buffer), "end a command buffer of a graph");
  return {};
}

Result<void> ExecutorState::Record(FrameRecorder& recorder, const Plan& plan, CommandSlot& slot) {
  for (size_t i = 0; i < plan.batches.size(); ++i) {
    KILN_TRY_VOID(RecordBatch(recorder, plan.batches[i], slot, i == 0));
  }
  if (!recorder.errors().empty()) {
    return recorder.errors().front();
  }
  return {};
}

void ExecutorState::AddUses(const Plan& plan, const Declarations& rows, uint32_t first,
                            uint32_t count, bool wait) {
  for (uint32_t i = first; i < first + count; ++i) {
    const SemaphoreRow& row = rows.semaphore_uses[wait ? plan.waits[i] : plan.signals[i]];
    VkSemaphoreSubmitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
    info.semaphore = rows.semaphores[row.semaphore];
    info.value = row.value;
    info.stageMask = CombinedStages(row.stages);
    (wait ? waits : signals).push_back(info);
  }
}

Result<void> ExecutorState::Submit(const Plan& plan, const Declarations& rows, CommandSlot& slot) {
  submits.clear();
  commands.clear();
  waits.clear();
  signals.clear();
  const size_t count = std::max<size_t>(plan.batches.size(), 1);
  commands.reserve(count);
  waits.reserve(plan.waits.size());
  signals.reserve(plan.signals.size() + 1);
  for (size_t i = 0; i < count; ++i) {
    VkSubmitInfo2 submit{};
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
    submit.pWaitSemaphoreInfos = waits.data() + waits.size();
    submit.pSignalSemaphoreInfos = signals.data() + signals.size();
    submit.pCommandBufferInfos = commands.data() + commands.size();
    if (i < plan.batches.size()) {
      const Batch& batch = plan.batches[i];
      AddUses(plan, rows, batch.first_wait, batch.waits, true);
      AddUses(plan, rows, batch.first_signal, batch.signals, false);
      VkCommandBufferSubmitInfo info{};
      info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO;
      info.commandBuffer = slot.buffers[i];
      commands.push_back(info);
      submit.waitSemaphoreInfoCount = batch.waits;
      submit.signalSemaphoreInfoCount = batch.signals;
      submit.commandBufferInfoCount = 1;
    }
    if (i + 1 == count) {
      VkSemaphoreSubmitInfo info{};
      info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
      info.semaphore = timeline.get();
      info.value = value + 1;
      info.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
      signals.push_back(info);
      ++submit.signalSemaphoreInfoCount;
    }
    submits.push_back(submit);
  }
  KILN_TRY_VK(device.table().QueueSubmit2(queue, static_cast<uint32_t>(submits.size()),
                                          submits.data(), slot.fence.get()),
              "submit a frame");
  slot.pending = true;
  ++value;
  return {};
}

// One position after the other, each waited for: a crash names its pass, and a missing barrier does
// no harm.
Result<void> ExecutorState::RunImmediately(FrameRecorder& recorder, const Plan& plan,
                                           const Declarations& rows, CommandSlot& slot) {
  for (const Batch& batch : plan.batches) {
    for (uint32_t position = batch.first; position <= batch.last; ++position) {
      const Batch one{.first = position, .last = position};
      const size_t index = slot.used;
      KILN_TRY_VOID(RecordBatch(recorder, one, slot, position == 0));
      if (!recorder.errors().empty()) {
        return recorder.errors().front();
      }
      waits.clear();
      signals.clear();
      if (position == batch.first) {
        AddUses(plan, rows, batch.first_wait, batch.waits, true);
      }
      if (position == batch.last) {
        AddUses(plan, rows, batch.first_signal, batch.signals, false);
      }
      const Result<void> done = RunOne(slot, slot.buffers[index]);
      if (!done.ok()) {
        Error error = done.error();
        error.context += fmt::format(" (pass '{}')", rows.PassName(plan.PassAt(position)));
        return error;
      }
    }
  }
  return {};
}

Result<void> ExecutorState::RunOne(CommandSlot& slot, VkCommandBuffer buffer) {
  KILN_TRY_VOID(SubmitOne(slot, buffer, value + 1));
  KILN_TRY_VOID(WaitFor(++value, kLongest));
  return Recycle(slot);
}

Result<void> ExecutorState::SubmitOne(CommandSlot& slot, VkCommandBuffer buffer, uint64_t signal) {
  VkSemaphoreSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
  info.semaphore = timeline.get();
  info.value = signal;
  info.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  signals.push_back(info);
  VkCommandBufferSubmitInfo command{};
  command.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO;
  command.commandBuffer = buffer;
  VkSubmitInfo2 submit{};
  submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
  submit.waitSemaphoreInfoCount = static_cast<uint32_t>(waits.size());
  submit.pWaitSemaphoreInfos = waits.data();
  submit.commandBufferInfoCount = 1;
  submit.pCommandBufferInfos = &command;
  submit.signalSemaphoreInfoCount = static_cast<uint32_t>(signals.size());
  submit.pSignalSemaphoreInfos = signals.data();
  KILN_TRY_VK(device.table().QueueSubmit2(queue, 1, &submit, slot.fence.get()), "submit a pass");
  slot.pending = true;
  return {};
}

// Presentations without a swapchain are those of tests: the semaphore is all they get.
Result<PresentStatus> ExecutorState::PresentImages(const Declarations& rows) const {
  PresentStatus status = PresentStatus::kNone;
  for (const PresentRow& present : rows.presents) {
    if (present.swapchain == VK_NULL_HANDLE || device.table().QueuePresentKHR == nullptr) {
      status = PresentStatus::kPresented;
      continue;
    }
    VkPresentInfoKHR info{};
    info.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR;
    info.waitSemaphoreCount = 1;
    info.pWaitSemaphores = &present.present;
    info.swapchainCount = 1;
    info.pSwapchains = &present.swapchain;
    info.pImageIndices = &present.image_index;
    const VkResult result = device.table().QueuePresentKHR(queue, &info);
    if (result != VK_SUCCESS && result != VK_SUBOPTIMAL_KHR && result != VK_ERROR_OUT_OF_DATE_KHR) {
      return vk::VulkanError(result, "present a frame");
    }
    status = result == VK_SUCCESS          ? PresentStatus::kPresented
             : result == VK_SUBOPTIMAL_KHR ? PresentStatus::kSuboptimal
                                           : PresentStatus::kOutOfDate;
  }
  return status;
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
  ExecutorState& s = *state_;
  const Declarations& rows = graph.rows();
  const uint64_t frame = s.frame + 1;
  const size_t index = frame % s.slots.size();
  CommandSlot& slot = s.slots[index];
  KILN_TRY_VOID(s.CheckSignals(plan, rows));
  KILN_TRY_VOID(s.WaitFor(s.frame_values[index], kLongest));
  KILN_TRY_VOID(s.Recycle(slot));
  KILN_TRY_VK(s.device.table().ResetCommandPool(s.device.handle(), slot.pool.get(), 0),
              "reset a command pool of a graph");
  slot.used = 0;
  KILN_TRY_VOID(s.GrowRing(plan, slot.ring));
  BindObjects(plan, s.carried, s.object_numbers);
  KILN_TRY_VOID(s.objects.Prepare(plan, rows, s.object_numbers, frame));
  FrameRecorder recorder(s.device, s.objects, slot.ring, plan, graph, s.scratch, s.config.labels);
  recorder.RunHostPasses();
  if (!recorder.errors().empty()) {
    return recorder.errors().front();
  }
  if (s.config.immediate) {
    KILN_TRY_VOID(s.RunImmediately(recorder, plan, rows, slot));
  } else {
    KILN_TRY_VOID(s.Record(recorder, plan, slot));
    KILN_TRY_VOID(s.Submit(plan, rows, slot));
  }
  const Result<PresentStatus> present = s.PresentImages(rows);
  s.frame = frame;
  s.frame_values[index] = s.value;
  s.last_slot = index;
  s.ring_offsets.resize(plan.chains.size());
  for (size_t chain = 0; chain < plan.chains.size(); ++chain) {
    s.ring_offsets[chain] = plan.chains[chain].offset;
  }
  s.RememberSignals(plan, rows);
  Commit(plan, rows.frame, s.object_numbers, s.carried);
  const uint64_t in_flight = s.slots.size();
  s.objects.Collect(frame, frame > in_flight ? frame - in_flight : 0);
  s.metrics = {.committed_bytes = s.objects.committed,
               .images_created = s.objects.created,
               .images_destroyed = s.objects.destroyed,
               .command_buffers = static_cast<uint32_t>(slot.used),
               .barriers = recorder.barriers};
  if (!present.ok()) {
    return present.error();  // what was submitted is carried on all the same
  }
  return FrameTicket{.value = s.value, .present = *present};
}

bool Executor::Done(FrameTicket ticket) const {
  uint64_t reached = 0;
  const VkResult result = state_->device.table().GetSemaphoreCounterValue(
      state_->device.handle(), state_->timeline.get(), &reached);
  return result == VK_SUCCESS && reached >= ticket.value;
}

Result<void> Executor::Wait(FrameTicket ticket, std::chrono::nanoseconds timeout) {
  return state_->WaitFor(ticket.value, timeout);
}

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
