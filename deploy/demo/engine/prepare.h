// SPDX-License-Identifier: MIT
// Draws of a scene with everything that the device needs for them: pipelines from variants, and
// buffers, textures and samplers by the names and tags of metadata.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "deploy/demo/engine/scene.h"
#include "deploy/demo/engine/variants.h"
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
};
using Draws = std::vector<PreparedDraw>;

// Owns what it makes. The device and the scene outlive it. One thread.
class Preparer {
 public:
  Preparer(runtime::Device& device, const Scene& scene, VariantSource& variants)
      : device_(device), scene_(scene), variants_(variants), memory_(device), pipelines_(device) {}

  // Requires: once, before everything else.
  Result<void> UploadTextures();
  // `values` are those of the pass; a draw's own come first.
  Result<Draws> Prepare(std::span<const SceneDraw> draws, const ValueTable& values,
                        const runtime::PassSignature& signature);

  runtime::Pipelines& pipelines() { return pipelines_; }
  double build_ms() const { return build_ms_; }  // of all pipelines

 private:
  Result<PreparedDraw> PrepareDraw(const SceneDraw& draw, const ValueTable& values,
                                   const runtime::PassSignature& signature);
  Result<runtime::PipelineId> BuildPipeline(const SceneDraw& draw, const VariantCode& code,
                                            const runtime::PassSignature& signature);
  Result<void> FindResources(const SceneDraw& draw, const ValueTable& values, PreparedDraw& out);
  Result<void> FindImage(const SceneDraw& draw, const std::string& image, PreparedDraw& out);
  Result<void> FillMesh(const SceneDraw& draw, const artifact::PipelineMetadata& metadata,
                        preview::Draw& out);
  Result<VkBuffer> PackSource(const SceneDraw& draw, const artifact::AttributeSource& source);
  Result<VkBuffer> Keep(std::span<const std::byte> bytes, VkBufferUsageFlags usage);

  runtime::Device& device_;
  const Scene& scene_;
  VariantSource& variants_;
  vk::Memory memory_;
  runtime::Pipelines pipelines_;
  std::optional<vk::Queue> queue_;
  std::map<std::string, preview::Target> textures_;
  std::map<std::string, vk::UniqueSampler> samplers_;
  std::deque<vk::Buffer> buffers_;
  double build_ms_ = 0;
};

}  // namespace kiln::demo
