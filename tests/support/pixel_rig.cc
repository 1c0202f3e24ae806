// SPDX-License-Identifier: MIT
#include "tests/support/pixel_rig.h"

#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "runtime/pipeline/pack_vertices.h"
#include "runtime/preview/frame.h"
#include "runtime/preview/upload.h"
#include "tests/support/pixel_rig_gpu.h"

namespace kiln::oracle {
namespace {

constexpr std::string_view kPrelude = R"(
state_container bench_screen { f2 pixel; };
color_output_container result { f4 f0; f4 f1; f4 f2; f4 f3; u4 u0; s4 s0; };
struct bench_sample_t { f4[8] f; u4[3] u; s4[3] s; };
set_pass read_only_storage_buffer bench { bench_sample_t... samples; };
setting cull_mode = "none";
setting depth_test = false;
setting depth_write = false;
void bench_fragment (void)
{
    result.f0 = f4 { 0.0 };
    result.f1 = f4 { 0.0 };
    result.f2 = f4 { 0.0 };
    result.f3 = f4 { 0.0 };
    result.u0 = u4 { 0u };
    result.s0 = s4 { 0 };
    probe (u1 { bench_screen.pixel.x } + u1 { bench_screen.pixel.y } * 16u);
}
)";
constexpr std::string_view kVertexPrelude = R"(
vertex_attribute_container bench_corner { f2 position; };
void bench_vertex (void)
{
    f2 corner = bench_corner.position;
    vertex_stage_output_position (f4 { corner, 0.0, 1.0 });
    bench_screen.pixel = (f2 { corner.x, -corner.y } + f2 { 1.0 }) * 8.0;
}
)";

struct Output {
  std::string_view name;
  VkFormat format;
};
constexpr std::array<Output, 6> kOutputs = {{{"result.f0", VK_FORMAT_R32G32B32A32_SFLOAT},
                                             {"result.f1", VK_FORMAT_R32G32B32A32_SFLOAT},
                                             {"result.f2", VK_FORMAT_R32G32B32A32_SFLOAT},
                                             {"result.f3", VK_FORMAT_R32G32B32A32_SFLOAT},
                                             {"result.u0", VK_FORMAT_R32G32B32A32_UINT},
                                             {"result.s0", VK_FORMAT_R32G32B32A32_SINT}}};
constexpr VkExtent2D kExtent = {kBenchSide, kBenchSide};

// What the pixel with this number finds: the bench's triangle turns left, fronts turn right.
Inputs InputsOf(uint32_t pixel) {
  const float x = static_cast<float>(pixel % kBenchSide) + 0.5F;
  const uint32_t row = pixel / kBenchSide;
  const float y = static_cast<float>(row) + 0.5F;
  Inputs inputs;
  inputs.fields["bench_screen.pixel"] = ExactFloats(std::array{x, y});
  inputs.stage[ir::StageVariable::kFragCoord] = ExactFloats(std::array{x, y, 0.0F, 1.0F});
  inputs.stage[ir::StageVariable::kFrontFacing] = {{.bits = 0, .error = 0}};
  return inputs;
}

bool IsFloat(size_t output) { return output < 4; }

// Does a device's result agree with the interpreter's?
bool Agrees(const Cell& expected, uint32_t found, bool is_float) {
  if (!is_float) {
    return expected.bits == found;
  }
  const double difference =
      std::fabs(double{FloatOf(expected)} - double{FloatOf({.bits = found, .error = 0})});
  return difference <= expected.error;  // false for a NaN
}

std::string Text(uint32_t bits, bool is_float) {
  return is_float ? fmt::format("{} ({:#010x})", FloatOf({.bits = bits, .error = 0}), bits)
                  : fmt::format("{:#010x}", bits);
}

std::string Text(const Sample& sample) {
  return fmt::format("f {}\nu {}\ns {}\n", fmt::join(sample.f, " "), fmt::join(sample.u, " "),
                     fmt::join(sample.s, " "));
}

