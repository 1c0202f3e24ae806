// SPDX-License-Identifier: MIT
#include "deploy/demo/engine/renderer.h"

#include <chrono>
#include <cstring>
#include <utility>

#include "deploy/demo/engine/frame_graph.h"
#include "deploy/demo/engine/prepare.h"
#include "deploy/demo/engine/window.h"
#include "runtime/graph/device_model.h"
#include "runtime/graph/execute.h"
#include "runtime/graph/graph_file.h"
#include "runtime/graph/planner.h"
#include "runtime/graph/print_plan.h"

namespace kiln::demo {
namespace {

constexpr std::chrono::seconds kLongestFrame{120};

Result<FrameDraws> PrepareFrame(const Scene& scene, Preparer& preparer) {
  FrameDraws draws;
  const runtime::PassSignature light = FrameGraph::LightSignature();
  const runtime::PassSignature picture = FrameGraph::PictureSignature();
  KILN_TRY(draws.shadow,
           preparer.Prepare(scene.shadow, scene.shadow_values, FrameGraph::ShadowSignature()));
  for (size_t phase = 0; phase < Scene::kPhases; ++phase) {
    KILN_TRY(draws.forward[phase], preparer.Prepare(scene.forward, scene.forward_values[phase],
                                                    FrameGraph::ForwardSignature()));
  }
  KILN_TRY(draws.lighting, preparer.Prepare(scene.lighting, scene.screen_values, light));
  KILN_TRY(draws.temporal, preparer.Prepare(scene.temporal, scene.screen_values, light));
  KILN_TRY(draws.bloom, preparer.Prepare(scene.bloom, scene.screen_values, light));
  KILN_TRY(draws.compose, preparer.Prepare(scene.compose, scene.screen_values, picture));
  KILN_TRY(draws.interface, preparer.Prepare(scene.interface, scene.screen_values, picture));
  preparer.pipelines().ReleaseModules();
  return draws;
}

// One frame, in flight with the one before.
Result<graph::FrameTicket> Next(graph::Planner& planner, graph::Executor& executor,
                                const graph::Graph& graph, const graph::Plan*& plan) {
  KILN_TRY(plan, planner.Compile(graph, {}, executor.carried()));
  return executor.Execute(*plan, graph);
}

}  // namespace

Result<RenderReport> Render(runtime::Device& device, const Scene& scene, VariantSource& variants,
                            const RenderRequest& request) {
  Preparer preparer(device, scene, variants);
  KILN_TRY_VOID(preparer.UploadTextures());
  KILN_TRY(const FrameDraws draws, PrepareFrame(scene, preparer));
  FrameGraph frames(device, scene, draws, preparer.pipelines(), request.extent);
  KILN_TRY(Window window,
           Window::Create(device, {request.extent.width / 2, request.extent.height / 2}));

  const auto start = std::chrono::steady_clock::now();
  graph::Graph graph;
  graph::DeviceModel model(device);
  graph::Planner planner(model);
  KILN_TRY(graph::Executor executor, graph::Executor::Create(device, {}));
  const graph::Plan* plan = nullptr;
  graph::BufferId pixels;
  graph::FrameTicket ticket;
  for (uint32_t frame = 0; frame < request.frames; ++frame) {
    KILN_TRY(const graph::Presentation image, window.Acquire());
    pixels = frames.Declare(graph, image, frame + 1 == request.frames);
    KILN_TRY(ticket, Next(planner, executor, graph, plan));
    if (frames.error().has_value()) {
      return *frames.error();
    }
  }
  KILN_TRY_VOID(executor.Wait(ticket, kLongestFrame));
  RenderReport report{.picture = {request.extent.width, request.extent.height, {}},
                      .pipelines = preparer.pipelines().Stats(),
                      .draws = frames.draws(),
                      .frames = request.frames,
                      .build_ms = preparer.build_ms(),
                      .frames_ms = std::chrono::duration<double, std::milli>(
                                       std::chrono::steady_clock::now() - start)
                                       .count(),
                      .plan = graph::PrintPlan(*plan, graph),
                      .plan_svg = graph::PrintPlanSvg(*plan, graph),
                      .plan_file = graph::WriteGraphFile(graph)};
  const graph::BoundBuffer bytes = executor.Readback(graph, pixels);
  report.picture.rgba.resize(bytes.size);
  std::memcpy(report.picture.rgba.data(), bytes.mapped, bytes.size);
  return report;
}

}  // namespace kiln::demo
