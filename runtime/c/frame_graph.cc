// SPDX-License-Identifier: MIT
// Life and execution of frames; what they declare is frame_declarations.cc.
#include "runtime/c/frame_graph.h"

#include <algorithm>
#include <utility>

#include "runtime/c/arguments.h"
#include "runtime/c/call.h"
#include "runtime/c/frame_declarations.h"
#include "runtime/graph/print_plan.h"

using namespace kiln;
using namespace kiln::c;

namespace {

// A year is as good as forever, and in nanoseconds it is far from overflowing when a clock is
// added.
constexpr uint64_t kLongestWait = uint64_t{365} * 24 * 3600 * 1'000'000'000;

Result<graph::ExecutorConfig> TakeConfig(const kiln_graph_info& info) {
  // More frames in flight would only add delay, and each costs memory; more threads than that no
  // recording uses.
  constexpr uint32_t kMostFrames = 8;
  constexpr uint32_t kMostThreads = 64;
  KILN_TRY_VOID(CheckNumber(info.frames_in_flight, kMostFrames, "info.frames_in_flight"));
  KILN_TRY_VOID(CheckNumber(info.record_threads, kMostThreads, "info.record_threads"));
  graph::ExecutorConfig config;
  if (info.frames_in_flight != 0) {
    config.frames_in_flight = info.frames_in_flight;
  }
  config.record_threads = std::max(info.record_threads, 1U);
  return config;
}

// Frame numbers begin at 1. A number that was never given would be waited for until the timeout.
// Errors are those of a wrong argument: a caller in C may keep the number of another graph.
Result<void> CheckExecuted(const kiln_graph* graph, uint64_t frame) {
  KILN_TRY_VOID(NotNull(graph, "graph"));
  if (frame == 0 || frame > graph->last.value) {
    return OutOfRange("frame", frame, graph->last.value);
  }
  return {};
}

}  // namespace

kiln_result kiln_graph_create(kiln_device* device, const kiln_graph_info* info, kiln_graph** graph,
                              kiln_error** error) {
  return Call(device, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(device, "device"));
    KILN_TRY(const kiln_graph_info given, Take(info, "info"));
    KILN_TRY_VOID(NotNull(graph, "graph"));
    KILN_TRY(const graph::ExecutorConfig config, TakeConfig(given));
    KILN_TRY(graph::Executor executor, graph::Executor::Create(*device->device, config));
    // Takes the whole device and not only its handle: the graph keeps it alive.
    *graph = std::make_unique<kiln_graph>(*device, std::move(executor)).release();
    return {};
  });
}

kiln_result kiln_graph_begin_frame(kiln_graph* graph, kiln_error** error) {
  return Call(graph, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(graph, "graph"));
    // The plan describes the frame before; what is read of it is void as soon as the next begins.
    graph->plan = nullptr;
    graph->graph.BeginFrame();
    return {};
  });
}

// Planning and execution are one call in C: a plan has no meaning to a caller but as text.
kiln_result kiln_graph_execute(kiln_graph* graph, uint64_t* frame, kiln_error** error) {
  return Call(graph, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(graph, "graph"));
    KILN_TRY_VOID(NotNull(frame, "frame"));
    // Forgotten first, so that a frame that fails leaves no plan of another frame behind.
    graph->plan = nullptr;
    graph->plan_text.clear();
    KILN_TRY(const graph::Plan* const plan,
             graph->planner.Compile(graph->graph, {}, graph->executor.carried()));
    // A frame that fails leaves `last` at the frame before, which can still be waited for.
    KILN_TRY(graph->last, graph->executor.Execute(*plan, graph->graph));
    graph->plan = plan;
    *frame = graph->last.value;
    return {};
  });
}

// Answers no for a number that was never given, since there is no place for an error.
uint32_t kiln_graph_done(const kiln_graph* graph, uint64_t frame) {
  return Answer(graph, uint32_t{0}, [&] {
    return CheckExecuted(graph, frame).ok() && graph->executor.Done({.value = frame}) ? 1U : 0U;
  });
}

