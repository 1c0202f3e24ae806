// SPDX-License-Identifier: MIT
#include "runtime/graph/execute/frame_recording.h"

#include <algorithm>

namespace kiln::graph {
namespace {

// A pass that was never recorded has no cost yet, and the first value only has to be of the size of
// common ones. The weight is small enough that one frame out of the ordinary does not move all
// cuts.
constexpr double kUnknownCost = 1000;  // nanoseconds
constexpr double kNewWeight = 0.1;     // of the last time in the running mean

}  // namespace

FrameRecording::FrameRecording(runtime::Device& device, DeviceObjects& objects, uint32_t threads,
                               bool labels)
    : device_(device), objects_(objects), labels_(labels), scratch_(threads), results_(threads) {
  if (threads > 1) {
    threads_ = std::make_unique<RecordThreads>(threads);
  }
}

// Room for the cuts in every slot, and for any pass on every thread: where batches are cut changes,
// and later frames need not make any.
Result<void> FrameRecording::GrowLanes(std::vector<CommandSlot>& slots) {
  // Every slot gets the room that this frame needs, so that a later frame in another slot does not
  // allocate.
  for (uint32_t lane = 0; lane < scratch_.size(); ++lane) {
    const auto wanted = static_cast<size_t>(std::count_if(
        cuts_.begin(), cuts_.end(), [&](const Cut& cut) { return cut.lane == lane; }));
    for (CommandSlot& slot : slots) {
      while (slot.lanes[lane].buffers.size() < wanted) {
        KILN_TRY_VOID(AddBuffer(device_, slot.lanes[lane]));
      }
    }
  }
  return {};
}

// Room before the threads begin, as recording should not allocate.
void FrameRecording::GrowScratch(const Plan& plan) {
  constexpr size_t kAttachments = 8;
  uint32_t entries = 0;
  for (const BarrierPoint& point : plan.points) {
    entries = std::max(entries, point.entries);
  }
  for (RecordScratch& lane : scratch_) {
    lane.images.reserve(entries);
    lane.color.reserve(kAttachments);
    lane.signature.color.reserve(kAttachments);
  }
}

// A batch of n passes becomes one cut per thread, each of at least one pass: a pass goes to the
// current cut until the cuts so far have their share of the batch's cost, which is what recording
// the passes took lately. O(passes); a better balance would need to look ahead, and costs of single
// passes vary more from frame to frame than it could win.
void FrameRecording::CutBatches(const Plan& plan) {
  cuts_.clear();
  pass_costs_.resize(plan.positions.size(), 0);
  const auto cost_at = [&](uint32_t position) {
    const double known = pass_costs_[plan.PassAt(position)];
    return known == 0 ? kUnknownCost : known;
  };
  for (uint32_t index = 0; index < plan.batches.size(); ++index) {
    const Batch& batch = plan.batches[index];
    double total = 0;
    for (uint32_t position = batch.first; position <= batch.last; ++position) {
      total += cost_at(position);
    }
    // Never more parts than passes.
    const uint32_t parts =
        std::min(static_cast<uint32_t>(scratch_.size()), batch.last - batch.first + 1);
    uint32_t first = batch.first;
    double sum = 0;
    for (uint32_t part = 0; part < parts; ++part) {
      uint32_t last = first;
      sum += cost_at(last);
      const uint32_t left = parts - part - 1;  // each of them has a position at least
      // The last part takes all that is left, whatever it costs.
      while (last < batch.last - left && (left == 0 || sum < total * (part + 1) / parts)) {
        sum += cost_at(++last);
      }
      cuts_.push_back({.batch = index, .first = first, .last = last, .lane = part});
      first = last + 1;
    }
  }
}

Result<void> FrameRecording::RecordCut(FrameRecorder& recorder, const Plan& plan, CommandSlot& slot,
                                       Cut& cut) {
  const vk::Table& table = device_.table();
  KILN_TRY(cut.commands, BeginBuffer(device_, slot.lanes[cut.lane]));
  // The first cut of the frame also does what comes once.
  // Histories are reset before the first pass, in the buffer that the device executes first.
  if (cut.first == 0) {
    slot.marks.Start(table, cut.commands);
    recorder.ResetHistories(cut.commands);
  }
  for (uint32_t position = cut.first; position <= cut.last; ++position) {
    // Measured while recording: the cost that matters is that of the host.
    const Instant begin = Now();
    slot.marks.Before(table, cut.commands, position);
    recorder.RecordPosition(position, cut.commands);
    slot.marks.After(table, cut.commands, position);
    double& cost = pass_costs_[plan.PassAt(position)];  // no other thread records this pass
    const double now = NanosecondsBetween(begin, Now());
    cost = cost == 0 ? now : cost + kNewWeight * (now - cost);
  }
  KILN_TRY_VK(table.EndCommandBuffer(cut.commands), "end a command buffer of a graph");
  return {};
}

// Each lane has a pool of its own and writes only its own cuts and result, so lanes need no lock.
void FrameRecording::RecordLane(const Plan& plan, const Graph& graph, CommandSlot& slot,
                                uint32_t lane) {
  FrameRecorder recorder = RecorderOf(plan, graph, slot, lane);
  LaneResult& result = results_[lane];
  result = {};
  // After an error the lane does nothing more, and the frame is given up as a whole.
  for (Cut& cut : cuts_) {
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

Result<void> FrameRecording::Record(const Plan& plan, const Graph& graph, CommandSlot& slot,
                                    std::vector<CommandSlot>& slots) {
  const Instant begin = Now();
  CutBatches(plan);
  KILN_TRY_VOID(GrowLanes(slots));
  GrowScratch(plan);
  // With one cut, waking threads up would cost more than they could save.
  if (threads_ == nullptr || cuts_.size() < 2) {
    RecordLane(plan, graph, slot, 0);
    for (size_t lane = 1; lane < results_.size(); ++lane) {
      results_[lane] = {};
    }
  } else {
    auto work = [&](uint32_t lane) { RecordLane(plan, graph, slot, lane); };
    threads_->Run(work);
  }
  barriers_ = 0;
  // The first lane with an error decides, so the message does not depend on which thread was
  // faster.
  for (const LaneResult& result : results_) {
    if (result.error.has_value()) {
      return *result.error;
    }
    barriers_ += result.barriers;
  }
  const auto passes = std::max<size_t>(plan.order.size(), 1);
  times_.Add(NanosecondsBetween(begin, Now()) / static_cast<double>(passes));
  return {};
}

Result<void> FrameRecording::RunHostPasses(const Plan& plan, const Graph& graph,
                                           const CommandSlot& slot) {
  // On the calling thread and with the scratch of lane 0, which nobody uses at that time.
  FrameRecorder host(device_, objects_, slot.ring, plan, graph, scratch_.front(), false);
  host.RunHostPasses();
  if (!host.errors().empty()) {
    return host.errors().front();
  }
  return {};
}

}  // namespace kiln::graph
