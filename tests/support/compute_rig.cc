// SPDX-License-Identifier: MIT
#include "tests/support/compute_rig.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "runtime/preview/upload.h"
#include "tests/support/pixel_rig_gpu.h"
#include "tests/support/std430.h"
#include "tests/support/texels.h"

namespace kiln::oracle {
namespace {

constexpr preview::ImageUse kStorage = {
    VK_IMAGE_LAYOUT_GENERAL, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
    VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT};

const ir::SpecialisedDecl& DeclOf(const BuiltVariant& variant, std::string_view name) {
  const ir::SpecialisedProgram& specialised = variant.specialised();
  const auto decl = std::ranges::find_if(
      specialised.interface,
      [&](const ir::SpecialisedDecl* row) { return specialised.pool->Text(row->name) == name; });
  KILN_CHECK(decl != specialised.interface.end(), "no '{}'", name);
  return **decl;
}

// Storage images on the device, each with a buffer that carries its texels in and out.
struct DeviceImage {
  std::string name;
  preview::Target target{};
  vk::Buffer texels{};
  VkBufferImageCopy region{};
};

Result<DeviceImage> CreateImage(const PixelRig& bench, PixelRig::Gpu& gpu,
                                const BuiltVariant& variant, const std::string& name,
                                const StorageImage& image) {
  const ir::Type& type = (*variant.specialised().pool)[DeclOf(variant, name).type];
  const ir::ImageTraits traits = ir::UnpackImage(type.extent);
  const bool deep = traits.dim == ir::ImageDim::k3d;
  const auto [width, height, depth] = image.size;
  DeviceImage made{.name = name};
  KILN_TRY(made.target.image,
           vk::CreateImage(bench.device(), gpu.memory,
                           {.view_type = deep             ? VK_IMAGE_VIEW_TYPE_3D
                                         : traits.arrayed ? VK_IMAGE_VIEW_TYPE_2D_ARRAY
                                                          : VK_IMAGE_VIEW_TYPE_2D,
                            .format = FormatOf(image.format),
                            .extent = {width, height, deep ? depth : 1},
                            .layers = deep ? 1 : depth,
                            .usage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                                     VK_IMAGE_USAGE_TRANSFER_SRC_BIT}));
  const std::vector<std::byte> bytes = EncodeTexels(image);
  KILN_TRY(made.texels,
           vk::CreateBuffer(bench.device(), gpu.memory, bytes.size(),
                            VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                            vk::MemoryUse::kReadback));
  std::ranges::copy(bytes, made.texels.mapped().begin());
  made.region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, deep ? 1 : depth};
  made.region.imageExtent = {width, height, deep ? depth : 1};
  return made;
}

// Everything that was written is seen by what comes next, the host included.
void Fence(const vk::Table& table, VkCommandBuffer commands) {
  VkMemoryBarrier2 barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
  barrier.srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  barrier.srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT;
  barrier.dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_2_HOST_BIT;
  barrier.dstAccessMask =
      VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT | VK_ACCESS_2_HOST_READ_BIT;
  VkDependencyInfo dependency{};
  dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  dependency.memoryBarrierCount = 1;
  dependency.pMemoryBarriers = &barrier;
  table.CmdPipelineBarrier2(commands, &dependency);
}

struct Program {
  VkPipeline pipeline;
  runtime::LayoutSet layouts;
  std::vector<VkDescriptorSet> sets;
};

Result<void> Execute(const PixelRig& bench, PixelRig::Gpu& gpu, const Program& program,
                     const ComputeRun& run, std::vector<DeviceImage>& images) {
  const vk::Table& table = bench.device().table();
  KILN_TRY(const VkCommandBuffer commands, gpu.queue.Begin());
  for (DeviceImage& image : images) {
    preview::Transition(table, commands, image.target, preview::kCopyDestination);
    table.CmdCopyBufferToImage(commands, image.texels.handle.get(), image.target.image.handle.get(),
                               image.target.last.layout, 1, &image.region);
    preview::Transition(table, commands, image.target, kStorage);
  }
  table.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, program.pipeline);
  if (!program.sets.empty()) {
    table.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, program.layouts.layout, 0,
                                static_cast<uint32_t>(program.sets.size()), program.sets.data(), 0,
                                nullptr);
  }
  if (!run.push.empty()) {
    table.CmdPushConstants(commands, program.layouts.layout, program.layouts.stages, 0,
                           static_cast<uint32_t>(run.push.size()), run.push.data());
  }
  table.CmdDispatch(commands, run.groups[0], run.groups[1], run.groups[2]);
  Fence(table, commands);
  for (DeviceImage& image : images) {
    preview::Transition(table, commands, image.target, preview::kCopySource);
    table.CmdCopyImageToBuffer(commands, image.target.image.handle.get(), image.target.last.layout,
                               image.texels.handle.get(), 1, &image.region);
  }
  Fence(table, commands);
  KILN_TRY(const uint64_t done, gpu.queue.Submit(commands));
  KILN_TRY_VOID(gpu.queue.Wait(done));
  table.DeviceWaitIdle(bench.device().handle());  // for the layer: it sees no waits on timelines
  return {};
}

