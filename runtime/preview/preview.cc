// SPDX-License-Identifier: MIT
#include "runtime/preview/preview.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <deque>
#include <memory>

#include <fmt/format.h>

#include "runtime/graph/device_model.h"
#include "runtime/graph/execute.h"
#include "runtime/graph/planner.h"
#include "runtime/pipeline/create/debug_checks.h"
#include "runtime/pipeline/create/sampling.h"
#include "runtime/pipeline/create/stand_in.h"
#include "runtime/pipeline/create/to_vulkan.h"
#include "runtime/pipeline/parameter_block.h"
#include "runtime/preview/descriptors.h"
#include "runtime/preview/frame.h"
#include "runtime/preview/placeholder_textures.h"
#include "runtime/preview/sampler.h"

namespace kiln::preview {
namespace {

using artifact::PipelineMetadata;
using runtime::PassSignature;

// A depth of 24 bits comes in words whose upper byte says nothing.
constexpr uint32_t kDepth24 = 0xFFFFFF;
constexpr std::array<float, 4> kBackground = {0.1F, 0.1F, 0.1F, 1.0F};
// Long enough for a device in software; a frame that takes longer hangs.
constexpr std::chrono::minutes kLongest{2};

double MillisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

// A test that only what is nearer to 1 passes wants depth 0 for far away.
bool IsReversed(const PipelineMetadata& metadata) {
  const artifact::CompareOperation compare = metadata.settings.depth_compare_operation;
  return metadata.settings.depth_test && (compare == artifact::CompareOperation::kGreater ||
                                          compare == artifact::CompareOperation::kGreaterOrEqual);
}

// One preview: everything that its frame needs.
// Members are destroyed in the opposite order, so buffers and samplers go before the memory and
// queue that they use.
class Studio {
 public:
  Studio(runtime::Device& device, const PipelineMetadata& metadata, const PreviewRequest& request)
      : device_(device), metadata_(metadata), request_(request), memory_(device), sets_(device) {}

  Result<Preview> Run(std::string_view name, std::span<const runtime::ModuleWords> modules);

 private:
  Result<VkBuffer> Keep(std::span<const std::byte> bytes, VkBufferUsageFlags usage);
  Result<Bytes> FillBuffer(const artifact::Buffer& buffer);
  Result<VkSampler> MakeSampler(bool comparison, bool filters);
  Result<ResourceTable> MakeResources();
  Result<void> MakePipeline(std::string_view name, std::span<const runtime::ModuleWords> modules,
                            const PassSignature& signature);
  Result<void> MakeDraw(const runtime::LayoutSet& layouts);
  Result<void> CheckNames() const;
  Result<double> DrawFrame(const PassSignature& signature);
  graph::BufferId Declare(graph::Graph& graph, const PassSignature& signature);
  void ToPicture(std::span<const std::byte> bytes);

