// SPDX-License-Identifier: MIT
// live MANIFEST PICTURES [COUNT]: draws the triangle of a project on disk, which a daemon compiles,
// and draws it anew after every save. PICTURES-0.ppm is the first one; ends after COUNT, else
// never. How an engine develops with kiln: variants from a daemon before the first frame, and saves
// of sources that replace pipelines while frames go on.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "client/autostart.h"
#include "client/engine/fetch_into.h"
#include "client/engine/reload_into.h"
#include "client/engine/variants_of.h"
#include "runtime/graph/device_model.h"
#include "runtime/graph/execute.h"
#include "runtime/graph/planner.h"
#include "runtime/graph/read_back.h"
#include "runtime/graph/usual_accesses.h"
#include "runtime/pipeline/cache_files.h"
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

// What draws frames: one pass that draws, and one that copies the picture to the host. Frames are
// drawn one by one and waited for, which keeps the example short.
struct Renderer {
  Device& device;
  Pipelines& pipelines;
  PipelineId triangle;
  graph::DeviceModel model{device};
  graph::Planner planner{model};
  graph::Graph frame{};

  Result<void> Draw(graph::Executor& executor, const std::string& path) {
    frame.BeginFrame();
    const graph::TextureDesc desc{.format = kFormat, .size = {kArea.width, kArea.height, 1}};
    const graph::PassId pass = frame.CreatePass({.name = "triangle"});
    const graph::TextureId picture =
        frame.CreateTexture(pass, {.name = "picture",
                                   .desc = desc,
                                   .access = graph::kColorTarget,
                                   .contents = graph::ClearedTo(0, 0, 0.25F, 1),
                                   .keep = {}});
    frame.SetCallback(
        pass, [this](Device&, const graph::Resources& resources, graph::CommandBuffer& commands) {
          if (pipelines.Bind(commands.handle(), triangle, OnMissing::Skip()).drawable) {
            SetViewportFor(commands.table(), commands.handle(), pipelines.Desc(triangle),
                           resources.RenderArea());
            commands.table().CmdDraw(commands.handle(), 3, 1, 0, 0);
          }
        });
    const graph::BufferId pixels = graph::ReadBack(frame, picture, desc);
    KILN_TRY(const graph::Plan* const plan, planner.Compile(frame, {}, executor.carried()));
    KILN_TRY(const graph::FrameTicket ticket, executor.Execute(*plan, frame));
    KILN_TRY_VOID(executor.Wait(ticket, kPatience));
    // Here what was reloaded is swapped in; what it replaced goes, since the device is done.
    pipelines.EndFrame(ticket.value);
    pipelines.Collect(ticket.value);
    if (!path.empty() && !WritePpm(path, executor.Readback(frame, pixels))) {
      return Error{ErrorCode::kUnavailable, "cannot write " + path, ""};
    }
    return {};
  }
};

// The order of the members matters at the end: the reload goes before the pipelines and the source
// that it delivers into.
Result<void> Run(const std::string& manifest_path, const std::string& pictures, int count) {
  // A daemon of this user, started if there is none, and the variants that will be drawn.
  client::Endpoint endpoint;
  endpoint.address = "unix:" + client::DefaultSocket();
  KILN_TRY(const client::DaemonConnection daemon,
           client::Connect(endpoint, client::Autostart::kYes));
  KILN_TRY(const project::Manifest manifest, client::OpenManifest(manifest_path));
  const client::NamedVariant wanted[] = {{"triangle", {{"tint", std::string("orange")}}}};
  KILN_TRY(const client::StartupVariants variants,
           client::VariantsOf(*daemon.client, manifest, wanted));

  // Everything before the first frame, with progress.
  const auto source = std::make_shared<MemorySource>();
  KILN_TRY(const client::StartupReport report,
           client::FetchInto(
               *source, *daemon.client,
               {.subject = variants, .on_progress = [](const client::StartupProgress& now) {
                  std::printf("fetched %llu of %llu\n",
                              static_cast<unsigned long long>(now.artifacts),
                              static_cast<unsigned long long>(now.total));
                  return client::Next::kGoOn;
                }}));
  if (!report.failures.empty()) {
    return Error{ErrorCode::kInvalidArgument, client::MessagesOf(report.failures), ""};
  }
  KILN_TRY(Device device, Device::Create({}));
  PipelinesConfig config;
  config.cache_folder = DefaultCacheFolder();  // of the driver's own cache
  KILN_TRY(const std::unique_ptr<Pipelines> pipelines, Pipelines::Create(device, config));
  pipelines->Load(source);
  KILN_TRY(const PipelineId triangle,
           pipelines->Find("triangle", wanted[0].options, {.color = {kFormat}}));
  KILN_TRY_VOID(pipelines->Wait(pipelines->Warm({.pipelines = {triangle}, .lane = {}}), kPatience));

  // From here on a save replaces the pipeline while frames go on.
  KILN_TRY(const std::unique_ptr<client::LiveReload> reload,
           client::ReloadInto(*pipelines, source, *daemon.client,
                              {.subject = variants,
                               .options = {.folder = manifest.folder},
                               .pipelines = {triangle},
                               .on_news = [](const client::LiveNews& news) {
                                 std::printf("%s%s%s\n", news.program.c_str(),
                                             news.program.empty() ? "" : ": ", news.text.c_str());
                                 std::fflush(stdout);
                               }}));
  KILN_TRY(graph::Executor executor, graph::Executor::Create(device, {}));
  Renderer renderer{device, *pipelines, triangle};
  uint64_t swapped = 0;
  // Frames go on whether something was saved or not; a picture is written only when a pipeline was
  // replaced.
  for (int drawn = 0; count == 0 || drawn < count;) {
    const bool is_new = drawn == 0 || pipelines->Stats().replaced != swapped;
    swapped = pipelines->Stats().replaced;
    const std::string path = pictures + "-" + std::to_string(drawn) + ".ppm";
    KILN_TRY_VOID(renderer.Draw(executor, is_new ? path : ""));
    if (is_new) {
      std::printf("wrote %s\n", path.c_str());
      std::fflush(stdout);
      ++drawn;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(16));  // a display's pace
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: live MANIFEST PICTURES [COUNT]\n");
    return 2;
  }
  const Result<void> done = Run(argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 0);
  if (!done.ok()) {
    std::fprintf(stderr, "live: %s\n", ErrorText(done.error()).c_str());
    return 1;
  }
  return 0;
}
