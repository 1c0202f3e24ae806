// SPDX-License-Identifier: MIT
// Runs plans on a Vulkan 1.3 device: memory, images, barriers, rendering, command buffers,
// submission and presentation. Callbacks record what a pass does and nothing else. See
// spec/graph 7, 8
//   auto plan = planner.Compile(graph, {}, executor.carried());
//   auto ticket = executor.Execute(**plan, graph);
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/plan.h"
#include "runtime/graph/time_series.h"
#include "runtime/vk/device.h"
#include "runtime/vk/pass_signature.h"

namespace kiln::graph {

struct BoundTexture {
  VkImage image = VK_NULL_HANDLE;
  VkImageView view = VK_NULL_HANDLE;  // of the range that the pass named; depth for sampled depth
  VkImageLayout layout = VK_IMAGE_LAYOUT_UNDEFINED;
  VkExtent3D extent = {};
  VkFormat format = VK_FORMAT_UNDEFINED;
};

struct BoundBuffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceSize offset = 0;
  VkDeviceSize size = 0;
  std::byte* mapped = nullptr;  // of upload and readback buffers
};

class FrameRecorder;

// What the handles of one pass stand for. Valid during its callback.
class Resources {
 public:
  Resources(FrameRecorder& recorder, uint32_t pass) : recorder_(recorder), pass_(pass) {}

  // Empty for a handle that the pass did not declare; the frame then ends with UNDECLARED_ACCESS.
  BoundTexture Texture(TextureId id) const;
  BoundBuffer Buffer(BufferId id) const;
  // Whether a history starts from its initial contents.
  bool WasReset(TextureId id) const;
  bool WasReset(BufferId id) const;
  const runtime::PassSignature& Signature() const;
  VkExtent2D RenderArea() const;

 private:
  FrameRecorder& recorder_;
  uint32_t pass_;
};

// What a callback records into.
class CommandBuffer {
 public:
  CommandBuffer(const vk::Table& table, VkCommandBuffer handle) : table_(table), handle_(handle) {}
  const vk::Table& table() const { return table_; }
  VkCommandBuffer handle() const { return handle_; }

 private:
  const vk::Table& table_;
  VkCommandBuffer handle_;
};

struct ExecutorConfig {
  uint32_t frames_in_flight = 2;
  bool labels = true;      // if the instance has VK_EXT_debug_utils
  bool immediate = false;  // submit pass by pass and wait after each
  uint32_t record_threads = 1;
  bool timestamps = false;  // measure every pass, if the queue can
  bool markers = false;     // so that a lost device says which pass had finished
};

enum class PresentStatus : uint8_t { kNone, kPresented, kSuboptimal, kOutOfDate };

struct FrameTicket {
  uint64_t value = 0;
  PresentStatus present = PresentStatus::kNone;
};

// How long a pass took on the device. With timestamps only.
struct PassTime {
  std::string name;
  double begin_ns = 0;  // since the first pass began
  double nanoseconds = 0;
};

struct ExecutorMetrics {
  uint64_t committed_bytes = 0;
  uint32_t images_created = 0;  // by the last frame
  uint32_t images_destroyed = 0;
  uint32_t batches = 0;
  uint32_t command_buffers = 0;
  uint32_t barriers = 0;
};

struct ExecutorState;

// One thread; callbacks run on its recording threads, in plan order inside a command buffer. The
// device outlives it; destruction waits for what was submitted.
class Executor {
 public:
  static Result<Executor> Create(runtime::Device& device, const ExecutorConfig& config);
  Executor(Executor&&) noexcept;
  ~Executor();

  // Records and submits the frame. After an error nothing was submitted and nothing is carried
  // over. Errors: UNDECLARED_ACCESS, SEMAPHORE_VALUE, OUT_OF_MEMORY, DEVICE_LOST as reasons.
  Result<FrameTicket> Execute(const Plan& plan, const Graph& graph);
  bool Done(FrameTicket ticket) const;
  // Errors: kDeadlineExceeded, DEVICE_LOST.
  Result<void> Wait(FrameTicket ticket, std::chrono::nanoseconds timeout);

  // What a readback buffer of the frame holds; the ticket must be done, and the frame be the last
  // one executed.
  BoundBuffer Readback(const Graph& graph, BufferId id) const;

  // To plan the next frame with.
  const Carried& carried() const;
  const ExecutorMetrics& metrics() const;
  // Of the newest frame that is known to be done, in plan order: frames_in_flight ago.
  const std::vector<PassTime>& PassTimes() const;
  // Nanoseconds per pass that recording took.
  const TimeSeries& record_times() const;

 private:
  explicit Executor(std::unique_ptr<ExecutorState> state);

  std::unique_ptr<ExecutorState> state_;
};

}  // namespace kiln::graph
