// SPDX-License-Identifier: MIT
// Timestamps and marks of one frame in flight: how long each pass took, and how far the device came
// before it was lost. Each slot of the executor has its own, so a frame reads its results when its
// slot comes round again.
#include "runtime/graph/execute/frame_marks.h"

#include <cstring>

#include <fmt/format.h>

namespace kiln::graph {
namespace {

// Two words for each pass: begun and finished.
constexpr VkDeviceSize kMarkBytes = 2 * sizeof(uint32_t);
constexpr uint32_t kMark = 1;

}  // namespace

// Two timestamps for each pass. The pool grows with the largest frame and never shrinks.
Result<void> FrameMarks::GrowQueries(const runtime::Device& device) {
  const auto wanted = static_cast<uint32_t>(2 * names_.size());
  if (wanted <= query_room_) {
    return {};
  }
  VkQueryPoolCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
  info.queryType = VK_QUERY_TYPE_TIMESTAMP;
  info.queryCount = wanted;
  VkQueryPool pool = VK_NULL_HANDLE;
  KILN_TRY_VK(device.table().CreateQueryPool(device.handle(), &info, nullptr, &pool),
              "create the timestamps of a frame");
  queries_ = vk::UniqueQueryPool(device.table(), device.handle(), pool);
  query_room_ = wanted;
  return {};
}

// Requires that the slot's last frame is done on the device, because its queries and marks are
// overwritten.
Result<void> FrameMarks::Prepare(const runtime::Device& device, vk::Memory& memory,
                                 const Plan& plan, const Declarations& rows,
                                 const ExecutorConfig& config) {
  submitted_ = false;
  // Devices without that limit may have no timestamps on this queue.
  timestamps_ = config.timestamps && plan.device_passes() != 0 &&
                device.caps().limits.timestampComputeAndGraphics == VK_TRUE;
  markers_ = config.markers && plan.device_passes() != 0;
  if (!timestamps_ && !markers_) {
    return {};
  }
  // Names are copied, because the frame that is asked about may be gone when its marks are read.
  names_.clear();
  text_.clear();
  for (uint32_t position = 0; position < plan.device_passes(); ++position) {
    const std::string_view name = rows.PassName(plan.PassAt(position));
    names_.push_back({static_cast<uint32_t>(text_.size()), static_cast<uint32_t>(name.size())});
    text_.insert(text_.end(), name.begin(), name.end());
  }
  if (timestamps_) {
    KILN_TRY_VOID(GrowQueries(device));
  }
  if (markers_) {
    const VkDeviceSize bytes = kMarkBytes * names_.size();
    // Grown and never made smaller; the old buffer is not in use, as the slot was waited for.
    if (bytes > marks_.size) {
      marks_ = {};
      KILN_TRY(marks_, vk::CreateBuffer(device, memory, bytes, VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                        vk::MemoryUse::kReadback));
    }
    std::memset(marks_.mapped().data(), 0, static_cast<size_t>(bytes));
  }
  return {};
}

// Queries must be reset before each use, and outside of rendering; the first command of the frame
// is the place.
void FrameMarks::Start(const vk::Table& table, VkCommandBuffer commands) const {
  if (timestamps_) {
    table.CmdResetQueryPool(commands, queries_.get(), 0, static_cast<uint32_t>(2 * names_.size()));
  }
}

// Marks are written by the device in order with the commands, so they tell how far it came.
void FrameMarks::Before(const vk::Table& table, VkCommandBuffer commands, uint32_t position) const {
  if (markers_) {
    table.CmdFillBuffer(commands, marks_.handle.get(), kMarkBytes * position, sizeof(uint32_t),
                        kMark);
  }
  if (timestamps_) {
    table.CmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, queries_.get(),
                             2 * position);
  }
}

void FrameMarks::After(const vk::Table& table, VkCommandBuffer commands, uint32_t position) const {
  if (timestamps_) {
    table.CmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, queries_.get(),
                             2 * position + 1);
  }
  if (markers_) {
    table.CmdFillBuffer(commands, marks_.handle.get(), kMarkBytes * position + sizeof(uint32_t),
                        sizeof(uint32_t), kMark);
  }
}

// The slot was waited for, so the results are there, and asking for them does not block.
void FrameMarks::ReadTimes(const runtime::Device& device, std::vector<PassTime>& times) const {
  if (!timestamps_ || !submitted_) {
    return;
  }
  ticks_.resize(2 * names_.size());
  const VkResult result = device.table().GetQueryPoolResults(
      device.handle(), queries_.get(), 0, static_cast<uint32_t>(ticks_.size()),
      ticks_.size() * sizeof(uint64_t), ticks_.data(), sizeof(uint64_t), VK_QUERY_RESULT_64_BIT);
  if (result != VK_SUCCESS) {
    return;
  }
  const auto period = static_cast<double>(device.caps().limits.timestampPeriod);
  times.resize(names_.size());
  for (size_t position = 0; position < names_.size(); ++position) {
    times[position].name.assign(NameAt(position));
    // All times are relative to the first mark of the frame, since the clock of the device has no
    // known zero.
    times[position].begin_ns = static_cast<double>(ticks_[2 * position] - ticks_[0]) * period;
    times[position].nanoseconds =
        static_cast<double>(ticks_[2 * position + 1] - ticks_[2 * position]) * period;
  }
}

// Host memory that the device writes survives the loss of the device, so the marks tell where it
// stopped. Nothing if no mark was written: then the device stopped in front of the first pass or
// never began.
std::optional<std::string> FrameMarks::LastFinished() const {
  if (!markers_ || !submitted_) {
    return std::nullopt;
  }
  // From the end: passes finish in order, so the last mark that is set is the answer.
  for (size_t position = names_.size(); position-- > 0;) {
    uint32_t finished = 0;
    std::memcpy(&finished, marks_.mapped().data() + kMarkBytes * position + sizeof(uint32_t),
                sizeof(finished));
    if (finished == kMark) {
      return fmt::format("last finished pass '{}'", NameAt(position));
    }
  }
  return "no pass had finished";
}

}  // namespace kiln::graph
