// SPDX-License-Identifier: MIT
#include "deploy/demo/engine/renderer.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>

#include <fmt/format.h>

#include "runtime/pipeline/pack_vertices.h"
#include "runtime/preview/descriptors.h"
#include "runtime/preview/frame.h"
#include "runtime/preview/sampler.h"

namespace kiln::demo {
namespace {

using artifact::PipelineMetadata;
using preview::PassInfo;
using preview::Target;
using runtime::PipelineId;

double MillisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

// Data of an attribute by its first tag that the streams have, else by its name.
const Stream* FindStream(const artifact::Attribute& attribute, const Streams& streams) {
  for (const std::string& tag : attribute.tags) {
    if (const auto found = streams.find(tag); found != streams.end()) {
      return &found->second;
    }
  }
  const auto found = streams.find(attribute.name);
  return found == streams.end() ? nullptr : &found->second;
}

// A draw with everything that the device needs for it.
struct PreparedDraw {
  preview::Draw draw;
  Bytes push;
};

class Renderer {
 public:
  Renderer(const runtime::Device& device, const Scene& scene, VariantSource& variants)
      : device_(device),
        scene_(scene),
        variants_(variants),
        memory_(device),
        pipelines_(device),
        sets_(device) {}

  Result<RenderReport> Render(VkExtent2D extent);

 private:
  Result<void> MakeTargets(VkExtent2D extent);
  Result<void> UploadTextures();
  Result<void> Prepare(const std::vector<SceneDraw>& draws, const ValueTable& pass_values,
                       const PassInfo& pass, std::vector<PreparedDraw>& out);
  Result<PreparedDraw> PrepareDraw(const SceneDraw& draw, const ValueTable& values,
                                   const runtime::PassSignature& signature);
  Result<PipelineId> BuildPipeline(const SceneDraw& draw, const VariantCode& code,
                                   const runtime::PassSignature& signature);
  Result<preview::ResourceTable> Resources(const SceneDraw& draw, const PipelineMetadata& metadata,
                                           const ValueTable& values);
  Result<std::vector<VkImageView>> Views(const SceneDraw& draw, const std::string& image);
  Result<void> FillMesh(const SceneDraw& draw, const PipelineMetadata& metadata,
                        preview::Draw& out);
  Result<VkBuffer> PackSource(const SceneDraw& draw, const artifact::AttributeSource& source);
  Result<VkBuffer> Keep(std::span<const std::byte> bytes, VkBufferUsageFlags usage);
  void DrawPass(preview::Frame& frame, const PassInfo& pass,
                const std::vector<PreparedDraw>& draws);

