// SPDX-License-Identifier: MIT
#include "deploy/demo/engine/renderer.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "runtime/graph/device_model.h"
#include "runtime/graph/execute.h"
#include "runtime/graph/planner.h"
#include "runtime/graph/print_plan.h"
#include "runtime/pipeline/pack_vertices.h"
#include "runtime/preview/descriptors.h"
#include "runtime/preview/frame.h"
#include "runtime/preview/sampler.h"

namespace kiln::demo {
namespace {

using artifact::PipelineMetadata;
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

// An image of the shader that a pass of the graph makes.
struct GraphImage {
  std::string image;
  std::string source;  // "shadow_map", …
};

// A draw with everything that the device needs for it, but the images of the graph: those are known
// when the pass is recorded.
struct PreparedDraw {
  preview::Draw draw;
  Bytes push;
  PipelineMetadata metadata;
  preview::ResourceTable resources;
  std::vector<GraphImage> images;
};

constexpr VkFormat kColorFormat = VK_FORMAT_R16G16B16A16_SFLOAT;
constexpr VkFormat kDepthFormat = VK_FORMAT_D32_SFLOAT;
constexpr VkFormat kPictureFormat = VK_FORMAT_R8G8B8A8_UNORM;

constexpr graph::Access kColorWrite{
    .stages = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
    .accesses = VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT};
constexpr graph::Access kDepthWrite{.stages = VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT |
                                              VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT,
                                    .accesses = VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
                                                VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT};
// The descriptors say so for depth as well.
constexpr graph::Access kSampled{.stages = VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
                                 .accesses = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT,
                                 .layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};

class Renderer {
 public:
  Renderer(runtime::Device& device, const Scene& scene, VariantSource& variants)
      : device_(device),
        scene_(scene),
        variants_(variants),
        memory_(device),
        pipelines_(device),
        sets_(device) {}

  Result<RenderReport> Render(VkExtent2D extent);

 private:
  using Draws = std::vector<PreparedDraw>;

  Result<void> UploadTextures();
  Result<void> Prepare(const std::vector<SceneDraw>& draws, const ValueTable& pass_values,
                       const runtime::PassSignature& signature, Draws& out);
  Result<PreparedDraw> PrepareDraw(const SceneDraw& draw, const ValueTable& values,
                                   const runtime::PassSignature& signature);
  Result<PipelineId> BuildPipeline(const SceneDraw& draw, const VariantCode& code,
                                   const runtime::PassSignature& signature);
  Result<void> FindResources(const SceneDraw& draw, const ValueTable& values, PreparedDraw& out);
  Result<void> FindImage(const SceneDraw& draw, const std::string& image, PreparedDraw& out);
  Result<void> FillMesh(const SceneDraw& draw, const PipelineMetadata& metadata,
                        preview::Draw& out);
  Result<VkBuffer> PackSource(const SceneDraw& draw, const artifact::AttributeSource& source);
  Result<VkBuffer> Keep(std::span<const std::byte> bytes, VkBufferUsageFlags usage);
  graph::BufferId Declare(graph::Graph& graph, VkExtent2D extent);
  graph::TextureId DeclareShadow(graph::Graph& graph);
  void DeclareForward(graph::Graph& graph, VkExtent2D extent);
  graph::TextureId DeclareScreen(graph::Graph& graph, VkExtent2D extent);
  graph::BufferId DeclareReadBack(graph::Graph& graph, graph::TextureId picture, VkExtent2D extent);
  void SetDraws(graph::Graph& graph, graph::PassId pass, const Draws& draws);
  // What a pass records: everything that it draws.
  void Record(const Draws& draws, const graph::Resources& resources,
              graph::CommandBuffer& commands);
  Result<void> RecordDraw(const PreparedDraw& prepared, const graph::Resources& resources,
                          graph::CommandBuffer& commands);