  runtime::Device& device_;
  const PipelineMetadata& metadata_;
  const PreviewRequest& request_;
  View view_;
  vk::Memory memory_;
  std::optional<vk::Queue> queue_;
  std::optional<PlaceholderTextures> placeholders_;
  std::unique_ptr<runtime::Pipelines> pipelines_;
  DescriptorSets sets_;
  std::deque<vk::Buffer> buffers_;
  std::deque<vk::UniqueSampler> samplers_;
  std::vector<std::string> used_;  // of request_.set
  Draw draw_;
  Bytes push_;
  VkFormat read_format_ = VK_FORMAT_UNDEFINED;
  Preview out_;
};

Result<VkBuffer> Studio::Keep(std::span<const std::byte> bytes, VkBufferUsageFlags usage) {
  KILN_TRY(vk::Buffer buffer, UploadBuffer(device_, memory_, bytes, usage));
  buffers_.push_back(std::move(buffer));
  return buffers_.back().handle.get();
}

// The main part and one item of the tail.
Result<Bytes> Studio::FillBuffer(const artifact::Buffer& buffer) {
  KILN_TRY(Bytes bytes, FillDefaults(buffer.name, buffer.main_parameters, buffer.main_size, view_,
                                     request_.set, out_.parameters, used_));
  if (buffer.tail_item_size != 0) {
    const runtime::ParameterBlock tail = runtime::ParameterBlock::Tail(buffer);
    KILN_TRY(const Bytes item,
             FillDefaults(fmt::format("{}.{}", buffer.name, buffer.tail_field), tail.parameters(),
                          buffer.tail_item_size, view_, request_.set, out_.parameters, used_));
    // Between the main part and the tail there may be a gap, which is zero.
    bytes.resize(buffer.tail_offset);
    Append(bytes, item);
  }
  return bytes;
}

Result<VkSampler> Studio::MakeSampler(bool comparison, bool filters) {
  const VkFilter filter = comparison || filters ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
  KILN_TRY(vk::UniqueSampler made,
           CreateSampler(device_, {.filter = filter, .comparison = comparison}));
  samplers_.push_back(std::move(made));
  return samplers_.back().get();
}

Result<ResourceTable> Studio::MakeResources() {
  ResourceTable table;
  // Depth images that the device does not filter must not meet a linear sampler.
  const bool filters = runtime::CanFilterAll(pipelines_->Desc(draw_.pipeline), device_.caps());
  for (const artifact::Set& set : metadata_.sets) {
    for (const artifact::Buffer& buffer : set.buffers) {
      KILN_TRY(const Bytes bytes, FillBuffer(buffer));
      KILN_TRY(table[buffer.name], Keep(bytes, buffer.type == artifact::BufferType::kUniform
                                                   ? VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT
                                                   : VK_BUFFER_USAGE_STORAGE_BUFFER_BIT));
    }
    for (const artifact::Sampler& sampler : set.samplers) {
      KILN_TRY(table[sampler.name], MakeSampler(sampler.comparison, filters));
    }
    for (const artifact::Image& image : set.images) {
      if (!image.sampler.empty()) {
        KILN_TRY(table[image.sampler], MakeSampler(image.comparison, filters));
      }
      // A given picture is flat and of colors, so only such images can take one.
      const auto given = request_.images.find(image.name);
      const bool flat =
          image.type == artifact::ImageType::kColor2d && image.item == artifact::OutputItem::kFloat;
      if (given != request_.images.end() && flat) {
        KILN_TRY(table[image.name], placeholders_->Use(image, given->second));
      } else if (runtime::IsTexelBuffer(runtime::ToVulkan(image.type))) {
        KILN_TRY(table[image.name], placeholders_->MakeTexels(image));
      } else {
        KILN_TRY(table[image.name], placeholders_->Make(image));
      }
    }
  }
  return table;
}

// Every name that was set must have been something's.
// A misspelt name would otherwise change nothing, and the picture would look as if the parameter
// had no effect.
Result<void> Studio::CheckNames() const {
  std::vector<std::string> names;
  for (const Match& match : out_.parameters) {
    names.push_back(match.name.substr(match.name.rfind('.') + 1));  // as most people write them
    names.push_back(match.name);
  }
  for (const auto& [name, values] : request_.set) {
    if (std::ranges::find(used_, name) == used_.end()) {
      const std::string near = Closest(name, names);
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("there is no parameter '{}'{}", name,
                               near.empty() ? "" : fmt::format("; is it '{}'?", near)),
                   "USAGE"};
    }
  }
  names.clear();
  for (const artifact::Set& set : metadata_.sets) {
    for (const artifact::Image& image : set.images) {
      names.push_back(image.name);
    }
  }
  for (const auto& [name, picture] : request_.images) {
    if (std::ranges::find(names, name) == names.end()) {
      const std::string near = Closest(name, names);
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("there is no image '{}'{}", name,
                               near.empty() ? "" : fmt::format("; is it '{}'?", near)),
                   "USAGE"};
    }
  }
  return {};
}