  const runtime::Device& device_;
  const Scene& scene_;
  VariantSource& variants_;
  vk::Memory memory_;
  runtime::Pipelines pipelines_;
  preview::DescriptorSets sets_;
  std::optional<vk::Queue> queue_;
  std::map<std::string, Target> targets_;  // textures and attachments, by name
  std::map<std::string, vk::UniqueSampler> samplers_;
  std::deque<vk::Buffer> buffers_;
  double build_ms_ = 0;
};

constexpr const char* kPicture = "picture";

Result<VkBuffer> Renderer::Keep(std::span<const std::byte> bytes, VkBufferUsageFlags usage) {
  KILN_TRY(vk::Buffer buffer, preview::UploadBuffer(device_, memory_, bytes, usage));
  buffers_.push_back(std::move(buffer));
  return buffers_.back().handle.get();
}

Result<void> Renderer::MakeTargets(VkExtent2D extent) {
  const VkExtent2D shadow = {scene_.shadow_side, scene_.shadow_side};
  struct Row {
    const char* name;
    VkFormat format;
    VkExtent2D extent;
  };
  for (const Row& row : {Row{Scene::kShadowMap, VK_FORMAT_D32_SFLOAT, shadow},
                         {Scene::kSceneColor, VK_FORMAT_R16G16B16A16_SFLOAT, extent},
                         {Scene::kSceneDepth, VK_FORMAT_D32_SFLOAT, extent},
                         {kPicture, VK_FORMAT_R8G8B8A8_UNORM, extent}}) {
    KILN_TRY(Target target, preview::CreateTarget(device_, memory_, row.format, row.extent));
    targets_.emplace(row.name, std::move(target));
  }
  return {};
}

Result<void> Renderer::UploadTextures() {
  for (const auto& [name, data] : scene_.textures) {
    KILN_TRY(Target target, preview::UploadImage(device_, memory_, *queue_, data));
    targets_.emplace(name, std::move(target));
  }
  for (const auto& [name, info] : scene_.samplers) {
    KILN_TRY(vk::UniqueSampler sampler, preview::CreateSampler(device_, info));
    samplers_.emplace(name, std::move(sampler));
  }
  return {};
}

Result<PipelineId> Renderer::BuildPipeline(const SceneDraw& draw, const VariantCode& code,
                                           const runtime::PassSignature& signature) {
  std::vector<runtime::ModuleWords> modules;
  modules.reserve(code.modules.size());
  for (const VariantCode::Module& module : code.modules) {
    modules.push_back({module.stage, module.words});
  }
  const auto start = std::chrono::steady_clock::now();
  KILN_TRY(const PipelineId id,
           pipelines_.Add(draw.variant.program, code.metadata, modules, signature));
  build_ms_ += MillisecondsSince(start);
  if (const Error* const error = pipelines_.ErrorOf(id)) {
    return *error;
  }
  return id;
}

Result<std::vector<VkImageView>> Renderer::Views(const SceneDraw& draw, const std::string& image) {
  const auto names = draw.images.find(image);
  if (names == draw.images.end()) {
    return Error{ErrorCode::kNotFound, fmt::format("no texture is given for '{}'", image), ""};
  }
  std::vector<VkImageView> views;
  for (const std::string& name : names->second) {
    const auto target = targets_.find(name);
    if (target == targets_.end()) {
      return Error{ErrorCode::kNotFound, fmt::format("there is no texture '{}'", name), ""};
    }
    views.push_back(target->second.image.view.get());
  }
  return views;
}

Result<preview::ResourceTable> Renderer::Resources(const SceneDraw& draw,
                                                   const PipelineMetadata& metadata,
                                                   const ValueTable& values) {
  preview::ResourceTable resources;
  for (const auto& [name, sampler] : samplers_) {
    resources[name] = sampler.get();
  }
  for (const artifact::Set& set : metadata.sets) {
    for (const artifact::Buffer& buffer : set.buffers) {
      KILN_TRY(const Bytes bytes, FillBuffer(buffer, values));
      KILN_TRY(resources[buffer.name], Keep(bytes, buffer.type == artifact::BufferType::kUniform
                                                       ? VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT
                                                       : VK_BUFFER_USAGE_STORAGE_BUFFER_BIT));
    }
    for (const artifact::Image& image : set.images) {
      KILN_TRY(resources[image.name], Views(draw, image.name));
    }
  }
  return resources;
}

Result<VkBuffer> Renderer::PackSource(const SceneDraw& draw,
                                      const artifact::AttributeSource& source) {
  const bool per_vertex = source.rate == artifact::InputRate::kVertex;
  const Mesh& mesh = scene_.meshes.at(draw.mesh);
  const Streams& streams = per_vertex ? mesh.streams : draw.instances;
  std::vector<runtime::AttributeData> data;
  for (const artifact::Attribute& attribute : source.attributes) {
    const Stream* const stream = FindStream(attribute, streams);
    if (stream == nullptr) {
      return Error{ErrorCode::kNotFound,
                   fmt::format("mesh '{}' has no data for attribute '{}.{}'", draw.mesh,
                               source.name, attribute.name),
                   ""};
    }
    runtime::AttributeData& item = data.emplace_back();
    item.name = attribute.name;
    item.components = stream->components;
    std::visit([&](const auto& values) { item.values = std::span(values); }, stream->values);
  }
  KILN_TRY(
      const Bytes bytes,
      runtime::PackVertices(source, data, per_vertex ? mesh.vertex_count : draw.instance_count));
  return Keep(bytes, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT);
}

Result<void> Renderer::FillMesh(const SceneDraw& draw, const PipelineMetadata& metadata,
                                preview::Draw& out) {
  for (const artifact::AttributeSource& source : metadata.attribute_sources) {
    KILN_TRY(const VkBuffer buffer, PackSource(draw, source));
    out.vertex_buffers.emplace_back(source.binding, buffer);
  }
  const Mesh& mesh = scene_.meshes.at(draw.mesh);
  KILN_TRY(out.indices,
           Keep(std::as_bytes(std::span(mesh.indices)), VK_BUFFER_USAGE_INDEX_BUFFER_BIT));
  out.count = static_cast<uint32_t>(mesh.indices.size());
  out.instances = draw.instance_count;
  return {};
}

Result<PreparedDraw> Renderer::PrepareDraw(const SceneDraw& draw, const ValueTable& values,
                                           const runtime::PassSignature& signature) {
  KILN_TRY(const VariantCode code, variants_.Get(draw.variant));
  PreparedDraw out;
  KILN_TRY(out.draw.pipeline, BuildPipeline(draw, code, signature));
  KILN_TRY(const preview::ResourceTable resources, Resources(draw, code.metadata, values));
  KILN_TRY(out.draw.sets,
           sets_.Make(code.metadata, pipelines_.Layouts(out.draw.pipeline), resources));
  KILN_TRY_VOID(FillMesh(draw, code.metadata, out.draw));
  if (code.metadata.push_constant) {
    const artifact::PushConstant& push = *code.metadata.push_constant;
    KILN_TRY(out.push, FillBlock(push.name, push.members,
                                 pipelines_.Layouts(out.draw.pipeline).push_size, values));
  }
  return out;
}

Result<void> Renderer::Prepare(const std::vector<SceneDraw>& draws, const ValueTable& pass_values,
                               const PassInfo& pass, std::vector<PreparedDraw>& out) {
  const runtime::PassSignature signature = preview::SignatureOf(pass);
  for (const SceneDraw& draw : draws) {
    ValueTable values = draw.values;
    values.AddMissing(pass_values);
    auto prepared = PrepareDraw(draw, values, signature);
    if (!prepared.ok()) {
      return WithContext(std::move(prepared).error(),
                         fmt::format("'{}' ({})", draw.name, draw.variant.program));
    }
    out.push_back(std::move(prepared).value());
  }
  return {};
}

void Renderer::DrawPass(preview::Frame& frame, const PassInfo& pass,
                        const std::vector<PreparedDraw>& draws) {
  frame.BeginPass(pass);
  for (const PreparedDraw& prepared : draws) {
    preview::Draw draw = prepared.draw;
    draw.push = prepared.push;
    frame.Add(pipelines_, draw);
  }
  frame.EndPass();
}

Result<RenderReport> Renderer::Render(VkExtent2D extent) {
  KILN_TRY(vk::Queue queue, vk::Queue::Create(device_));
  queue_.emplace(std::move(queue));
  KILN_TRY_VOID(MakeTargets(extent));
  KILN_TRY_VOID(UploadTextures());

  const VkClearValue far_away = {.depthStencil = {1, 0}};
  VkClearValue background{};
  std::ranges::copy(scene_.background, background.color.float32);
  Target& shadow_map = targets_.at(Scene::kShadowMap);
  Target& color = targets_.at(Scene::kSceneColor);
  Target& depth = targets_.at(Scene::kSceneDepth);
  Target& picture = targets_.at(kPicture);
  PassInfo shadow_pass;
  shadow_pass.depth = {&shadow_map, far_away};
  const PassInfo forward_pass{{{&color, background}}, {{&depth, far_away}}, {&shadow_map}};
  const PassInfo screen_pass{{{&picture, {}}}, {}, {&color, &depth}};

  std::vector<PreparedDraw> shadow;
  std::vector<PreparedDraw> forward;
  std::vector<PreparedDraw> screen;
  KILN_TRY_VOID(Prepare(scene_.shadow, scene_.shadow_values, shadow_pass, shadow));
  KILN_TRY_VOID(Prepare(scene_.forward, scene_.forward_values, forward_pass, forward));
  KILN_TRY_VOID(Prepare(scene_.screen, scene_.screen_values, screen_pass, screen));
  pipelines_.ReleaseModules();

  const auto start = std::chrono::steady_clock::now();
  KILN_TRY(preview::Frame frame, preview::Frame::Begin(device_, *queue_));
  DrawPass(frame, shadow_pass, shadow);
  DrawPass(frame, forward_pass, forward);
  DrawPass(frame, screen_pass, screen);
  KILN_TRY(const vk::Buffer pixels, frame.ReadBack(memory_, picture));
  KILN_TRY_VOID(frame.Finish());
  return RenderReport{
      .picture = preview::PictureOf(pixels, extent),
      .pipelines = pipelines_.Stats(),
      .draws = static_cast<uint32_t>(shadow.size() + forward.size() + screen.size()),
      .build_ms = build_ms_,
      .frame_ms = MillisecondsSince(start)};
}

}  // namespace

Result<RenderReport> Render(const runtime::Device& device, const Scene& scene,
                            VariantSource& variants, VkExtent2D extent) {
  return Renderer(device, scene, variants).Render(extent);
}

}  // namespace kiln::demo
