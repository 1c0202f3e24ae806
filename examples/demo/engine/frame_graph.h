// SPDX-License-Identifier: MIT
// The frame as a render graph: shadow map, forward pass, lighting, temporal anti-aliasing, bloom
// chain, composition, interface, presentation; the last frame is read back as well.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "examples/demo/engine/prepare.h"
#include "runtime/graph/execute.h"
#include "runtime/graph/graph.h"

namespace kiln::demo {

// The draws of every pass.
struct FrameDraws {
  Draws shadow;
  std::array<Draws, Scene::kPhases> forward;  // by phase of the camera
  Draws lighting;
  Draws temporal;  // one per phase: the share of the new frame sinks
  Draws bloom;     // one per step
  Draws compose;
  Draws interface;
};

// Declares frame after frame and records what they draw. Everything that it is given outlives it.
class FrameGraph {
 public:
  FrameGraph(runtime::Device& device, const Scene& scene, const FrameDraws& draws,
             runtime::Pipelines& pipelines, VkExtent2D extent)
      : scene_(scene), draws_(draws), pipelines_(pipelines), sets_(device), extent_(extent) {}

  // What the passes draw to, for their pipelines.
  static runtime::PassSignature ShadowSignature();
  static runtime::PassSignature ForwardSignature();
  static runtime::PassSignature LightSignature();
  static runtime::PassSignature PictureSignature();
  // Of the images that they make.
  static PassFormats Formats();

  // Declares the next frame, presented to `window`. The handle is null unless it is read back.
  graph::BufferId Declare(graph::Graph& graph, const graph::Presentation& window, bool read_back);

  // The first error of a callback.
  const std::optional<Error>& error() const { return error_; }
  uint32_t draws() const { return recorded_; }  // of all frames

 private:
  void Shadow(graph::Graph& graph);
  void Forward(graph::Graph& graph);
  void Lighting(graph::Graph& graph);
  void Temporal(graph::Graph& graph);
  void Bloom(graph::Graph& graph);
  graph::TextureId Compose(graph::Graph& graph);
  graph::TextureId Interface(graph::Graph& graph, graph::TextureId display);

  // A pass over the whole of a new image, which gets the name.
  struct ScreenPass {
    const char* pass;
    const char* image;
    graph::TextureDesc desc;
    const PreparedDraw& draw;
    graph::Keep keep = {};
  };
  graph::TextureId AddScreenPass(graph::Graph& graph, const ScreenPass& screen);
  void SetDraws(graph::Graph& graph, graph::PassId pass, std::span<const PreparedDraw> draws);
  void Record(std::span<const PreparedDraw> draws, const graph::Resources& resources,
              graph::CommandBuffer& commands);
  // Sets are written once for the images that the graph gives the draw.
  Result<const std::vector<VkDescriptorSet>*> SetsOf(const PreparedDraw& prepared,
                                                     const graph::Resources& resources);
  Result<void> RecordDraw(const PreparedDraw& prepared, const graph::Resources& resources,
                          graph::CommandBuffer& commands);
  graph::TextureDesc Image(VkFormat format, uint32_t divisor = 1) const;

  const Scene& scene_;
  const FrameDraws& draws_;
  runtime::Pipelines& pipelines_;
  preview::DescriptorSets sets_;
  using SetsKey = std::tuple<const PreparedDraw*, uint32_t, std::vector<VkImageView>>;
  std::map<SetsKey, std::vector<VkDescriptorSet>> written_;
  VkExtent2D extent_;
  uint32_t frame_ = 0;
  uint32_t recorded_ = 0;
  std::map<std::string, graph::TextureId> images_;  // of this frame, by Scene's names
  graph::TextureId resolved_;                       // of the last frame
  std::optional<Error> error_;
};

}  // namespace kiln::demo
