// SPDX-License-Identifier: MIT
// triangle PACK PICTURE [TINT]: draws the triangle of the pack off-screen and writes it as a PPM.
// The smallest program that draws with a pack: one pipeline, one pass, one frame.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include "cache/pack/reader.h"
#include "runtime/graph/device_model.h"
#include "runtime/graph/execute.h"
#include "runtime/graph/planner.h"
#include "runtime/graph/read_back.h"
#include "runtime/graph/usual_accesses.h"
#include "runtime/pipeline/pack_source.h"
#include "runtime/pipeline/pipelines.h"

using namespace kiln;
using namespace kiln::runtime;

namespace {

constexpr VkExtent2D kArea = {320, 180};
constexpr VkFormat kFormat = VK_FORMAT_R8G8B8A8_UNORM;
constexpr std::chrono::minutes kPatience{1};

// Rows from the top, without the fourth channel.
bool WritePpm(const std::string& path, const graph::BoundBuffer& pixels) {
  std::ofstream file(path, std::ios::binary);
  file << "P6 " << kArea.width << ' ' << kArea.height << " 255\n";
  for (size_t i = 0; i + 4 <= pixels.size; i += 4) {
    file.write(reinterpret_cast<const char*>(pixels.mapped + i), 3);
  }
  return file.flush().good();
}

// Each step returns its error, and nothing is cleaned up by hand: objects go in the reverse order
// of their making.
Result<void> Draw(const std::string& pack_path, const std::string& picture_path,
                  const std::string& tint) {
  // The pack, a device, and every pipeline of the pack before the first frame.
  KILN_TRY(std::shared_ptr<pack::Pack> pack, pack::Pack::Open(pack_path, {}));
  KILN_TRY(Device device, Device::Create({}));
  KILN_TRY(const std::unique_ptr<Pipelines> pipelines, Pipelines::Create(device, {}));
  pipelines->Load(std::make_shared<PackSource>(pack, PackSourceConfig{}));
  const OptionSetting options[] = {{"tint", tint}};
  KILN_TRY(const PipelineId triangle, pipelines->Find("triangle", options, {.color = {kFormat}}));
  KILN_TRY_VOID(pipelines->Wait(pipelines->Warm({.pipelines = {triangle}, .lane = {}}), kPatience));
  // A pipeline that cannot be built would only be missing from the picture; here it is the whole
  // picture.
  if (const Error* error = pipelines->ErrorOf(triangle); error != nullptr) {
    return *error;
  }

  // One frame: a pass that draws, and one that copies the picture to the host.
  graph::DeviceModel model(device);
  graph::Planner planner(model);
  KILN_TRY(graph::Executor executor, graph::Executor::Create(device, {}));
  graph::Graph frame;
  frame.BeginFrame();
  const graph::TextureDesc desc{.format = kFormat, .size = {kArea.width, kArea.height, 1}};
  const graph::PassId pass = frame.CreatePass({.name = "triangle"});
  const graph::TextureId picture =
      frame.CreateTexture(pass, {.name = "picture",
                                 .desc = desc,
                                 .access = graph::kColorTarget,
                                 .contents = graph::ClearedTo(0, 0, 0.25F, 1),
                                 .keep = {}});
  frame.SetCallback(pass,
                    [&pipelines = *pipelines, triangle](Device&, const graph::Resources& resources,
                                                        graph::CommandBuffer& commands) {
                      if (pipelines.Bind(commands.handle(), triangle, OnMissing::Skip()).drawable) {
                        SetViewportFor(commands.table(), commands.handle(),
                                       pipelines.Desc(triangle), resources.RenderArea());
                        commands.table().CmdDraw(commands.handle(), 3, 1, 0, 0);
                      }
                    });
  const graph::BufferId pixels = graph::ReadBack(frame, picture, desc);

  // Planned without the device, run on it.
  KILN_TRY(const graph::Plan* const plan, planner.Compile(frame, {}, executor.carried()));
  KILN_TRY(const graph::FrameTicket ticket, executor.Execute(*plan, frame));
  KILN_TRY_VOID(executor.Wait(ticket, kPatience));
  if (!WritePpm(picture_path, executor.Readback(frame, pixels))) {
    return Error{ErrorCode::kUnavailable, "cannot write " + picture_path, ""};
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: triangle PACK PICTURE [TINT]\n");
    return 2;
  }
  const Result<void> drawn = Draw(argv[1], argv[2], argc > 3 ? argv[3] : "orange");
  if (!drawn.ok()) {
    std::fprintf(stderr, "triangle: %s\n", ErrorText(drawn.error()).c_str());
    return 1;
  }
  return 0;
}