Result<void> Studio::MakeDraw(const runtime::LayoutSet& layouts) {
  // A viewport with y down turns the winding around, so faces are written the other way for it.
  const bool clockwise = metadata_.fixed_state.front_face == artifact::FrontFace::kClockwise;
  const bool down = metadata_.fixed_state.viewport_y == artifact::ViewportY::kDown;
  KILN_TRY(const Shape shape,
           MakeShape(request_.mesh,
                     clockwise != down ? Winding::kClockwise : Winding::kCounterClockwise));
  for (const artifact::AttributeSource& source : metadata_.attribute_sources) {
    KILN_TRY(const Bytes bytes, PackDefaults(source, shape, view_, out_.attributes));
    KILN_TRY(const VkBuffer buffer, Keep(bytes, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT));
    draw_.vertex_buffers.emplace_back(source.binding, buffer);
  }
  // A program without attributes makes its vertices itself, and the count of the draw stays what it
  // is.
  if (!metadata_.attribute_sources.empty()) {
    KILN_TRY(draw_.indices,
             Keep(std::as_bytes(std::span(shape.indices)), VK_BUFFER_USAGE_INDEX_BUFFER_BIT));
    draw_.count = static_cast<uint32_t>(shape.indices.size());
  }
  KILN_TRY(const ResourceTable resources, MakeResources());
  if (metadata_.push_constant) {
    KILN_TRY(push_, FillDefaults(metadata_.push_constant->name, metadata_.push_constant->members,
                                 layouts.push_size, view_, request_.set, out_.parameters, used_));
  }
  // The layout rounds the size up to a multiple of four.
  push_.resize(layouts.push_size);
  draw_.push = push_;
  // Only now all parameters are known that a name could have meant.
  KILN_TRY_VOID(CheckNames());
  KILN_TRY(draw_.sets, sets_.Make(metadata_, layouts, resources));
  return {};
}

// The frame is that of any user of the graph: one pass that draws and one that copies the first
// attachment into a buffer. So a preview also tests the graph.
graph::BufferId Studio::Declare(graph::Graph& graph, const PassSignature& signature) {
  graph.BeginFrame();
  const graph::PassId pass = graph.CreatePass({.name = "preview"});
  graph::TextureId read;
  const VkExtent3D size = {request_.size.width, request_.size.height, 1};
  // Every attachment is cleared, since a pipeline may blend with what was there.
  for (size_t i = 0; i < signature.color.size(); ++i) {
    // Integers are cleared to zero, as the bits of a grey float would be an odd number.
    graph::Contents clear{.kind = graph::ContentKind::kClear, .value = {}};
    if (signature.color[i] != VK_FORMAT_R32G32B32A32_UINT &&
        signature.color[i] != VK_FORMAT_R32G32B32A32_SINT) {
      std::ranges::copy(kBackground, clear.value.color.float32);
    }
    const graph::TextureId made = graph.CreateTexture(
        pass, {.name = "color",
               .desc = {.format = signature.color[i], .size = size},
               .access = {.stages = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
                          .accesses = VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT |
                                      VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT},
               .contents = clear,
               .keep = {}});
    // The first colour is shown; without any the depth is.
    read = i == 0 ? made : read;
  }
  read_format_ = signature.color.empty() ? signature.depth_stencil : signature.color[0];
  if (signature.depth_stencil != VK_FORMAT_UNDEFINED) {
    const graph::TextureId depth = graph.CreateTexture(
        pass, {.name = "depth",
               .desc = {.format = signature.depth_stencil, .size = size},
               .access = {.stages = VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT |
                                    VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT,
                          .accesses = VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
                                      VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT},
               .contents = {.kind = graph::ContentKind::kClear,
                            .value = {.depthStencil = {IsReversed(metadata_) ? 0.0F : 1.0F, 0}}},
               .keep = {}});
    read = signature.color.empty() ? depth : read;
  }
  graph.SetCallback(pass, [this](runtime::Device&, const graph::Resources& resources,
                                 graph::CommandBuffer& commands) {
    RecordDraw(commands.table(), commands.handle(), resources.RenderArea(), *pipelines_, draw_);
  });
  const bool wide =
      read_format_ == VK_FORMAT_R32G32B32A32_UINT || read_format_ == VK_FORMAT_R32G32B32A32_SINT;
  // What the copy needs for each pixel; the picture is made of it in ToPicture.
  const VkDeviceSize texel = wide ? 16 : 4;
  const graph::PassId copy =
      graph.CreatePass({.name = "read back", .kind = graph::PassKind::kTransfer});
  graph.ReadTexture(copy, {read, {.accesses = VK_ACCESS_2_TRANSFER_READ_BIT}});
  const graph::BufferId pixels = graph.CreateBuffer(
      copy,
      {.name = "pixels",
       .desc = {.size = texel * size.width * size.height, .memory = graph::MemoryKind::kReadback},
       .access = {.accesses = VK_ACCESS_2_TRANSFER_WRITE_BIT},
       .contents = {.kind = graph::ContentKind::kAllWritten},
       .keep = {}});
  const VkImageAspectFlags aspect =
      signature.color.empty() ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
  graph.SetCallback(copy, [=](runtime::Device&, const graph::Resources& resources,
                              graph::CommandBuffer& commands) {
    const graph::BoundTexture from = resources.Texture(read);
    const graph::BoundBuffer to = resources.Buffer(pixels);
    VkBufferImageCopy region{};
    region.bufferOffset = to.offset;
    region.imageSubresource = {aspect, 0, 0, 1};
    region.imageExtent = size;
    commands.table().CmdCopyImageToBuffer(commands.handle(), from.image, from.layout, to.buffer, 1,
                                          &region);
  });
  // The host is the one who reads the buffer in the end, and without the export the graph would
  // drop both passes.
  graph.ExportBuffer(
      pixels, {.stages = VK_PIPELINE_STAGE_2_HOST_BIT, .accesses = VK_ACCESS_2_HOST_READ_BIT});
  return pixels;
}