  runtime::Device& device_;
  const Scene& scene_;
  VariantSource& variants_;
  vk::Memory memory_;
  runtime::Pipelines pipelines_;
  preview::DescriptorSets sets_;
  std::optional<vk::Queue> queue_;
  std::map<std::string, Target> textures_;
  std::map<std::string, graph::TextureId> graph_images_;
  Draws shadow_;
  Draws forward_;
  Draws screen_;
  std::optional<Error> error_;  // the first of a callback
  std::map<std::string, vk::UniqueSampler> samplers_;
  std::deque<vk::Buffer> buffers_;
  double build_ms_ = 0;
};

Result<VkBuffer> Renderer::Keep(std::span<const std::byte> bytes, VkBufferUsageFlags usage) {
  KILN_TRY(vk::Buffer buffer, preview::UploadBuffer(device_, memory_, bytes, usage));
  buffers_.push_back(std::move(buffer));
  return buffers_.back().handle.get();
}

Result<void> Renderer::UploadTextures() {
  for (const auto& [name, data] : scene_.textures) {
    KILN_TRY(Target target, preview::UploadImage(device_, memory_, *queue_, data));
    textures_.emplace(name, std::move(target));
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

// Views of textures; images of the graph are only remembered.
Result<void> Renderer::FindImage(const SceneDraw& draw, const std::string& image,
                                 PreparedDraw& out) {
  const auto names = draw.images.find(image);
  if (names == draw.images.end()) {
    return Error{ErrorCode::kNotFound, fmt::format("no texture is given for '{}'", image), ""};
  }
  std::vector<VkImageView> views;
  for (const std::string& name : names->second) {
    if (name == Scene::kShadowMap || name == Scene::kSceneColor || name == Scene::kSceneDepth) {
      out.images.push_back({.image = image, .source = name});
      continue;
    }
    const auto texture = textures_.find(name);
    if (texture == textures_.end()) {
      return Error{ErrorCode::kNotFound, fmt::format("there is no texture '{}'", name), ""};
    }
    views.push_back(texture->second.image.view.get());
  }
  out.resources[image] = views;
  return {};
}

Result<void> Renderer::FindResources(const SceneDraw& draw, const ValueTable& values,
                                     PreparedDraw& out) {
  for (const auto& [name, sampler] : samplers_) {
    out.resources[name] = sampler.get();
  }
  for (const artifact::Set& set : out.metadata.sets) {
    for (const artifact::Buffer& buffer : set.buffers) {
      KILN_TRY(const Bytes bytes, FillBuffer(buffer, values));
      KILN_TRY(out.resources[buffer.name], Keep(bytes, buffer.type == artifact::BufferType::kUniform
                                                           ? VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT
                                                           : VK_BUFFER_USAGE_STORAGE_BUFFER_BIT));
    }
    for (const artifact::Image& image : set.images) {
      KILN_TRY_VOID(FindImage(draw, image.name, out));
    }
  }
  return {};
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
  out.metadata = code.metadata;
  KILN_TRY(out.draw.pipeline, BuildPipeline(draw, code, signature));
  KILN_TRY_VOID(FindResources(draw, values, out));
  KILN_TRY_VOID(FillMesh(draw, code.metadata, out.draw));
  if (code.metadata.push_constant) {
    const artifact::PushConstant& push = *code.metadata.push_constant;
    KILN_TRY(out.push, FillBlock(push.name, push.members,
                                 pipelines_.Layouts(out.draw.pipeline).push_size, values));
  }
  return out;
}

Result<void> Renderer::Prepare(const std::vector<SceneDraw>& draws, const ValueTable& pass_values,
                               const runtime::PassSignature& signature, Draws& out) {
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

Result<void> Renderer::RecordDraw(const PreparedDraw& prepared, const graph::Resources& resources,
                                  graph::CommandBuffer& commands) {
  preview::ResourceTable table = prepared.resources;
  for (const GraphImage& image : prepared.images) {
    const graph::BoundTexture texture = resources.Texture(graph_images_.at(image.source));
    std::get<std::vector<VkImageView>>(table[image.image]).push_back(texture.view);
  }
  preview::Draw draw = prepared.draw;
  draw.push = prepared.push;
  KILN_TRY(draw.sets,
           sets_.Make(prepared.metadata, pipelines_.Layouts(prepared.draw.pipeline), table));
  preview::RecordDraw(commands.table(), commands.handle(), resources.RenderArea(), pipelines_,
                      draw);
  return {};
}

void Renderer::Record(const Draws& draws, const graph::Resources& resources,
                      graph::CommandBuffer& commands) {
  for (const PreparedDraw& prepared : draws) {
    if (const auto recorded = RecordDraw(prepared, resources, commands);
        !recorded.ok() && !error_.has_value()) {
      error_ = recorded.error();
    }
  }
}

void Renderer::SetDraws(graph::Graph& graph, graph::PassId pass, const Draws& draws) {
  graph.SetCallback(pass,
                    [this, draws = &draws](runtime::Device&, const graph::Resources& resources,
                                           graph::CommandBuffer& commands) {
                      Record(*draws, resources, commands);
                    });
}

graph::TextureDesc TargetOf(VkFormat format, VkExtent2D extent) {
  return {.format = format, .size = {extent.width, extent.height, 1}};
}

constexpr graph::Contents kFarAway{.kind = graph::ContentKind::kClear,
                                   .value = {.depthStencil = {1, 0}}};

graph::TextureId Renderer::DeclareShadow(graph::Graph& graph) {
  const graph::PassId pass = graph.CreatePass({.name = "shadow"});
  SetDraws(graph, pass, shadow_);
  return graph.CreateTexture(
      pass, {.name = Scene::kShadowMap,
             .desc = TargetOf(kDepthFormat, {scene_.shadow_side, scene_.shadow_side}),
             .access = kDepthWrite,
             .contents = kFarAway,
             .keep = {}});
}

void Renderer::DeclareForward(graph::Graph& graph, VkExtent2D extent) {
  const graph::PassId pass = graph.CreatePass({.name = "forward"});
  SetDraws(graph, pass, forward_);
  graph.ReadTexture(pass, {graph_images_.at(Scene::kShadowMap), kSampled});
  VkClearValue background{};
  std::ranges::copy(scene_.background, background.color.float32);
  graph_images_[Scene::kSceneColor] = graph.CreateTexture(
      pass, {.name = Scene::kSceneColor,
             .desc = TargetOf(kColorFormat, extent),
             .access = kColorWrite,
             .contents = {.kind = graph::ContentKind::kClear, .value = background},
             .keep = {}});
  graph_images_[Scene::kSceneDepth] =
      graph.CreateTexture(pass, {.name = Scene::kSceneDepth,
                                 .desc = TargetOf(kDepthFormat, extent),
                                 .access = kDepthWrite,
                                 .contents = kFarAway,
                                 .keep = {}});
}

graph::TextureId Renderer::DeclareScreen(graph::Graph& graph, VkExtent2D extent) {
  const graph::PassId pass = graph.CreatePass({.name = "screen"});
  SetDraws(graph, pass, screen_);
  graph.ReadTexture(pass, {graph_images_.at(Scene::kSceneColor), kSampled});
  graph.ReadTexture(pass, {graph_images_.at(Scene::kSceneDepth), kSampled});
  return graph.CreateTexture(pass, {.name = "picture",
                                    .desc = TargetOf(kPictureFormat, extent),
                                    .access = kColorWrite,
                                    .contents = {.kind = graph::ContentKind::kClear},
                                    .keep = {}});
}

graph::BufferId Renderer::DeclareReadBack(graph::Graph& graph, graph::TextureId picture,
                                          VkExtent2D extent) {
  const graph::PassId pass =
      graph.CreatePass({.name = "read back", .kind = graph::PassKind::kTransfer});
  graph.ReadTexture(pass, {picture, {.accesses = VK_ACCESS_2_TRANSFER_READ_BIT}});
  const graph::BufferId pixels =
      graph.CreateBuffer(pass, {.name = "pixels",
                                .desc = {.size = VkDeviceSize{extent.width} * extent.height * 4,
                                         .memory = graph::MemoryKind::kReadback},
                                .access = {.accesses = VK_ACCESS_2_TRANSFER_WRITE_BIT},
                                .contents = {.kind = graph::ContentKind::kAllWritten},
                                .keep = {}});
  graph.SetCallback(pass, [=](runtime::Device&, const graph::Resources& resources,
                              graph::CommandBuffer& commands) {
    const graph::BoundTexture from = resources.Texture(picture);
    const graph::BoundBuffer to = resources.Buffer(pixels);
    VkBufferImageCopy region{};
    region.bufferOffset = to.offset;
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.imageExtent = {extent.width, extent.height, 1};
    commands.table().CmdCopyImageToBuffer(commands.handle(), from.image, from.layout, to.buffer, 1,
                                          &region);
  });
  graph.ExportBuffer(
      pixels, {.stages = VK_PIPELINE_STAGE_2_HOST_BIT, .accesses = VK_ACCESS_2_HOST_READ_BIT});
  return pixels;
}

graph::BufferId Renderer::Declare(graph::Graph& graph, VkExtent2D extent) {
  graph.BeginFrame();
  graph_images_[Scene::kShadowMap] = DeclareShadow(graph);
  DeclareForward(graph, extent);
  return DeclareReadBack(graph, DeclareScreen(graph, extent), extent);
}

Result<RenderReport> Renderer::Render(VkExtent2D extent) {
  KILN_TRY(vk::Queue queue, vk::Queue::Create(device_));
  queue_.emplace(std::move(queue));
  KILN_TRY_VOID(UploadTextures());
  KILN_TRY_VOID(
      Prepare(scene_.shadow, scene_.shadow_values, {.depth_stencil = kDepthFormat}, shadow_));
  KILN_TRY_VOID(Prepare(scene_.forward, scene_.forward_values,
                        {.color = {kColorFormat}, .depth_stencil = kDepthFormat}, forward_));
  KILN_TRY_VOID(Prepare(scene_.screen, scene_.screen_values, {.color = {kPictureFormat}}, screen_));
  pipelines_.ReleaseModules();

  const auto start = std::chrono::steady_clock::now();
  graph::Graph graph;
  const graph::BufferId pixels = Declare(graph, extent);
  graph::DeviceModel model(device_);
  graph::Planner planner(model);
  KILN_TRY(graph::Executor executor, graph::Executor::Create(device_, {}));
  KILN_TRY(const graph::Plan* const plan, planner.Compile(graph, {}, executor.carried()));
  KILN_TRY(const graph::FrameTicket ticket, executor.Execute(*plan, graph));
  KILN_TRY_VOID(executor.Wait(ticket, std::chrono::seconds(60)));
  if (error_.has_value()) {
    return *error_;
  }
  RenderReport report{
      .picture = {extent.width, extent.height, {}},
      .pipelines = pipelines_.Stats(),
      .draws = static_cast<uint32_t>(shadow_.size() + forward_.size() + screen_.size()),
      .build_ms = build_ms_,
      .frame_ms = MillisecondsSince(start),
      .plan = graph::PrintPlan(*plan, graph),
      .plan_svg = graph::PrintPlanSvg(*plan, graph)};
  const graph::BoundBuffer bytes = executor.Readback(graph, pixels);
  report.picture.rgba.resize(bytes.size);
  std::memcpy(report.picture.rgba.data(), bytes.mapped, bytes.size);
  return report;
}

}  // namespace

Result<RenderReport> Render(runtime::Device& device, const Scene& scene, VariantSource& variants,
                            VkExtent2D extent) {
  return Renderer(device, scene, variants).Render(extent);
}

}  // namespace kiln::demo
