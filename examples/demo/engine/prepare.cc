// SPDX-License-Identifier: MIT
// Turns draws of the scene into what can be recorded: pipelines that are registered, buffers that
// are filled, textures that are uploaded. Metadata of the variant says what it reads; everything is
// found by name, and what the scene does not have is an error that names it.
#include "examples/demo/engine/prepare.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "runtime/pipeline/pack_vertices.h"

namespace kiln::demo {
namespace {

using artifact::PipelineMetadata;

// Samplers of one class are alike in what a driver may compile for. A number below 8, whose bits
// are the three properties.
uint32_t SamplerClass(const preview::SamplerInfo& info) {
  return (info.filter == VK_FILTER_NEAREST ? 1U : 0U) |
         (info.address == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE ? 2U : 0U) |
         (info.comparison ? 4U : 0U);
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

}  // namespace

// Buffers live as long as the preparer. A draw that was replaced may still be on the device, and
// nobody would know when it is not.
Result<VkBuffer> Preparer::Keep(std::span<const std::byte> bytes, VkBufferUsageFlags usage) {
  KILN_TRY(vk::Buffer buffer, preview::UploadBuffer(device_, memory_, bytes, usage));
  buffers_.push_back(std::move(buffer));
  return buffers_.back().handle.get();
}

// Textures are uploaded once, before any draw is prepared.
Result<void> Preparer::UploadTextures() {
  KILN_TRY(vk::Queue queue, vk::Queue::Create(device_));
  queue_.emplace(std::move(queue));
  for (const auto& [name, data] : scene_.textures) {
    KILN_TRY(preview::Target target, preview::UploadImage(device_, memory_, *queue_, data));
    textures_.emplace(name, std::move(target));
  }
  for (const auto& [name, info] : scene_.samplers) {
    KILN_TRY(vk::UniqueSampler sampler, preview::CreateSampler(device_, info));
    samplers_.emplace(name, std::move(sampler));
  }
  return {};
}

VkFormat Preparer::FormatOf(const std::string& image) const {
  if (const auto texture = scene_.textures.find(image); texture != scene_.textures.end()) {
    return texture->second.format;
  }
  const auto made = formats_.find(image);
  return made != formats_.end() ? made->second : VK_FORMAT_UNDEFINED;
}

// What the first draw of a pipeline depends on besides the pipeline: formats and samplers.
std::vector<runtime::ImageHint> Preparer::HintsOf(const SceneDraw& draw,
                                                  const PipelineMetadata& metadata) const {
  std::vector<runtime::ImageHint> hints;
  for (uint32_t set = 0; set < metadata.sets.size(); ++set) {
    for (const artifact::Sampler& sampler : metadata.sets[set].samplers) {
      if (const auto found = scene_.samplers.find(sampler.name); found != scene_.samplers.end()) {
        hints.push_back(
            {.set = set, .binding = sampler.binding, .sampler_class = SamplerClass(found->second)});
      }
    }
    for (const artifact::Image& image : metadata.sets[set].images) {
      const auto names = draw.images.find(image.name);
      if (names == draw.images.end() || names->second.empty()) {
        continue;
      }
      hints.push_back(
          {.set = set, .binding = image.binding, .format = FormatOf(names->second.front())});
    }
  }
  return hints;
}

// Views of textures; images of the graph are only remembered. Whether a name is an image of the
// graph is decided by the scene's list of names alone.
Result<void> Preparer::FindImage(const SceneDraw& draw, const std::string& image,
                                 PreparedDraw& out) {
  const auto names = draw.images.find(image);
  if (names == draw.images.end()) {
    return Error{ErrorCode::kNotFound, fmt::format("no texture is given for '{}'", image), ""};
  }
  std::vector<VkImageView> views;
  for (const std::string& name : names->second) {
    // The graph's views are appended when the sets are written, so in an array of images they come
    // behind those of textures.
    if (Scene::IsPassImage(name)) {
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

Result<void> Preparer::FindResources(const SceneDraw& draw, const ValueTable& values,
                                     PreparedDraw& out) {
  for (const auto& [name, sampler] : samplers_) {
    out.resources[name] = sampler.get();
  }
  for (const artifact::Set& set : out.metadata.sets) {
    for (const artifact::Buffer& buffer : set.buffers) {
      // Values have names and no places. Where they lie is what metadata says, and another variant
      // may say otherwise.
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

// A mesh has streams by meaning, a variant says how it wants them packed. So one mesh serves
// variants that read other attributes of it.
Result<VkBuffer> Preparer::PackSource(const SceneDraw& draw,
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

Result<void> Preparer::FillMesh(const SceneDraw& draw, const PipelineMetadata& metadata,
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

Result<void> Preparer::FillDraw(const VariantCode& code, PreparedDraw& out) {
  const SceneDraw& draw = *out.scene;
  out.metadata = code.metadata;
  out.artifact = code.artifact;
  KILN_TRY_VOID(FindResources(draw, out.values, out));
  KILN_TRY_VOID(FillMesh(draw, code.metadata, out.draw));
  if (code.metadata.push_constant) {
    const artifact::PushConstant& push = *code.metadata.push_constant;
    // Vulkan pushes multiples of four bytes.
    const uint32_t size = (code.metadata.push_constant_size + 3) / 4 * 4;
    KILN_TRY(out.push, FillBlock(push.name, push.members, size, out.values));
  }
  return {};
}

// The pipeline is only registered: all of them are built together afterwards, by several threads.
Result<PreparedDraw> Preparer::PrepareDraw(VariantSource& variants, const SceneDraw& draw,
                                           const ValueTable& values,
                                           const runtime::PassSignature& signature) {
  KILN_TRY(const VariantCode code, variants.Get(draw.variant));
  PreparedDraw out;
  out.scene = &draw;
  out.values = values;
  KILN_TRY(out.draw.pipeline,
           pipelines_.Add(code.artifact, code.source, signature, HintsOf(draw, code.metadata)));
  KILN_TRY_VOID(FillDraw(code, out));
  return out;
}

// The error names the draw and its program, since a name alone may occur in many.
Result<Draws> Preparer::Prepare(VariantSource& variants, std::span<const SceneDraw> draws,
                                const ValueTable& pass_values,
                                const runtime::PassSignature& signature) {
  Draws out;
  for (const SceneDraw& draw : draws) {
    // A value of the draw wins over one of the pass.
    ValueTable values = draw.values;
    values.AddMissing(pass_values);
    auto prepared = PrepareDraw(variants, draw, values, signature);
    if (!prepared.ok()) {
      return WithContext(std::move(prepared).error(),
                         fmt::format("'{}' ({})", draw.name, draw.variant.program));
    }
    out.push_back(std::move(prepared).value());
  }
  return out;
}

// True if the draw will get another pipeline. It must be called between two frames, on the thread
// that draws.
Result<bool> Preparer::Reload(VariantSource& variants, PreparedDraw& draw) {
  KILN_TRY(const VariantCode code, variants.Get(draw.scene->variant));
  // Artifacts are compared by digest, so a reload that changed a comment replaces nothing.
  const auto same = [](const runtime::CodeRef& a, const runtime::CodeRef& b) {
    return a.stage == b.stage && a.digest == b.digest;
  };
  if (code.artifact.metadata == draw.artifact.metadata &&
      std::ranges::equal(code.artifact.code, draw.artifact.code, same)) {
    return false;
  }
  // The new draw is complete before its pipeline is asked for. The old one is drawn until the new
  // pipeline is built, so no frame waits for it.
  auto next = std::make_shared<PreparedDraw>();
  next->scene = draw.scene;
  next->values = draw.values;
  next->draw.pipeline = draw.draw.pipeline;
  next->version = draw.version + 1;
  KILN_TRY_VOID(FillDraw(code, *next));
  KILN_TRY_VOID(pipelines_.Replace(draw.draw.pipeline, code.artifact, code.source));
  draw.drawn = pipelines_.Get(draw.draw.pipeline);
  draw.next = std::move(next);
  return true;
}

bool Preparer::TakeReload(PreparedDraw& draw) const {
  // The pipeline behind the id has changed: it was swapped between two frames, and with it the draw
  // changes its buffers and sets.
  if (draw.next == nullptr || pipelines_.Get(draw.draw.pipeline) == draw.drawn) {
    return false;
  }
  const std::shared_ptr<PreparedDraw> next = std::move(draw.next);
  draw = std::move(*next);
  return true;
}

}  // namespace kiln::demo