// As 8 bits per channel: integers over their maximum, depth as grey.
void Studio::ToPicture(std::span<const std::byte> bytes) {
  const size_t count = size_t{request_.size.width} * request_.size.height;
  out_.picture = {request_.size.width, request_.size.height, std::vector<uint8_t>(count * 4, 255)};
  if (read_format_ == VK_FORMAT_R8G8B8A8_UNORM) {
    std::memcpy(out_.picture.rgba.data(), bytes.data(), count * 4);
  } else if (bytes.size() == count * 16) {
    // Small integers such as ids would be black otherwise, so the largest one is white.
    double largest = 1;
    for (size_t i = 0; i < count * 4; ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(ReadLittle<int32_t>(bytes, i * 4))));
    }
    for (size_t i = 0; i < count * 4; ++i) {
      const double value = std::abs(static_cast<double>(ReadLittle<int32_t>(bytes, i * 4)));
      out_.picture.rgba[i] = static_cast<uint8_t>(std::lround(value / largest * 255));
      // The alpha of an id means nothing.
      out_.picture.rgba[i / 4 * 4 + 3] = 255;
    }
  } else {
    for (size_t i = 0; i < count; ++i) {
      const float read = read_format_ == VK_FORMAT_D24_UNORM_S8_UINT
                             ? static_cast<float>(ReadLittle<uint32_t>(bytes, i * 4) & kDepth24) /
                                   static_cast<float>(kDepth24)
                             : ReadLittle<float>(bytes, i * 4);
      const float depth = std::clamp(read, 0.0F, 1.0F);
      std::fill_n(out_.picture.rgba.begin() + static_cast<std::ptrdiff_t>(i * 4), 3,
                  static_cast<uint8_t>(std::lround(depth * 255)));
    }
  }
  // The first pixel counts as background, so the share of the others tells an empty picture from
  // one with something in it.
  const std::array<uint8_t, 4> background = {out_.picture.rgba[0], out_.picture.rgba[1],
                                             out_.picture.rgba[2], out_.picture.rgba[3]};
  for (size_t i = 0; i < count; ++i) {
    out_.covered += std::memcmp(&out_.picture.rgba[i * 4], background.data(), 4) != 0 ? 1 : 0;
  }
}

