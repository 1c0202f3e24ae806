// SPDX-License-Identifier: MIT
// Runs the demo: prepares all draws, builds and warms all pipelines, then draws frames without
// waiting for anything that is built. The order is what a game with no hitches does.
#include "examples/demo/engine/renderer.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>

#include "examples/demo/engine/frame_graph.h"
#include "examples/demo/engine/prepare.h"
#include "examples/demo/engine/window.h"
#include "runtime/graph/device_model.h"
#include "runtime/graph/execute.h"
#include "runtime/graph/graph_file.h"
#include "runtime/graph/planner.h"
#include "runtime/graph/print_plan.h"

namespace kiln::demo {
namespace {

// Generous, because a software device takes seconds for a frame of this size. Both times only end a
// run that hangs.
constexpr std::chrono::seconds kLongestFrame{120};
constexpr std::chrono::minutes kLongestStart{10};
constexpr size_t kFramesInFlight = 2;

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Forward draws are prepared once for each phase of the camera, because their values differ. Their
// pipelines are the same and are built once.
Result<FrameDraws> PrepareFrame(const Scene& scene, Preparer& preparer, VariantSource& variants) {
  FrameDraws draws;
  const runtime::PassSignature light = FrameGraph::LightSignature();
  const runtime::PassSignature picture = FrameGraph::PictureSignature();
  KILN_TRY(draws.shadow, preparer.Prepare(variants, scene.shadow, scene.shadow_values,
                                          FrameGraph::ShadowSignature()));
  for (size_t phase = 0; phase < Scene::kPhases; ++phase) {
    KILN_TRY(draws.forward[phase],
             preparer.Prepare(variants, scene.forward, scene.forward_values[phase],
                              FrameGraph::ForwardSignature()));
  }
  const ValueTable& screen = scene.screen_values;
  KILN_TRY(draws.lighting, preparer.Prepare(variants, scene.lighting, screen, light));
  KILN_TRY(draws.temporal, preparer.Prepare(variants, scene.temporal, screen, light));
  KILN_TRY(draws.bloom, preparer.Prepare(variants, scene.bloom, screen, light));
  KILN_TRY(draws.compose, preparer.Prepare(variants, scene.compose, screen, picture));
  KILN_TRY(draws.interface, preparer.Prepare(variants, scene.interface, screen, picture));
  return draws;
}

// Every draw of the frame.
std::vector<PreparedDraw*> AllOf(FrameDraws& draws) {
  std::vector<PreparedDraw*> all;
  const auto add = [&](Draws& some) {
    for (PreparedDraw& draw : some) {
      all.push_back(&draw);
    }
  };
  add(draws.shadow);
  for (Draws& phase : draws.forward) {
    add(phase);
  }
  for (Draws* const pass :
       {&draws.lighting, &draws.temporal, &draws.bloom, &draws.compose, &draws.interface}) {
    add(*pass);
  }
  return all;
}

// Everything is built and drawn once before the first frame. A broken pipeline ends the demo, since
// its picture would lack something; a game would go on with a fallback.
Result<runtime::WarmReport> WarmUp(runtime::Pipelines& pipelines) {
  KILN_TRY(runtime::WarmReport report, pipelines.Wait(pipelines.Warm({}), kLongestStart));
  if (!report.failures.empty()) {
    return Error{ErrorCode::kFailedPrecondition, report.failures.front().error, ""};
  }
  return report;
}

// The frames of a run. Up to kFramesInFlight frames are on the device at a time. What a frame used
// is given back when it is done, in the order of the frames.
class FrameLoop {
 public:
  FrameLoop(graph::Planner& planner, graph::Executor& executor, FrameGraph& frames,
            runtime::Pipelines& pipelines)
      : planner_(planner), executor_(executor), frames_(frames), pipelines_(pipelines) {}

  // One frame, in flight with the one before.
  Result<void> Draw(Window& window, bool read_back) {
    KILN_TRY(const graph::Presentation image, window.Acquire());
    pixels_ = frames_.Declare(graph_, image, read_back);
    // A frame is planned each time. A plan of the same graph is known to the planner, and costs a
    // comparison.
    KILN_TRY(plan_, planner_.Compile(graph_, {}, executor_.carried()));
    KILN_TRY(ticket_, executor_.Execute(*plan_, graph_));
    if (frames_.error().has_value()) {
      return *frames_.error();
    }
    // Here pipelines that were rebuilt meanwhile take their places; what they replace stays until
    // the device is done with this frame.
    pipelines_.EndFrame(ticket_.value);
    in_flight_.push_back(ticket_);
    while (in_flight_.size() > kFramesInFlight && executor_.Done(in_flight_.front())) {
      pipelines_.Collect(in_flight_.front().value);
      in_flight_.pop_front();
    }
    return window.Presented(ticket_.present);
  }