// Copies a colour target that a finished frame drew.
Result<vk::Buffer> ReadBack(const runtime::Device& device, vk::Memory& memory, vk::Queue& queue,
                            preview::Target& target) {
  KILN_TRY(vk::Buffer buffer,
           vk::CreateBuffer(device, memory, VkDeviceSize{kBenchPixels} * 16,
                            VK_BUFFER_USAGE_TRANSFER_DST_BIT, vk::MemoryUse::kReadback));
  KILN_TRY(const VkCommandBuffer commands, queue.Begin());
  preview::Transition(device.table(), commands, target, preview::kCopySource);
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  region.imageExtent = target.image.info.extent;
  device.table().CmdCopyImageToBuffer(commands, target.image.handle.get(), target.last.layout,
                                      buffer.handle.get(), 1, &region);
  KILN_TRY(const uint64_t done, queue.Submit(commands));
  KILN_TRY_VOID(queue.Wait(done));
  // The validation layer of Debian 12 does not see host waits on timelines: without this it takes
  // the next copy into the same memory for a hazard.
  device.table().DeviceWaitIdle(device.handle());
  return buffer;
}

Result<std::vector<preview::Target>> CreateTargets(const runtime::Device& device,
                                                   vk::Memory& memory) {
  std::vector<preview::Target> targets;
  for (const Output& output : kOutputs) {
    KILN_TRY(preview::Target target, preview::CreateTarget(device, memory, output.format, kExtent));
    targets.push_back(std::move(target));
  }
  return targets;
}

// The prelude's corners, for programs that have attributes.
Result<std::vector<vk::Buffer>> CornersOf(const artifact::PipelineMetadata& metadata,
                                          const runtime::Device& device, vk::Memory& memory) {
  std::vector<vk::Buffer> buffers;
  if (metadata.attribute_sources.empty()) {
    return buffers;
  }
  const std::vector<float> corners = {-1, -1, 3, -1, -1, 3};
  const std::vector<runtime::AttributeData> attributes = {{"position", 2, corners}};
  KILN_TRY(const Bytes packed, runtime::PackVertices(metadata.attribute_sources[0], attributes, 3));
  KILN_TRY(vk::Buffer buffer,
           preview::UploadBuffer(device, memory, packed, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT));
  buffers.push_back(std::move(buffer));
  return buffers;
}

preview::PassInfo PassOver(std::vector<preview::Target>& targets) {
  preview::PassInfo pass;
  VkClearValue clear{};
  for (uint32_t& word : clear.color.uint32) {
    word = kClearWord;
  }
  for (preview::Target& target : targets) {
    pass.color.push_back({&target, clear});
  }
  return pass;
}

}  // namespace

VariantRequest BenchRequest(std::string source) {
  VariantRequest request = VertexBenchRequest(std::move(source));
  request.sources.emplace(request.sources.begin(), kVertexPrelude);
  return request;
}

VariantRequest VertexBenchRequest(std::string source) {
  return {.sources = {std::string(kPrelude), std::move(source)},
          .entries = {"vertex:bench_vertex", "fragment:bench_fragment"}};
}

std::vector<Outcome> InterpretPixels(const BuiltVariant& variant, const Samples& samples,
                                     Surroundings around) {
  std::vector<uint32_t> words(sizeof(Samples) / sizeof(uint32_t));
  std::memcpy(words.data(), samples.data(), sizeof(Samples));
  around.globals["bench"] = ExactValue(words);
  std::vector<Outcome> outcomes(kBenchPixels);
  if (!NeedsQuads(variant.specialised())) {
    for (uint32_t i = 0; i < kBenchPixels; ++i) {
      outcomes[i] = Interpret(variant.specialised(), ir::Stage::kFragment, around, InputsOf(i));
    }
    return outcomes;
  }
  for (uint32_t i = 0; i < kBenchPixels;
       i += i % kBenchSide == kBenchSide - 2 ? kBenchSide + 2 : 2) {
    const std::array<uint32_t, 4> quad = {i, i + 1, i + kBenchSide, i + kBenchSide + 1};
    const std::array<Inputs, 4> inputs = {InputsOf(quad[0]), InputsOf(quad[1]), InputsOf(quad[2]),
                                          InputsOf(quad[3])};
    const std::vector<Outcome> members = InterpretQuad(variant.specialised(), around, inputs);
    for (size_t member = 0; member < quad.size(); ++member) {
      outcomes[quad[member]] = members[member];
    }
  }
  return outcomes;
}