// Graph and executor are made anew for each frame, and only declaration to completion is measured.
Result<double> Studio::DrawFrame(const PassSignature& signature) {
  graph::Graph graph;
  graph::DeviceModel model(device_);
  graph::Planner planner(model);
  KILN_TRY(graph::Executor executor, graph::Executor::Create(device_, {.labels = false}));
  const auto start = std::chrono::steady_clock::now();
  const graph::BufferId pixels = Declare(graph, signature);
  const auto plan = planner.Compile(graph, {}, executor.carried());
  if (!plan.ok()) {
    return plan.error();
  }
  KILN_TRY(const graph::FrameTicket ticket, executor.Execute(**plan, graph));
  KILN_TRY_VOID(executor.Wait(ticket, kLongest));
  const double taken = MillisecondsSince(start);
  const graph::BoundBuffer bytes = executor.Readback(graph, pixels);
  out_.covered = 0;
  ToPicture({bytes.mapped, static_cast<size_t>(bytes.size)});
  return taken;
}

// Built in Add, or built and drawn once by whoever waits.
Result<void> Studio::MakePipeline(std::string_view name,
                                  std::span<const runtime::ModuleWords> modules,
                                  const PassSignature& signature) {
  if (request_.warm_up) {
    KILN_TRY(pipelines_,
             runtime::Pipelines::Create(device_, {.threads = 0,
                                                  .first_use = runtime::FirstUse::kOn,
                                                  .debug_checks = runtime::DebugChecks::kOn}));
  } else {
    pipelines_ = std::make_unique<runtime::Pipelines>(device_, runtime::DebugChecks::kOn);
  }
  KILN_TRY(draw_.pipeline, pipelines_->Add(name, metadata_, modules, signature));
  if (request_.warm_up) {
    KILN_TRY([[maybe_unused]] const runtime::WarmReport report,
             pipelines_->Wait(pipelines_->Warm({}), kLongest));
  }
  // A pipeline that could not be made has its error here and nowhere else.
  if (const Error* const error = pipelines_->ErrorOf(draw_.pipeline)) {
    return *error;
  }
  const runtime::PipelineTimes times = pipelines_->Times()[draw_.pipeline.index];
  out_.creation_ms = std::chrono::duration<double, std::milli>(times.creation).count();
  out_.key = times.key;
  out_.signature = signature;
  out_.lints = runtime::LintsOf(pipelines_->Desc(draw_.pipeline));
  return {};
}

Result<Preview> Studio::Run(std::string_view name, std::span<const runtime::ModuleWords> modules) {
  // Checked first: everything below relies on attachments.
  if (metadata_.pipeline_type == artifact::PipelineType::kCompute) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("'{}' is a compute program, which has no picture", name), "USAGE"};
  }
  view_ = MakeView(request_.mesh,
                   static_cast<float>(request_.size.width) /
                       static_cast<float>(std::max(request_.size.height, 1U)),
                   IsReversed(metadata_), request_.frame);
  KILN_TRY(vk::Queue queue, vk::Queue::Create(device_));
  queue_.emplace(std::move(queue));
  placeholders_.emplace(device_, memory_, *queue_);
  const PassSignature signature = request_.signature
                                      ? *request_.signature
                                      : runtime::DefaultSignature(metadata_, device_.caps());
  // The pipeline comes before the resources, because its description says how samplers may filter.
  KILN_TRY_VOID(MakePipeline(name, modules, signature));
  KILN_TRY_VOID(MakeDraw(pipelines_->Layouts(draw_.pipeline)));
  // The frame is drawn twice. The first time includes what the driver does at a first use, the
  // second is the time of a frame as such.
  KILN_TRY(out_.first_use_ms, DrawFrame(signature));
  KILN_TRY(out_.draw_ms, DrawFrame(signature));
  return std::move(out_);
}

}  // namespace

Result<Preview> Render(runtime::Device& device, std::string_view name,
                       const PipelineMetadata& metadata,
                       std::span<const runtime::ModuleWords> modules,
                       const PreviewRequest& request) {
  return Studio(device, metadata, request).Run(name, modules);
}

}  // namespace kiln::preview
