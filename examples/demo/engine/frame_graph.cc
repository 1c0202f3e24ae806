// SPDX-License-Identifier: MIT
// The frame of the demo as a render graph: which pass writes which image, and which images it
// reads. The graph finds the order, barriers and memory; nothing of that is in this file.
#include "examples/demo/engine/frame_graph.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "runtime/graph/read_back.h"
#include "runtime/graph/usual_accesses.h"

namespace kiln::demo {
namespace {

// Light is summed up beyond 1 until the composition maps it to the screen, so its images have
// floats.
constexpr VkFormat kLightFormat = VK_FORMAT_R16G16B16A16_SFLOAT;
constexpr VkFormat kDepthFormat = VK_FORMAT_D32_SFLOAT;
constexpr VkFormat kPictureFormat = VK_FORMAT_R8G8B8A8_UNORM;

// The steps of the bloom chain: what each makes, at which part of the picture's size.
struct BloomStep {
  const char* pass;
  const char* image;
  uint32_t divisor;
};
// The same steps as those of the scene (AddBloom), by the images that they make.
constexpr std::array<BloomStep, Scene::kBloomSteps> kBloomSteps = {{
    {"bloom bright", Scene::kBloomHalf, 2},
    {"bloom down 4", Scene::kBloomQuarter, 4},
    {"bloom down 8", Scene::kBloomEighth, 8},
    {"bloom up 4", Scene::kBloomQuarterUp, 4},
    {"bloom up 2", Scene::kBloom, 2},
}};

}  // namespace

// Signatures are needed before there is a graph: pipelines are made for formats, long before the
// first frame.
runtime::PassSignature FrameGraph::ShadowSignature() { return {.depth_stencil = kDepthFormat}; }
runtime::PassSignature FrameGraph::ForwardSignature() {
  return {.color = {kLightFormat}, .depth_stencil = kDepthFormat};
}
runtime::PassSignature FrameGraph::LightSignature() { return {.color = {kLightFormat}}; }
runtime::PassSignature FrameGraph::PictureSignature() { return {.color = {kPictureFormat}}; }

// At least one texel, as a window may be smaller than the divisor.
graph::TextureDesc FrameGraph::Image(VkFormat format, uint32_t divisor) const {
  return {
      .format = format,
      .size = {std::max(extent_.width / divisor, 1U), std::max(extent_.height / divisor, 1U), 1}};
}

PassFormats FrameGraph::Formats() {
  PassFormats formats = {{Scene::kShadowMap, kDepthFormat}, {Scene::kSceneDepth, kDepthFormat}};
  for (const char* const light : {Scene::kSceneColor, Scene::kSceneLight, Scene::kHistory,
                                  Scene::kResolved, Scene::kBloomHalf, Scene::kBloomQuarter,
                                  Scene::kBloomEighth, Scene::kBloomQuarterUp, Scene::kBloom}) {
    formats.emplace(light, kLightFormat);
  }
  return formats;
}

// The sets of a draw are written once for each combination of images. With two histories these are
// a handful, so nothing is ever removed.
Result<const std::vector<VkDescriptorSet>*> FrameGraph::SetsOf(const PreparedDraw& prepared,
                                                               const graph::Resources& resources) {
  // The views are part of the key, because the graph may give a draw another image in the next
  // frame: history alternates between two. The version is, because a reload changes what the sets
  // are made from.
  SetsKey key{&prepared, prepared.version, {}};
  for (const GraphImage& image : prepared.images) {
    std::get<2>(key).push_back(resources.Texture(images_.at(image.source)).view);
  }
  if (const auto known = written_.find(key); known != written_.end()) {
    return &known->second;
  }
  // Everything but the images of the graph was known when the draw was prepared; those are filled
  // in now.
  preview::ResourceTable table = prepared.resources;
  for (size_t i = 0; i < prepared.images.size(); ++i) {
    std::get<std::vector<VkImageView>>(table[prepared.images[i].image])
        .push_back(std::get<2>(key)[i]);
  }
  KILN_TRY(std::vector<VkDescriptorSet> sets,
           sets_.Make(prepared.metadata, pipelines_.Layouts(prepared.draw.pipeline), table));
  return &written_.emplace(std::move(key), std::move(sets)).first->second;
}

// Called while the graph records, on the thread that executes it.
Result<void> FrameGraph::RecordDraw(const PreparedDraw& prepared, const graph::Resources& resources,
                                    graph::CommandBuffer& commands) {
  KILN_TRY(const std::vector<VkDescriptorSet>* const sets, SetsOf(prepared, resources));
  preview::Draw draw = prepared.draw;
  draw.push = prepared.push;
  draw.sets = *sets;
  preview::RecordDraw(commands.table(), commands.handle(), resources.RenderArea(), pipelines_,
                      draw);
  ++recorded_;
  return {};
}

void FrameGraph::Record(std::span<const PreparedDraw> draws, const graph::Resources& resources,
                        graph::CommandBuffer& commands) {
  for (const PreparedDraw& prepared : draws) {
    // A callback of the graph cannot fail. The first error is kept and ends the frame behind the
    // recording.
    if (const auto recorded = RecordDraw(prepared, resources, commands);
        !recorded.ok() && !error_.has_value()) {
      error_ = recorded.error();
    }
  }
}

// The pass reads every image of the graph that its draws name.
void FrameGraph::SetDraws(graph::Graph& graph, graph::PassId pass,
                          std::span<const PreparedDraw> draws) {
  // An image that several draws of a pass read is one read of the pass: the graph needs to know it
  // once to place its barrier.
  std::vector<std::string> read;
  for (const PreparedDraw& draw : draws) {
    for (const GraphImage& image : draw.images) {
      if (std::find(read.begin(), read.end(), image.source) == read.end()) {
        read.push_back(image.source);
        graph.ReadTexture(pass, {images_.at(image.source), graph::kSampledInFragment});
      }
    }
  }
  graph.SetCallback(
      pass, [this, draws](runtime::Device&, const graph::Resources& resources,
                          graph::CommandBuffer& commands) { Record(draws, resources, commands); });
}

// What the pass reads follows from the images that its draw names, so a pass is declared by its
// result alone.
graph::TextureId FrameGraph::AddScreenPass(graph::Graph& graph, const ScreenPass& screen) {
  const graph::PassId pass = graph.CreatePass({.name = screen.pass});
  SetDraws(graph, pass, std::span(&screen.draw, 1));
  const graph::TextureId made = graph.CreateTexture(pass, {.name = screen.image,
                                                           .desc = screen.desc,
                                                           .access = graph::kColorTarget,
                                                           .keep = screen.keep});
  images_[screen.image] = made;
  return made;
}

// Cleared to the far plane: where nothing casts a shadow, everything is nearer than the map.
void FrameGraph::Shadow(graph::Graph& graph) {
  const graph::PassId pass = graph.CreatePass({.name = "shadow"});
  SetDraws(graph, pass, draws_.shadow);
  images_[Scene::kShadowMap] = graph.CreateTexture(
      pass, {.name = Scene::kShadowMap,
             .desc = {.format = kDepthFormat, .size = {scene_.shadow_side, scene_.shadow_side, 1}},
             .access = graph::kDepthTarget,
             .contents = graph::ClearedToDepth(1),
             .keep = {}});
}

void FrameGraph::Forward(graph::Graph& graph) {
  const graph::PassId pass = graph.CreatePass({.name = "forward"});
  SetDraws(graph, pass, draws_.forward[frame_ % Scene::kPhases]);
  VkClearValue background{};
  std::ranges::copy(scene_.background, background.color.float32);
  images_[Scene::kSceneColor] = graph.CreateTexture(
      pass, {.name = Scene::kSceneColor,
             .desc = Image(kLightFormat),
             .access = graph::kColorTarget,
             .contents = {.kind = graph::ContentKind::kClear, .value = background},
             .keep = {}});
  images_[Scene::kSceneDepth] = graph.CreateTexture(pass, {.name = Scene::kSceneDepth,
                                                           .desc = Image(kDepthFormat),
                                                           .access = graph::kDepthTarget,
                                                           .contents = graph::ClearedToDepth(1),
                                                           .keep = {}});
}

void FrameGraph::Lighting(graph::Graph& graph) {
  AddScreenPass(graph, {.pass = "lighting",
                        .image = Scene::kSceneLight,
                        .desc = Image(kLightFormat),
                        .draw = draws_.lighting.front()});
}

void FrameGraph::Temporal(graph::Graph& graph) {
  // The resolved image of this frame is the history of the next one: it is kept beyond the frame,
  // and asked for by its handle of the last one.
  images_[Scene::kHistory] = graph.HistoryTexture(
      {.name = Scene::kHistory, .desc = Image(kLightFormat), .initial = {}, .previous = resolved_});
  resolved_ = AddScreenPass(graph, {.pass = "temporal resolve",
                                    .image = Scene::kResolved,
                                    .desc = Image(kLightFormat),
                                    .draw = draws_.temporal[std::min(frame_, Scene::kPhases - 1)],
                                    .keep = {.next_frame = true}});
}

void FrameGraph::Bloom(graph::Graph& graph) {
  for (size_t i = 0; i < kBloomSteps.size(); ++i) {
    AddScreenPass(graph, {.pass = kBloomSteps[i].pass,
                          .image = kBloomSteps[i].image,
                          .desc = Image(kLightFormat, kBloomSteps[i].divisor),
                          .draw = draws_.bloom[i]});
  }
}

graph::TextureId FrameGraph::Compose(graph::Graph& graph) {
  return AddScreenPass(graph, {.pass = "compose",
                               .image = "display",
                               .desc = Image(kPictureFormat),
                               .draw = draws_.compose.front()});
}

// Draws over what is there.
graph::TextureId FrameGraph::Interface(graph::Graph& graph, graph::TextureId display) {
  const graph::PassId pass = graph.CreatePass({.name = "interface"});
  SetDraws(graph, pass, draws_.interface);
  return graph.WriteTexture(pass, {.name = "picture",
                                   .texture = display,
                                   .access = graph::kColorTarget,
                                   .discard = false,
                                   .keep = {}});
}

graph::BufferId FrameGraph::Declare(graph::Graph& graph, const graph::Presentation& window,
                                    bool read_back) {
  graph.BeginFrame();
  // Handles are of one frame. The passes are declared in the order in which they use what others
  // made.
  images_.clear();
  Shadow(graph);
  Forward(graph);
  Lighting(graph);
  Temporal(graph);
  Bloom(graph);
  const graph::TextureId picture = Interface(graph, Compose(graph));
  // Only the last frame is read back: the others need no copy.
  const graph::BufferId pixels =
      read_back ? graph::ReadBack(graph, picture, Image(kPictureFormat)) : graph::BufferId{};
  graph::Presentation presentation = window;
  presentation.texture = picture;
  graph.Present(presentation);
  ++frame_;
  return pixels;
}

}  // namespace kiln::demo
