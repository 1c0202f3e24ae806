// SPDX-License-Identifier: MIT
// kiln_demo: draws the demo scene with variants that kiln has built, and writes a picture.
//   kiln_demo --variants FOLDER --out demo.png
//   kiln_demo --list                              the variants that the scene needs
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "deploy/demo/engine/renderer.h"
#include "deploy/demo/engine/scene.h"
#include "deploy/demo/engine/variants.h"

namespace kiln::demo {
namespace {

struct Arguments {
  std::string variants;
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

// As the command line does: not found 3, no device 4, damage 7, kiln's own fault 70, else 1.
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

// One line per variant: folder, program, then name=value.
void List(const Scene& scene) {
  for (const VariantRequest& request : VariantsOf(scene)) {
    fmt::print("{} {}", VariantFolder(request), request.program);
    for (const auto& [name, value] : request.options) {
      fmt::print(" {}={}", name, OptionText(value));
    }
    fmt::print("\n");
  }
}

int Draw(const Arguments& arguments) {
  std::vector<std::string> messages;
  auto device = runtime::Device::Create(
      {.prefer = arguments.device,
       .validation = arguments.validate,
       .messages = [&](const vk::Message& message) { messages.push_back(message.text); }});
  if (!device.ok()) {
    return Fail(device.error());
  }
  // Drawn at twice the size: each pixel is the mean of four.
  const VkExtent2D extent = {arguments.width * 2, arguments.height * 2};
  const Scene scene = MakeScene(extent.width, extent.height);
  VariantFolders variants(arguments.variants);
  const auto report =
      Render(*device, scene, variants, {.extent = extent, .frames = arguments.frames});
  if (!report.ok()) {
    return Fail(report.error());
  }
  if (const auto written = preview::WritePng(arguments.out, preview::Halve(report->picture));
      !written.ok()) {
    return Fail(written.error());
  }
  if (!arguments.plan.empty()) {
    std::ofstream(arguments.plan) << report->plan_svg;
  }
  if (!arguments.graph.empty()) {
    std::ofstream(arguments.graph) << report->plan_file;
  }
  const runtime::PipelineStats& stats = report->pipelines;
  fmt::print("device     {} ({})\n", device->identity().name, device->identity().driver_info);
  fmt::print("pipelines  {} built in {:.1f} ms, {} shared; {} modules, {} set layouts\n",
             stats.ready, report->build_ms, stats.saved, stats.modules, stats.set_layouts);
  fmt::print("frames     {} with {} draws in {:.0f} ms\n", report->frames, report->draws,
             report->frames_ms);
  fmt::print("picture    {}\n", arguments.out);
  for (const std::string& message : messages) {
    fmt::print(stderr, "validation: {}\n", message);
  }
  return messages.empty() ? 0 : 1;
}

}  // namespace
}  // namespace kiln::demo

int main(int argc, char** argv) {
  kiln::demo::Arguments arguments;
  CLI::App app("Draws the demo scene with variants that kiln has built.", "kiln_demo");
  app.add_option("--variants", arguments.variants, "folder with one folder per variant");
  app.add_option("--out", arguments.out, "the picture to write")->capture_default_str();
  app.add_option("--plan", arguments.plan, "file for a picture of the frame's plan (SVG)");
  app.add_option("--graph", arguments.graph, "file for the frame as kiln graph reads it (JSON)");
  app.add_option("--frames", arguments.frames, "frames to draw; the last is the picture")
      ->check(CLI::Range(1, 1000))
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
  if (arguments.variants.empty()) {
    fmt::print(stderr, "kiln_demo: --variants is needed; --list prints what it must hold\n");
    return 2;
  }
  try {
    return kiln::demo::Draw(arguments);
  } catch (const kiln::InternalError& error) {
    fmt::print(stderr, "kiln_demo: internal error: {}\n", error.what());
    return 70;
  }
}
