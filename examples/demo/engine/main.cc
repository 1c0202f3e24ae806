// SPDX-License-Identifier: MIT
// kiln_demo: draws the demo scene with variants that kiln has built, and writes a picture. What it
// draws with is in one pack, and no daemon is needed; or a daemon streams it before the first
// frame.
//   kiln_demo --pack demo.kpack --frames 300 --out demo.png
//   kiln_demo --daemon --manifest examples/demo/kiln.toml
//   kiln_demo --pack demo.kpack --reload edited.kpack --window
//   kiln_demo --list                              the variants that the scene needs
// The exit codes are those of kiln, so that scripts of its tests can tell what went wrong.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "examples/demo/engine/daemon_variants.h"
#include "examples/demo/engine/renderer.h"
#include "examples/demo/engine/scene.h"
#include "examples/demo/engine/variants.h"
#include "examples/demo/engine/x_window.h"

namespace kiln::demo {
namespace {

struct Arguments {
  std::string variants;
  std::string pack;
  std::optional<std::string> daemon;  // socket; empty: the user's
  std::string manifest;
  std::string reload;
  uint32_t reload_frame = 100;
  std::string cache;
  bool window = false;
  std::string out = "demo.png";
  std::string device;
  std::string plan;
  std::string graph;
  uint32_t width = 1280;
  uint32_t height = 720;
  uint32_t frames = Scene::kPhases;
  bool list = false;
  bool validate = false;
};

// As the command line does: not found 3, no device 4, damage 7, kiln's own fault 70, else 1. The
// first code that fits. Anything else is a wrong picture or wrong words.
int ExitCode(const Error& error) {
  if (error.code == ErrorCode::kNotFound) {
    return 3;
  }
  if (error.code == ErrorCode::kUnavailable) {
    return 4;
  }
  if (error.code == ErrorCode::kCorrupt) {
    return 7;
  }
  return error.code == ErrorCode::kInternal ? 70 : 1;
}

int Fail(const Error& error) {
  fmt::print(stderr, "kiln_demo: {}\n", ErrorText(error));
  return ExitCode(error);
}

// One line per variant: folder, program, then name=value. A script can build the folders of
// --variants from it.
void List(const Scene& scene) {
  for (const VariantRequest& request : VariantsOf(scene)) {
    fmt::print("{} {}", VariantFolder(request), request.program);
    for (const auto& [name, value] : request.options) {
      fmt::print(" {}={}", name, OptionText(value));
    }
    fmt::print("\n");
  }
}

double Milliseconds(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

// Numbers that show whether the promise of no hitches was kept; they are not a benchmark.
void PrintReport(const runtime::Device& device, const RenderReport& report) {
  const runtime::PipelineStats& stats = report.pipelines;
  const runtime::WarmProgress& warm = report.warm.progress;
  fmt::print("device     {} ({})\n", device.identity().name, device.identity().driver_info);
  fmt::print("pipelines  {} for {} draws, {} from the driver's cache; {} modules, {} set layouts\n",
             warm.total, stats.added, warm.from_cache, stats.modules, stats.set_layouts);
  fmt::print("creation   {:.1f} ms of all threads, the longest {:.1f} ms\n",
             Milliseconds(report.warm.creation), Milliseconds(stats.longest_creation));
  fmt::print("first use  {} warm-up draws, {:.1f} ms, the longest {:.1f} ms\n", warm.first_uses,
             Milliseconds(report.warm.first_use), Milliseconds(stats.longest_first_use));
  fmt::print("start      {:.0f} ms until every pipeline was drawn once\n", report.start_ms);
  fmt::print("frames     {} with {} draws in {:.0f} ms, the longest {:.1f} ms\n", report.frames,
             report.draws, report.frames_ms, report.longest_frame_ms);
  if (report.reloaded > 0) {
    fmt::print("reload     {} draws got another pipeline, all of them by frame {}; {} swaps\n",
               report.reloaded, report.reloaded_by, stats.replaced);
  }
  fmt::print("hitches    {}, missing {}\n", stats.hitches, stats.missing);
  for (const runtime::Hitch& hitch : report.hitches) {
    fmt::print(stderr, "hitch: {} of '{}' in frame {}, {:.1f} ms\n", NameOf(hitch.kind), hitch.name,
               hitch.frame, Milliseconds(hitch.duration));
  }
}

// A line whenever another tenth has arrived.
class FetchProgress {
 public:
  void Tell(const client::StartupProgress& progress) {
    const uint64_t tenth = progress.total == 0 ? 0 : progress.artifacts * 10 / progress.total;
    if (tenth > told_) {
      told_ = tenth;
      fmt::print(stderr, "fetch      {} of {} artifacts, {} bytes\n", progress.artifacts,
                 progress.total, progress.bytes);
    }
  }

 private:
  uint64_t told_ = 0;
};

Result<std::unique_ptr<VariantSource>> FetchVariants(const Arguments& arguments,
                                                     const Scene& scene) {
  FetchProgress told;
  const auto start = std::chrono::steady_clock::now();
  KILN_TRY(DaemonVariants variants,
           DaemonVariants::Fetch(
               VariantsOf(scene),
               {.socket = *arguments.daemon,
                .manifest = arguments.manifest,
                .on_progress = [&](const client::StartupProgress& now) { told.Tell(now); }}));
  const client::StartupReport& report = variants.report();
  fmt::print("fetched    {} artifacts as {} blobs of {} bytes in {:.0f} ms, {} reconnects\n",
             report.progress.artifacts, report.blobs, report.progress.bytes,
             Milliseconds(std::chrono::steady_clock::now() - start), report.progress.reconnects);
  return std::unique_ptr<VariantSource>(std::make_unique<DaemonVariants>(std::move(variants)));
}

// The three ways in which a game may get its shaders: from a daemon while it is developed, from
// folders, and from a pack when it is shipped.
Result<std::unique_ptr<VariantSource>> OpenVariants(const Arguments& arguments,
                                                    const Scene& scene) {
  if (arguments.daemon.has_value()) {
    return FetchVariants(arguments, scene);
  }
  if (arguments.pack.empty()) {
    return std::unique_ptr<VariantSource>(std::make_unique<VariantFolders>(arguments.variants));
  }
  KILN_TRY(PackVariants pack, PackVariants::Open(arguments.pack));
  return std::unique_ptr<VariantSource>(std::make_unique<PackVariants>(std::move(pack)));
}

Result<std::unique_ptr<Window>> OpenWindow(const Arguments& arguments, runtime::Device& device) {
  const VkExtent2D extent = {arguments.width, arguments.height};
  return arguments.window ? OpenXWindow(device, extent) : HiddenWindow::Create(device, extent);
}

// The picture, and the frame in other forms.
Result<void> WriteFiles(const Arguments& arguments, const RenderReport& report) {
  KILN_TRY_VOID(preview::WritePng(arguments.out, preview::Halve(report.picture)));
  if (!arguments.plan.empty()) {
    std::ofstream(arguments.plan) << report.plan_svg;
  }
  if (!arguments.graph.empty()) {
    std::ofstream(arguments.graph) << report.plan_file;
  }
  return {};
}

// The order is: variants, then the window, then the frames. A variant that is missing ends the demo
// before anything is shown.
Result<RenderReport> DrawScene(const Arguments& arguments, runtime::Device& device) {
  // Drawn at twice the size: each pixel is the mean of four.
  const VkExtent2D extent = {arguments.width * 2, arguments.height * 2};
  const Scene scene = MakeScene(extent.width, extent.height);
  KILN_TRY(const std::unique_ptr<VariantSource> variants, OpenVariants(arguments, scene));
  std::optional<PackVariants> reload;
  if (!arguments.reload.empty()) {
    KILN_TRY(reload, PackVariants::Open(arguments.reload));
  }
  KILN_TRY(const std::unique_ptr<Window> window, OpenWindow(arguments, device));
  return Render(
      device, scene, *variants, *window,
      {.extent = extent,
       .frames = arguments.frames,
       .cache_folder = arguments.cache,
       .debug_checks = arguments.validate ? runtime::DebugChecks::kOn : runtime::DebugChecks::kOff,
       .reload = reload ? &*reload : nullptr,
       .reload_frame = arguments.reload_frame});
}

int Draw(const Arguments& arguments) {
  // With --validate any message of the validation layer fails the run. They are collected and shown
  // behind the report, so that they do not get lost between its lines.
  std::vector<std::string> messages;
  runtime::DeviceConfig config{
      .prefer = arguments.device,
      .validation = arguments.validate,
      .messages = [&](const vk::Message& message) { messages.push_back(message.text); }};
  if (arguments.window) {
    config.extensions = kWindowDeviceExtensions;
    config.instance_extensions = kWindowInstanceExtensions;
  }
  auto device = runtime::Device::Create(config);
  if (!device.ok()) {
    return Fail(device.error());
  }
  const auto report = DrawScene(arguments, *device);
  if (!report.ok()) {
    return Fail(report.error());
  }
  if (const auto written = WriteFiles(arguments, *report); !written.ok()) {
    return Fail(written.error());
  }
  PrintReport(*device, *report);
  fmt::print("picture    {}\n", arguments.out);
  for (const std::string& message : messages) {
    fmt::print(stderr, "validation: {}\n", message);
  }
  // A hitch is a failure as well: that there are none is what the demo shows.
  return messages.empty() && report->hitches.empty() ? 0 : 1;
}

}  // namespace
}  // namespace kiln::demo

int main(int argc, char** argv) {
  kiln::demo::Arguments arguments;
  CLI::App app("Draws the demo scene with variants that kiln has built.", "kiln_demo");
  app.add_option("--variants", arguments.variants, "folder with one folder per variant");
  app.add_option("--pack", arguments.pack, "pack with the variants, instead of folders");
  app.add_option(
         "--daemon", arguments.daemon,
         "fetch the variants from a daemon: that of SOCKET, or the user's, which is started")
      ->type_name("[SOCKET]")
      ->expected(0, 1);
  app.add_option("--manifest", arguments.manifest,
                 "with --daemon: kiln.toml with the programs; default: the nearest one");
  app.add_option("--reload", arguments.reload, "pack whose variants take over while frames go on");
  app.add_option("--reload-frame", arguments.reload_frame, "before which frame")
      ->capture_default_str();
  app.add_option("--cache", arguments.cache, "folder of the driver's cache; default: none");
  app.add_flag("--window", arguments.window, "present to a window of the X server of DISPLAY");
  app.add_option("--out", arguments.out, "the picture to write")->capture_default_str();
  app.add_option("--plan", arguments.plan, "file for a picture of the frame's plan (SVG)");
  app.add_option("--graph", arguments.graph, "file for the frame as kiln graph reads it (JSON)");
  app.add_option("--frames", arguments.frames, "frames to draw; the last is the picture")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--device", arguments.device, "part of a device name, or software");
  app.add_option("--width", arguments.width)->check(CLI::Range(16, 4096))->capture_default_str();
  app.add_option("--height", arguments.height)->check(CLI::Range(16, 4096))->capture_default_str();
  app.add_flag("--list", arguments.list, "print the variants that the scene needs");
  app.add_flag("--validate", arguments.validate, "fail on any message of the validation layer");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (arguments.list) {
    kiln::demo::List(kiln::demo::MakeScene(arguments.width, arguments.height));
    return 0;
  }
  const int sources = (arguments.variants.empty() ? 0 : 1) + (arguments.pack.empty() ? 0 : 1) +
                      (arguments.daemon.has_value() ? 1 : 0);
  if (sources != 1) {
    fmt::print(stderr,
               "kiln_demo: one of --pack, --variants and --daemon is needed; --list prints what "
               "they must hold\n");
    return 2;
  }
  try {
    return kiln::demo::Draw(arguments);
  } catch (const kiln::InternalError& error) {
    fmt::print(stderr, "kiln_demo: internal error: {}\n", error.what());
    return 70;
  }
}
