// SPDX-License-Identifier: MIT
// game PICTURE: finds its materials beside itself, draws three tiles of ground and writes what it
// has drawn as a PPM. How an installed game uses kiln: a pack beside it, all pipelines before the
// first frame, no daemon and no client.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cache/pack/reader.h"
#include "runtime/graph/device_model.h"
#include "runtime/graph/execute.h"
#include "runtime/graph/planner.h"
#include "runtime/graph/read_back.h"
#include "runtime/graph/usual_accesses.h"
#include "runtime/pipeline/cache_files.h"
#include "runtime/pipeline/pack_source.h"
#include "runtime/pipeline/pipelines.h"

using namespace kiln;
using namespace kiln::runtime;

namespace {

constexpr VkExtent2D kArea = {320, 180};
constexpr VkFormat kFormat = VK_FORMAT_R8G8B8A8_UNORM;
constexpr std::chrono::minutes kPatience{1};

// A tile of ground: a material, and where it lies.
struct Tile {
  const char* program;
  bool wet;
  float place[4];  // centre, half of the width and of the height
  PipelineId pipeline{};
};

// Installed, the pack is in share/game; while the game is built, it is beside the program.
std::string FindPack() {
  const auto self = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const auto installed = self.parent_path() / "share/game/game.kpack";
  return std::filesystem::exists(installed) ? installed : self / "game.kpack";
}

bool WritePpm(const std::string& path, const graph::BoundBuffer& pixels) {
  std::ofstream file(path, std::ios::binary);
  file << "P6 " << kArea.width << ' ' << kArea.height << " 255\n";
  // A PPM has rows from the top and no alpha.
  for (size_t i = 0; i + 4 <= pixels.size; i += 4) {
    file.write(reinterpret_cast<const char*>(pixels.mapped + i), 3);
  }
  return file.flush().good();
}

// Six vertices without a buffer: the shader makes the corners of the tile from their number.
void DrawTile(Pipelines& pipelines, const Tile& tile, VkExtent2D area,
              graph::CommandBuffer& commands) {
  // A tile whose pipeline is broken or not there is left out; the frame goes on without it.
  if (!pipelines.Bind(commands.handle(), tile.pipeline, OnMissing::Skip()).drawable) {
    return;
  }
  const LayoutSet& layout = pipelines.Layouts(tile.pipeline);
  SetViewportFor(commands.table(), commands.handle(), pipelines.Desc(tile.pipeline), area);
  commands.table().CmdPushConstants(commands.handle(), layout.layout, layout.stages, 0,
                                    sizeof(tile.place), tile.place);
  commands.table().CmdDraw(commands.handle(), 6, 1, 0, 0);
}

// Every pipeline before the first frame; each tile knows its own. Nothing is drawn until all
// pipelines are there, so no frame can hitch on one.
Result<std::unique_ptr<Pipelines>> Prepare(Device& device, std::vector<Tile>& tiles) {
  KILN_TRY(std::shared_ptr<pack::Pack> pack, pack::Pack::Open(FindPack(), {}));
  PipelinesConfig config;
  config.cache_folder = DefaultCacheFolder();  // of the driver's own cache
  KILN_TRY(std::unique_ptr<Pipelines> pipelines, Pipelines::Create(device, config));
  pipelines->Load(std::make_shared<PackSource>(pack, PackSourceConfig{}));
  for (Tile& tile : tiles) {
    std::vector<OptionSetting> options;
    if (tile.wet) {
      options.push_back({"wet", true});
    }
    KILN_TRY(tile.pipeline, pipelines->Find(tile.program, options, {.color = {kFormat}}));
  }
  KILN_TRY(const WarmReport report, pipelines->Wait(pipelines->Warm({}), kPatience));
  // Told, and no reason to stop: the others are drawn.
  for (const WarmFailure& failure : report.failures) {
    std::fprintf(stderr, "game: %s: %s\n", failure.name.c_str(), failure.error.c_str());
  }
  return pipelines;
}

// One frame. A loop would begin with BeginFrame and go on to EndFrame and Collect of the pipelines.
Result<void> Play(const std::string& picture_path) {
  std::vector<Tile> tiles = {{"brick/view", false, {-0.6F, 0, 0.25F, 0.6F}},
                             {"brick/view", true, {0, 0, 0.25F, 0.6F}},
                             {"grass/view", false, {0.6F, 0, 0.25F, 0.6F}}};
  KILN_TRY(Device device, Device::Create({}));
  KILN_TRY(const std::unique_ptr<Pipelines> pipelines, Prepare(device, tiles));
  graph::DeviceModel model(device);
  graph::Planner planner(model);
  KILN_TRY(graph::Executor executor, graph::Executor::Create(device, {}));
  graph::Graph frame;
  frame.BeginFrame();
  const graph::TextureDesc desc{.format = kFormat, .size = {kArea.width, kArea.height, 1}};
  const graph::PassId pass = frame.CreatePass({.name = "view"});
  const graph::TextureId picture =
      frame.CreateTexture(pass, {.name = "picture",
                                 .desc = desc,
                                 .access = graph::kColorTarget,
                                 .contents = graph::ClearedTo(0, 0, 0.25F, 1),
                                 .keep = {}});
  // The callback runs when the plan is executed, so everything it refers to lives until then.
  frame.SetCallback(
      pass, [&](Device&, const graph::Resources& resources, graph::CommandBuffer& commands) {
        for (const Tile& tile : tiles) {
          DrawTile(*pipelines, tile, resources.RenderArea(), commands);
        }
      });
  const graph::BufferId pixels = graph::ReadBack(frame, picture, desc);
  KILN_TRY(const graph::Plan* const plan, planner.Compile(frame, {}, executor.carried()));
  KILN_TRY(const graph::FrameTicket ticket, executor.Execute(*plan, frame));
  KILN_TRY_VOID(executor.Wait(ticket, kPatience));
  if (!WritePpm(picture_path, executor.Readback(frame, pixels))) {
    return Error{ErrorCode::kUnavailable, "cannot write " + picture_path, ""};
  }
  std::printf("%zu tiles, %zu hitches\n", tiles.size(), pipelines->Hitches().size());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: game PICTURE\n");
    return 2;
  }
  const Result<void> played = Play(argv[1]);
  if (!played.ok()) {
    std::fprintf(stderr, "game: %s\n", ErrorText(played.error()).c_str());
    return 1;
  }
  return 0;
}