  const graph::Graph& graph() const { return graph_; }
  const graph::Plan& plan() const { return *plan_; }
  graph::FrameTicket ticket() const { return ticket_; }
  graph::BufferId pixels() const { return pixels_; }

 private:
  graph::Planner& planner_;
  graph::Executor& executor_;
  FrameGraph& frames_;
  runtime::Pipelines& pipelines_;
  graph::Graph graph_;
  const graph::Plan* plan_ = nullptr;
  graph::BufferId pixels_;
  graph::FrameTicket ticket_;
  std::deque<graph::FrameTicket> in_flight_;
};

// Replaces what another source has otherwise; returns how many draws wait for their new pipeline.
// Only starts: pipelines are built beside the frames, and each draw changes over when its own is
// there.
Result<uint32_t> StartReload(Preparer& preparer, VariantSource& source,
                             std::span<PreparedDraw* const> draws) {
  uint32_t waiting = 0;
  for (PreparedDraw* const draw : draws) {
    KILN_TRY(const bool other, preparer.Reload(source, *draw));
    waiting += other ? 1 : 0;
  }
  return waiting;
}

// The reload begins before its frame is drawn, so this frame is still drawn with the old pipelines.
Result<void> DrawFrames(FrameLoop& loop, Window& window, Preparer& preparer,
                        std::span<PreparedDraw* const> draws, const RenderRequest& request,
                        RenderReport& report) {
  const auto start = Clock::now();
  for (uint32_t frame = 0; frame < request.frames; ++frame) {
    const auto frame_start = Clock::now();
    if (request.reload != nullptr && frame == request.reload_frame) {
      KILN_TRY(report.reloaded, StartReload(preparer, *request.reload, draws));
    }
    KILN_TRY_VOID(loop.Draw(window, frame + 1 == request.frames));
    for (PreparedDraw* const draw : draws) {
      if (preparer.TakeReload(*draw)) {
        report.reloaded_by = frame + 1;
      }
    }
    report.longest_frame_ms = std::max(report.longest_frame_ms, MillisecondsSince(frame_start));
  }
  report.frames = request.frames;
  report.frames_ms = MillisecondsSince(start);
  return {};
}

}  // namespace

// The parts are made in the order in which they refer to each other and go in the reverse order.
Result<RenderReport> Render(runtime::Device& device, const Scene& scene, VariantSource& variants,
                            Window& window, const RenderRequest& request) {
  RenderReport report;
  const auto start = Clock::now();
  KILN_TRY(const std::unique_ptr<runtime::Pipelines> pipelines,
           runtime::Pipelines::Create(device, {.cache_folder = request.cache_folder,
                                               .debug_checks = request.debug_checks}));
  Preparer preparer(device, scene, *pipelines, FrameGraph::Formats());
  KILN_TRY_VOID(preparer.UploadTextures());
  KILN_TRY(FrameDraws draws, PrepareFrame(scene, preparer, variants));
  // From here on a pipeline that has to be built is a hitch, and counted as one.
  KILN_TRY(report.warm, WarmUp(*pipelines));
  report.start_ms = MillisecondsSince(start);

  FrameGraph frames(device, scene, draws, *pipelines, request.extent);
  graph::DeviceModel model(device);
  graph::Planner planner(model);
  KILN_TRY(graph::Executor executor,
           graph::Executor::Create(device, {.frames_in_flight = kFramesInFlight}));
  FrameLoop loop(planner, executor, frames, *pipelines);
  KILN_TRY_VOID(DrawFrames(loop, window, preparer, AllOf(draws), request, report));
  // The picture is read by the host, so the last frame must have ended; nothing else is waited for.
  KILN_TRY_VOID(executor.Wait(loop.ticket(), kLongestFrame));
  pipelines->Collect(loop.ticket().value);

  report.pipelines = pipelines->Stats();
  report.hitches = pipelines->Hitches();
  report.draws = frames.draws();
  report.plan = graph::PrintPlan(loop.plan(), loop.graph());
  report.plan_svg = graph::PrintPlanSvg(loop.plan(), loop.graph());
  report.plan_file = graph::WriteGraphFile(loop.graph());
  const graph::BoundBuffer bytes = executor.Readback(loop.graph(), loop.pixels());
  report.picture = {request.extent.width, request.extent.height, {}};
  report.picture.rgba.resize(bytes.size);
  std::memcpy(report.picture.rgba.data(), bytes.mapped, bytes.size);
  return report;
}

}  // namespace kiln::demo
