// SPDX-License-Identifier: MIT
// Draws of a scene with everything that the device needs for them: pipelines from variants, and
// buffers, textures and samplers by the names and tags of metadata.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "examples/demo/engine/scene.h"
#include "examples/demo/engine/variants.h"
#include "runtime/pipeline/pipelines.h"
#include "runtime/preview/descriptors.h"
#include "runtime/preview/frame.h"
#include "runtime/preview/sampler.h"
#include "runtime/vk/queue.h"

namespace kiln::demo {

// An image of the shader that a pass of the graph makes.
struct GraphImage {
  std::string image;
  std::string source;  // of Scene::PassImages
};

// The images of the graph are known when a pass is recorded, all else is here.
struct PreparedDraw {
  preview::Draw draw;
  Bytes push;
  artifact::PipelineMetadata metadata;
  preview::ResourceTable resources;
  std::vector<GraphImage> images;

  // For a reload: what it was made from, and what takes its place once the pipeline is swapped.
  const SceneDraw* scene = nullptr;
  ValueTable values;
  runtime::SourceArtifact artifact;
  uint32_t version = 0;
  std::shared_ptr<PreparedDraw> next;
  VkPipeline drawn = VK_NULL_HANDLE;  // by this one, while `next` waits
};
using Draws = std::vector<PreparedDraw>;

// Formats of the images that passes make, by Scene's names.
using PassFormats = std::map<std::string, VkFormat>;

// Owns what it makes. What it is given outlives it. One thread.
class Preparer {
 public:
  Preparer(runtime::Device& device, const Scene& scene, runtime::Pipelines& pipelines,
           PassFormats formats)
      : device_(device),
        scene_(scene),
        pipelines_(pipelines),
        formats_(std::move(formats)),
        memory_(device) {}

  // Requires: once, before everything else.
  Result<void> UploadTextures();
  // Registers the pipelines; nothing is built here. `values` are those of the pass; a draw's own
  // come first.
  Result<Draws> Prepare(VariantSource& variants, std::span<const SceneDraw> draws,
                        const ValueTable& values, const runtime::PassSignature& signature);

  // Replaces the pipeline if the source has another artifact for the draw; true if it has. The draw
  // goes on as it is until TakeReload finds the new pipeline in its place.
  Result<bool> Reload(VariantSource& variants, PreparedDraw& draw);
  // True if the draw is a new one from now on.
  bool TakeReload(PreparedDraw& draw) const;

 private:
  Result<PreparedDraw> PrepareDraw(VariantSource& variants, const SceneDraw& draw,
                                   const ValueTable& values,
                                   const runtime::PassSignature& signature);
  // All but the pipeline, which is known already.
  Result<void> FillDraw(const VariantCode& code, PreparedDraw& out);
  VkFormat FormatOf(const std::string& image) const;  // undefined: nobody makes it
  std::vector<runtime::ImageHint> HintsOf(const SceneDraw& draw,
                                          const artifact::PipelineMetadata& metadata) const;
  Result<void> FindResources(const SceneDraw& draw, const ValueTable& values, PreparedDraw& out);
  Result<void> FindImage(const SceneDraw& draw, const std::string& image, PreparedDraw& out);
  Result<void> FillMesh(const SceneDraw& draw, const artifact::PipelineMetadata& metadata,
                        preview::Draw& out);
  Result<VkBuffer> PackSource(const SceneDraw& draw, const artifact::AttributeSource& source);
  Result<VkBuffer> Keep(std::span<const std::byte> bytes, VkBufferUsageFlags usage);

  runtime::Device& device_;
  const Scene& scene_;
  runtime::Pipelines& pipelines_;
  PassFormats formats_;
  vk::Memory memory_;
  std::optional<vk::Queue> queue_;
  std::map<std::string, preview::Target> textures_;
  std::map<std::string, vk::UniqueSampler> samplers_;
  std::deque<vk::Buffer> buffers_;
};

}  // namespace kiln::demo