bool Agrees(const Cell& expected, uint32_t found, bool is_float) {
  const double number = FloatOf({.bits = found, .error = 0});
  return is_float ? std::fabs(FloatOf(expected) - number) <= expected.error ||
                        (expected.exact() && expected.bits == found)
                  : expected.bits == found;
}

void Note(Comparison& comparison, const Cell& expected, const Cell& found, bool is_float,
          const std::string& where) {
  if (!std::isfinite(expected.error)) {
    ++comparison.open;
    return;
  }
  ++comparison.decided;
  Cell widened = expected;
  widened.error += found.error;
  if (!Agrees(widened, found.bits, is_float) && comparison.difference.empty()) {
    comparison.difference =
        fmt::format("{}: expected {:#x} ({}) within {}, found {:#x} ({})", where, expected.bits,
                    FloatOf(expected), widened.error, found.bits, FloatOf(found));
  }
}

}  // namespace

Result<ComputeMemory> RunCompute(PixelRig& bench, const BuiltVariant& variant,
                                 const ComputeRun& run) {
  return RunCompute(bench, variant, variant.words(ir::Stage::kCompute), run);
}

Result<ComputeMemory> RunCompute(PixelRig& bench, const BuiltVariant& variant,
                                 std::span<const uint32_t> words, const ComputeRun& run) {
  PixelRig::Gpu& gpu = bench.gpu();
  runtime::Pipelines pipelines(bench.device(), runtime::DebugChecks::kOn);
  const runtime::ModuleWords modules[] = {{artifact::Stage::kCompute, words}};
  KILN_TRY(const runtime::PipelineId id, pipelines.Add("compute", variant.metadata(), modules, {}));
  if (const Error* const error = pipelines.ErrorOf(id)) {
    return *error;
  }
  preview::ResourceTable resources = run.resources;
  std::map<std::string, vk::Buffer> buffers;
  for (const auto& [name, bytes] : run.memory.buffers) {
    KILN_TRY(vk::Buffer buffer, vk::CreateBuffer(bench.device(), gpu.memory, bytes.size(),
                                                 VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                                     VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
                                                 vk::MemoryUse::kReadback));
    std::ranges::copy(bytes, buffer.mapped().begin());
    resources[name] = buffer.handle.get();
    buffers.emplace(name, std::move(buffer));
  }
  std::vector<DeviceImage> images;
  for (const auto& [name, image] : run.memory.images) {
    KILN_TRY(DeviceImage made, CreateImage(bench, gpu, variant, name, image));
    resources[name] = std::vector{made.target.image.view.get()};
    images.push_back(std::move(made));
  }
  preview::DescriptorSets sets(bench.device());
  KILN_TRY(std::vector<VkDescriptorSet> handles,
           sets.Make(variant.metadata(), pipelines.Layouts(id), resources));
  const Program program{pipelines.Get(id), pipelines.Layouts(id), std::move(handles)};
  KILN_TRY_VOID(Execute(bench, gpu, program, run, images));
  ComputeMemory found = run.memory;
  for (const auto& [name, buffer] : buffers) {
    std::ranges::copy(buffer.mapped(), found.buffers[name].begin());
  }
  for (const DeviceImage& image : images) {
    StorageImage& left = found.images[image.name];
    left.texels = DecodeTexels(left.format, image.texels.mapped());
  }
  return found;
}

Surroundings InterpretCompute(const BuiltVariant& variant, const ComputeRun& run, std::string& why,
                              Surroundings around) {
  const ir::Pool& pool = *variant.specialised().pool;
  for (const auto& [name, bytes] : run.memory.buffers) {
    around.globals[name] = ReadStd430(pool, DeclOf(variant, name).type, bytes);
  }
  for (const auto& [name, image] : run.memory.images) {
    around.images[name] = image;
  }
  if (const auto& push = variant.metadata().push_constant) {
    around.globals[push->name] = ReadStd430(pool, DeclOf(variant, push->name).type, run.push);
  }
  const Dispatch dispatch{.workgroup_size = variant.metadata().workgroup_size,
                          .groups = run.groups};
  why = InterpretDispatch(variant.specialised(), dispatch, around);
  return around;
}

Comparison CompareMemory(const BuiltVariant& variant, const Surroundings& expected,
                         const ComputeMemory& found) {
  const ir::Pool& pool = *variant.specialised().pool;
  Comparison comparison;
  for (const auto& [name, bytes] : found.buffers) {
    const Value& value = expected.globals.find(name)->second;
    size_t next = 0;
    VisitStd430(pool, DeclOf(variant, name).type, bytes.size(),
                [&, &name = name, &bytes = bytes](size_t offset, ir::Scalar scalar) {
                  const bool is_float = scalar == ir::Scalar::kF32 || scalar == ir::Scalar::kF16;
                  Note(comparison, value[next++], {BitsAt(bytes, offset, scalar), 0}, is_float,
                       fmt::format("{} at {}", name, offset));
                });
  }
  for (const auto& [name, image] : found.images) {
    const Value& texels = expected.images.find(name)->second.texels;
    for (size_t i = 0; i < texels.size(); ++i) {
      Note(comparison, texels[i], image.texels[i], HoldsFloats(image.format),
           fmt::format("{} texel {}.{}", name, i / 4, "xyzw"[i % 4]));
    }
  }
  return comparison;
}

}  // namespace kiln::oracle