Comparison Compare(std::span<const Outcome> expected, const Pixels& found, const Samples& samples) {
  Comparison comparison;
  for (size_t pixel = 0; pixel < expected.size(); ++pixel) {
    const Outcome& outcome = expected[pixel];
    if (!outcome.undecided.empty()) {
      comparison.open += static_cast<uint32_t>(found[pixel].size());
      continue;
    }
    for (size_t i = 0; i < found[pixel].size(); ++i) {
      const bool is_float = IsFloat(i / 4);
      const std::string_view output = kOutputs[i / 4].name;
      const Cell cell = outcome.discarded ? Cell{.bits = kClearWord, .error = 0}
                                          : outcome.written.find(output)->second[i % 4];
      if (!std::isfinite(cell.error)) {
        ++comparison.open;
        continue;
      }
      ++comparison.decided;
      if (!Agrees(cell, found[pixel][i], is_float) && comparison.difference.empty()) {
        comparison.difference =
            fmt::format("pixel {}, {}.{}: expected {} within {}, found {}\n{}", pixel, output,
                        "xyzw"[i % 4], Text(cell.bits, is_float), cell.error,
                        Text(found[pixel][i], is_float), Text(samples[pixel]));
      }
    }
  }
  return comparison;
}

PixelRig::PixelRig() {
  auto device = runtime::Device::Create(
      {.prefer = "software", .validation = true, .messages = [this](const vk::Message& message) {
         messages_.push_back(message.text);
       }});
  KILN_CHECK(device.ok(), "{}", ErrorText(device.error()));
  device_.emplace(std::move(device).value());
  gpu_ = std::make_unique<Gpu>(*device_);
}

PixelRig::~PixelRig() = default;

std::vector<std::string> PixelRig::TakeMessages() { return std::exchange(messages_, {}); }

Result<Pixels> PixelRig::Run(const BuiltVariant& variant, const Samples& samples,
                             const Extra& extra) {
  const artifact::PipelineMetadata& metadata = variant.metadata();
  KILN_TRY(std::vector<preview::Target> targets, CreateTargets(*device_, gpu_->memory));
  const preview::PassInfo pass = PassOver(targets);
  runtime::Pipelines pipelines(*device_, runtime::DebugChecks::kOn);
  const runtime::ModuleWords modules[] = {
      {artifact::Stage::kVertex, variant.words(ir::Stage::kVertex)},
      {artifact::Stage::kFragment, variant.words(ir::Stage::kFragment)}};
  KILN_TRY(const runtime::PipelineId pipeline,
           pipelines.Add("bench", metadata, modules, preview::SignatureOf(pass)));
  if (const Error* const error = pipelines.ErrorOf(pipeline)) {
    return *error;
  }
  KILN_TRY(const std::vector<vk::Buffer> vertices, CornersOf(metadata, *device_, gpu_->memory));
  KILN_TRY(const vk::Buffer inputs,
           preview::UploadBuffer(*device_, gpu_->memory, std::as_bytes(std::span(samples)),
                                 VK_BUFFER_USAGE_STORAGE_BUFFER_BIT));
  preview::ResourceTable resources = extra.resources;
  resources["bench"] = inputs.handle.get();
  preview::DescriptorSets sets(*device_);
  KILN_TRY(const std::vector<VkDescriptorSet> handles,
           sets.Make(metadata, pipelines.Layouts(pipeline), resources));
  KILN_TRY(preview::Frame frame, preview::Frame::Begin(*device_, gpu_->queue));
  frame.BeginPass(pass);
  preview::Draw draw{
      .pipeline = pipeline, .sets = handles, .instances = extra.instances, .push = extra.push};
  for (const vk::Buffer& buffer : vertices) {
    draw.vertex_buffers.emplace_back(0, buffer.handle.get());
  }
  frame.Add(pipelines, draw);
  frame.EndPass();
  KILN_TRY_VOID(frame.Finish());
  Pixels pixels(kBenchPixels);
  for (size_t i = 0; i < targets.size(); ++i) {
    KILN_TRY(const vk::Buffer texels, ReadBack(*device_, gpu_->memory, gpu_->queue, targets[i]));
    for (size_t pixel = 0; pixel < kBenchPixels; ++pixel) {
      std::memcpy(&pixels[pixel][i * 4], texels.mapped().data() + pixel * 16, 16);
    }
  }
  return pixels;
}

}  // namespace kiln::oracle
