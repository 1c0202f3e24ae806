// SPDX-License-Identifier: MIT
// ExecutorState: the command buffers of a frame. Every batch is cut at pass boundaries into as many
// as there are threads, so that each has about the same work; where it is cut changes nothing that
// the device sees. See spec/graph 8.2
#include <algorithm>

#include "runtime/graph/execute_state.h"

namespace kiln::graph {
namespace {

constexpr double kUnknownCost = 1000;  // nanoseconds
constexpr double kNewWeight = 0.1;     // of the last time in the running mean

}  // namespace

Result<void> ExecutorState::AddBuffer(CommandLane& lane) const {
  VkCommandBufferAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  info.commandPool = lane.pool.get();
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  VkCommandBuffer made = VK_NULL_HANDLE;
  KILN_TRY_VK(device.table().AllocateCommandBuffers(device.handle(), &info, &made),
              "allocate a command buffer of a graph");
  lane.buffers.push_back(made);
  return {};
}

Result<void> ExecutorState::GrowLanes() {
  for (uint32_t lane = 0; lane < config.record_threads; ++lane) {
    const auto wanted = static_cast<size_t>(
        std::count_if(cuts.begin(), cuts.end(), [&](const Cut& cut) { return cut.lane == lane; }));
    for (CommandSlot& slot : slots) {
      while (slot.lanes[lane].buffers.size() < wanted) {
        KILN_TRY_VOID(AddBuffer(slot.lanes[lane]));
      }
    }
  }
  return {};
}

void ExecutorState::GrowScratch(const Plan& plan) {
  constexpr size_t kAttachments = 8;
  uint32_t entries = 0;
  for (const BarrierPoint& point : plan.points) {
    entries = std::max(entries, point.entries);
  }
  for (RecordScratch& lane : scratch) {
    lane.images.reserve(entries);
    lane.color.reserve(kAttachments);
    lane.signature.color.reserve(kAttachments);
  }
}

Result<VkCommandBuffer> ExecutorState::Begin(CommandLane& lane) const {
  const vk::Table& table = device.table();
  if (lane.used == lane.buffers.size()) {
    KILN_TRY_VOID(AddBuffer(lane));
  }
  const VkCommandBuffer buffer = lane.buffers[lane.used++];
  VkCommandBufferBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  KILN_TRY_VK(table.BeginCommandBuffer(buffer, &begin), "begin a command buffer of a graph");
  return buffer;
}

void ExecutorState::CutBatches(const Plan& plan) {
  cuts.clear();
  pass_costs.resize(plan.positions.size(), 0);
  const auto cost_at = [&](uint32_t position) {
    const double known = pass_costs[plan.PassAt(position)];
    return known == 0 ? kUnknownCost : known;
  };
  for (uint32_t index = 0; index < plan.batches.size(); ++index) {
    const Batch& batch = plan.batches[index];
    double total = 0;
    for (uint32_t position = batch.first; position <= batch.last; ++position) {
      total += cost_at(position);
    }
    const uint32_t parts = std::min(config.record_threads, batch.last - batch.first + 1);
    uint32_t first = batch.first;
    double sum = 0;
    for (uint32_t part = 0; part < parts; ++part) {
      uint32_t last = first;
      sum += cost_at(last);
      const uint32_t left = parts - part - 1;  // each of them has a position at least
      while (last < batch.last - left && (left == 0 || sum < total * (part + 1) / parts)) {
        sum += cost_at(++last);
      }
      cuts.push_back({.batch = index, .first = first, .last = last, .lane = part});
      first = last + 1;
    }
  }
}

Result<void> ExecutorState::RecordCut(FrameRecorder& recorder, const Plan& plan, CommandSlot& slot,
                                      Cut& cut) {
  const vk::Table& table = device.table();
  KILN_TRY(cut.commands, Begin(slot.lanes[cut.lane]));
  if (cut.first == 0) {
    slot.marks.Start(table, cut.commands);
    recorder.ResetHistories(cut.commands);
  }
  for (uint32_t position = cut.first; position <= cut.last; ++position) {
    const Instant begin = Now();
    slot.marks.Before(table, cut.commands, position);
    recorder.RecordPosition(position, cut.commands);
    slot.marks.After(table, cut.commands, position);
    double& cost = pass_costs[plan.PassAt(position)];  // no other thread records this pass
    const double now = NanosecondsBetween(begin, Now());
    cost = cost == 0 ? now : cost + kNewWeight * (now - cost);
  }
  KILN_TRY_VK(table.EndCommandBuffer(cut.commands), "end a command buffer of a graph");
  return {};
}

void ExecutorState::RecordLane(const Plan& plan, const Graph& graph, CommandSlot& slot,
                               uint32_t lane) {
  FrameRecorder recorder(device, objects, slot.ring, plan, graph, scratch[lane], config.labels);
  LaneResult& result = results[lane];
  result = {};
  for (Cut& cut : cuts) {
    if (cut.lane != lane || result.error.has_value()) {
      continue;
    }
    const Result<void> recorded = RecordCut(recorder, plan, slot, cut);
    if (!recorded.ok()) {
      result.error = recorded.error();
    } else if (!recorder.errors().empty()) {
      result.error = recorder.errors().front();
    }
  }
  result.barriers = recorder.barriers;
}

Result<void> ExecutorState::RecordFrame(const Plan& plan, const Graph& graph, CommandSlot& slot) {
  const Instant begin = Now();
  CutBatches(plan);
  KILN_TRY_VOID(GrowLanes());
  GrowScratch(plan);
  if (threads == nullptr || cuts.size() < 2) {
    RecordLane(plan, graph, slot, 0);
    for (size_t lane = 1; lane < results.size(); ++lane) {
      results[lane] = {};
    }
  } else {
    auto work = [&](uint32_t lane) { RecordLane(plan, graph, slot, lane); };
    threads->Run(work);
  }
  metrics.barriers = 0;
  for (const LaneResult& result : results) {
    if (result.error.has_value()) {
      return *result.error;
    }
    metrics.barriers += result.barriers;
  }
  const auto passes = std::max<size_t>(plan.order.size(), 1);
  record_times.Add(NanosecondsBetween(begin, Now()) / static_cast<double>(passes));
  return {};
}

}  // namespace kiln::graph