// Blocks the calling thread. It may be called for any frame that was executed, also for one that is
// done.
kiln_result kiln_graph_wait(kiln_graph* graph, uint64_t frame, uint64_t timeout_ns,
                            kiln_error** error) {
  return Call(graph, error, [&]() -> Result<void> {
    KILN_TRY_VOID(CheckExecuted(graph, frame));
    return graph->executor.Wait({.value = frame},
                                std::chrono::nanoseconds(std::min(timeout_ns, kLongestWait)));
  });
}

kiln_result kiln_graph_read(const kiln_graph* graph, kiln_buffer buffer, kiln_bound_buffer* bytes,
                            kiln_error** error) {
  return Call(graph, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(graph, "graph"));
    KILN_TRY_VOID(CheckRoom(bytes, "bytes"));
    // Only buffers of the last frame can be read.
    // The memory of older frames may be in use again already.
    if (graph->plan == nullptr || !graph->executor.Done(graph->last)) {
      return Error{ErrorCode::kFailedPrecondition,
                   "the frame of the buffer is not executed or not done; wait for it", "NOT_DONE"};
    }
    const graph::BoundBuffer from = graph->executor.Readback(graph->graph, FromC(buffer));
    if (from.mapped == nullptr) {
      return Error{ErrorCode::kInvalidArgument,
                   "the buffer is no readback buffer of the last executed frame", ""};
    }
    Give(kiln_bound_buffer{.struct_size = 0,
                           .buffer = from.buffer,
                           .offset = from.offset,
                           .size = from.size,
                           .mapped = from.mapped},
         bytes);
    return {};
  });
}

kiln_text kiln_graph_plan_text(kiln_graph* graph) {
  return Answer(graph, kiln_text{}, [&] {
    // Made when it is asked for, and kept, as the caller gets a view.
    if (graph->plan_text.empty() && graph->plan != nullptr) {
      graph->plan_text = graph::PrintPlan(*graph->plan, graph->graph);
    }
    return TextOf(graph->plan_text);
  });
}

// Waits for the device, so no frame is under way when its objects go.
void kiln_graph_destroy(kiln_graph* graph) { Destroy(graph); }

VkCommandBuffer kiln_frame_commands(const kiln_frame* frame) {
  return frame == nullptr ? VK_NULL_HANDLE : frame->commands->handle();
}

VkExtent2D kiln_frame_area(const kiln_frame* frame) {
  return Answer(frame, VkExtent2D{}, [&] { return frame->resources->RenderArea(); });
}

// A pass gets only what it declared: a use that the plan does not know of would be without a
// barrier.
kiln_result kiln_frame_texture(const kiln_frame* frame, kiln_texture texture,
                               kiln_bound_texture* bound, kiln_error** error) {
  return Call(frame, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(frame, "frame"));
    KILN_TRY_VOID(CheckRoom(bound, "bound"));
    const graph::BoundTexture from = frame->resources->Texture(FromC(texture));
    if (from.image == VK_NULL_HANDLE) {
      return Error{ErrorCode::kInvalidArgument, "the pass did not declare this texture",
                   "UNDECLARED_ACCESS"};
    }
    Give(kiln_bound_texture{.struct_size = 0,
                            .image = from.image,
                            .view = from.view,
                            .layout = from.layout,
                            .extent = from.extent,
                            .format = from.format},
         bound);
    return {};
  });
}

kiln_result kiln_frame_buffer(const kiln_frame* frame, kiln_buffer buffer, kiln_bound_buffer* bound,
                              kiln_error** error) {
  return Call(frame, error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(frame, "frame"));
    KILN_TRY_VOID(CheckRoom(bound, "bound"));
    const graph::BoundBuffer from = frame->resources->Buffer(FromC(buffer));
    if (from.buffer == VK_NULL_HANDLE) {
      return Error{ErrorCode::kInvalidArgument, "the pass did not declare this buffer",
                   "UNDECLARED_ACCESS"};
    }
    Give(kiln_bound_buffer{.struct_size = 0,
                           .buffer = from.buffer,
                           .offset = from.offset,
                           .size = from.size,
                           .mapped = from.mapped},
         bound);
    return {};
  });
}
