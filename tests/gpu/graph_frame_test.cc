// SPDX-License-Identifier: MIT
// A frame as an engine has it, on a device: upload, shadow, forward, bloom chain, temporal resolve
// with history, composition, interface, present to an emulated swapchain. Pipelines come from
// runtime/pipeline by the signatures that the graph tells. What is shown equals what passes show
// that are submitted one by one, and the validation layer stays silent.
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/base/mutex.h"
#include "runtime/graph/device_model.h"
#include "runtime/graph/execute.h"
#include "runtime/graph/graph_file.h"
#include "runtime/graph/planner.h"
#include "runtime/graph/print_plan.h"
#include "runtime/pipeline/pipelines.h"
#include "runtime/pipeline/sample_shaders.h"
#include "runtime/preview/sampler.h"
#include "tests/gpu/emulated_swapchain.h"
#include "tests/gpu/graph_frame_shaders.h"
#include "tests/gpu/validated_device.h"

namespace kiln::graph {
namespace {

using runtime::PipelineId;

constexpr uint32_t kSide = 64;
constexpr size_t kPictureBytes = size_t{kSide} * kSide * 4;
constexpr VkExtent2D kWindow = {48, 48};
constexpr Access kColorWrite{.stages = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
                             .accesses = VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT};
constexpr Access kDepthWrite{.stages = VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT |
                                       VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT,
                             .accesses = VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
                                         VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT};
constexpr Access kSampled{.stages = VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
                          .accesses = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT};

// Pipelines and descriptors of the frame; passes hold a pointer to it. Several threads may record.
class Drawer {
 public:
  explicit Drawer(runtime::Device& device)
      : device_(device),
        vertex_(runtime::Assemble(kScreenVertex)),
        fragment_(runtime::Assemble(kMixFragment)),
        pipelines_(device),
        sampler_(std::move(preview::CreateSampler(
                               device, {.filter = VK_FILTER_NEAREST,
                                        .address = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE}))
                     .value()) {
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_SAMPLER, 64},
                                          {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 128}};
    VkDescriptorPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    info.maxSets = 64;
    info.poolSizeCount = 2;
    info.pPoolSizes = sizes;
    VkDescriptorPool pool = VK_NULL_HANDLE;
    EXPECT_EQ(device.table().CreateDescriptorPool(device.handle(), &info, nullptr, &pool),
              VK_SUCCESS);
    pool_ = vk::UniqueDescriptorPool(device.table(), device.handle(), pool);
  }

  // Depth only.
  void DrawCaster(const Resources& resources, CommandBuffer& commands) {
    const MutexLock lock(mutex_);
    artifact::PipelineMetadata metadata = Metadata();
    metadata.entry_points = {{artifact::Stage::kVertex, "main"}};
    metadata.settings.depth_test = true;
    const runtime::ModuleWords words[] = {{artifact::Stage::kVertex, vertex_}};
    const auto id = pipelines_.Add("caster", metadata, words, resources.Signature());
    ASSERT_TRUE(id.ok()) << ErrorText(id.error());
    Bind(*id, resources, commands);
    commands.table().CmdDraw(commands.handle(), 3, 1, 0, 0);
  }

  void DrawMix(const Resources& resources, CommandBuffer& commands, const BoundTexture& a,
               const BoundTexture& b, std::array<float, 3> weights, uint32_t corner = 0) {
    const MutexLock lock(mutex_);
    artifact::PipelineMetadata metadata = Metadata();
    metadata.sets[0].samplers = {{.name = "sampler", .binding = 0}};
    metadata.sets[0].images = {{.name = "a", .binding = 1, .type = artifact::ImageType::kColor2d},
                               {.name = "b", .binding = 2, .type = artifact::ImageType::kColor2d}};
    metadata.color_outputs = {{.name = "color"}};
    metadata.push_constant_size = 16;
    const runtime::ModuleWords words[] = {{artifact::Stage::kVertex, vertex_},
                                          {artifact::Stage::kFragment, fragment_}};
    const auto id = pipelines_.Add("mix", metadata, words, resources.Signature());
    ASSERT_TRUE(id.ok()) << ErrorText(id.error());
    Bind(*id, resources, commands);
    const vk::Table& table = commands.table();
    if (corner != 0) {
      const VkRect2D scissor = {{0, 0}, {corner, corner}};
      table.CmdSetScissor(commands.handle(), 0, 1, &scissor);
    }
    const VkDescriptorSet set = MakeSet(*id, a, b);
    const runtime::LayoutSet& layouts = pipelines_.Layouts(*id);
    table.CmdBindDescriptorSets(commands.handle(), VK_PIPELINE_BIND_POINT_GRAPHICS, layouts.layout,
                                0, 1, &set, 0, nullptr);
    const float side = static_cast<float>(resources.RenderArea().width);
    const std::array<float, 4> push = {weights[0], weights[1], weights[2], 1 / side};
    table.CmdPushConstants(commands.handle(), layouts.layout, layouts.stages, 0, 16, push.data());
    table.CmdDraw(commands.handle(), 3, 1, 0, 0);
  }

 private:
  static artifact::PipelineMetadata Metadata() {
    artifact::PipelineMetadata metadata;
    metadata.entry_points = {{artifact::Stage::kVertex, "main"},
                             {artifact::Stage::kFragment, "main"}};
    metadata.settings.cull_mode = artifact::CullMode::kNone;
    metadata.settings.depth_test = false;
    metadata.fixed_state.dynamic_state = {artifact::DynamicState::kViewport,
                                          artifact::DynamicState::kScissor};
    return metadata;
  }

  void Bind(PipelineId id, const Resources& resources, CommandBuffer& commands) {
    ASSERT_EQ(pipelines_.State(id), runtime::PipelineState::kReady)
        << ErrorText(*pipelines_.ErrorOf(id));
    commands.table().CmdBindPipeline(commands.handle(), VK_PIPELINE_BIND_POINT_GRAPHICS,
                                     pipelines_.Get(id));
    runtime::SetViewportFor(commands.table(), commands.handle(), pipelines_.Desc(id),
                            resources.RenderArea());
  }

  VkDescriptorSet MakeSet(PipelineId id, const BoundTexture& a, const BoundTexture& b) {
    VkDescriptorSetAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
    info.descriptorPool = pool_.get();
    info.descriptorSetCount = 1;
    info.pSetLayouts = pipelines_.Layouts(id).sets.data();
    VkDescriptorSet set = VK_NULL_HANDLE;
    EXPECT_EQ(device_.table().AllocateDescriptorSets(device_.handle(), &info, &set), VK_SUCCESS);
    const VkDescriptorImageInfo infos[] = {
        {sampler_.get(), VK_NULL_HANDLE, VK_IMAGE_LAYOUT_UNDEFINED},
        {VK_NULL_HANDLE, a.view, a.layout},
        {VK_NULL_HANDLE, b.view, b.layout}};
    VkWriteDescriptorSet writes[3]{};
    for (uint32_t i = 0; i < 3; ++i) {
      writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
      writes[i].dstSet = set;
      writes[i].dstBinding = i;
      writes[i].descriptorCount = 1;
      writes[i].descriptorType =
          i == 0 ? VK_DESCRIPTOR_TYPE_SAMPLER : VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE;
      writes[i].pImageInfo = &infos[i];
    }
    device_.table().UpdateDescriptorSets(device_.handle(), 3, writes, 0, nullptr);
    return set;
  }

  runtime::Device& device_;
  Mutex mutex_;
  std::vector<uint32_t> vertex_;
  std::vector<uint32_t> fragment_;
  runtime::Pipelines pipelines_;
  vk::UniqueSampler sampler_;
  vk::UniqueDescriptorPool pool_;
};

TextureDesc Target(uint32_t side, VkFormat format) {
  return {.format = format, .size = {side, side, 1}};
}

// Declares the frame; keeps the history from frame to frame.
class DemoFrame {
 public:
  explicit DemoFrame(Drawer* drawer) : drawer_(drawer) {}

  BufferId Declare(Graph& graph, uint32_t frame, const Presentation& window) {
    graph.BeginFrame();
    const TextureId noise = Upload(graph, frame);
    const TextureId shadow = Shadow(graph);
    const TextureId color = Forward(graph, shadow, noise);
    const TextureId bloom = Bloom(graph, color);
    const TextureId resolved = Resolve(graph, color);
    const TextureId display = Compose(graph, resolved, bloom);
    const TextureId shown = Interface(graph, display, noise);
    const BufferId pixels = ReadBack(graph, shown);
    Presentation presentation = window;
    presentation.texture = shown;
    graph.Present(presentation);
    return pixels;
  }

 private:
  struct Inputs {
    TextureId a;
    TextureId b;
    std::array<float, 3> weights;
  };

  TextureId Mix(Graph& graph, std::string_view name, const TextureDesc& desc, const Inputs& inputs,
                bool keep = false) {
    const PassId pass = graph.CreatePass({.name = name, .kind = PassKind::kGraphics});
    graph.ReadTexture(pass, {inputs.a, kSampled});
    graph.ReadTexture(pass, {inputs.b, kSampled});
    const TextureId made = graph.CreateTexture(
        pass, {.name = name, .desc = desc, .access = kColorWrite, .keep = {.next_frame = keep}});
    graph.SetCallback(pass, [drawer = drawer_, inputs](runtime::Device&, const Resources& resources,
                                                       CommandBuffer& commands) {
      drawer->DrawMix(resources, commands, resources.Texture(inputs.a), resources.Texture(inputs.b),
                      inputs.weights);
    });
    return made;
  }

  // The host writes texels, a copy makes an image of them.
  TextureId Upload(Graph& graph, uint32_t frame) {
    const PassId host = graph.CreatePass({.name = "write noise", .kind = PassKind::kHost});
    const BufferId texels =
        graph.CreateBuffer(host, {.name = "texels",
                                  .desc = {.size = kPictureBytes, .memory = MemoryKind::kUpload},
                                  .access = {.accesses = VK_ACCESS_2_HOST_WRITE_BIT},
                                  .contents = {.kind = ContentKind::kAllWritten},
                                  .keep = {}});
    graph.SetCallback(
        host, [texels, frame](runtime::Device&, const Resources& resources, CommandBuffer&) {
          const BoundBuffer buffer = resources.Buffer(texels);
          for (uint32_t i = 0; i < kPictureBytes; ++i) {
            buffer.mapped[i] = static_cast<std::byte>(i % 4 == 3 ? 255 : frame * 16);
          }
        });
    const PassId copy = graph.CreatePass({.name = "upload noise", .kind = PassKind::kTransfer});
    graph.ReadBuffer(copy, {texels, {.accesses = VK_ACCESS_2_TRANSFER_READ_BIT}});
    const TextureId noise =
        graph.CreateTexture(copy, {.name = "noise",
                                   .desc = Target(kSide, VK_FORMAT_R8G8B8A8_UNORM),
                                   .access = {.stages = VK_PIPELINE_STAGE_2_COPY_BIT,
                                              .accesses = VK_ACCESS_2_TRANSFER_WRITE_BIT},
                                   .contents = {.kind = ContentKind::kAllWritten},
                                   .keep = {}});
    graph.SetCallback(copy,
                      [=](runtime::Device&, const Resources& resources, CommandBuffer& commands) {
                        const BoundBuffer from = resources.Buffer(texels);
                        const BoundTexture to = resources.Texture(noise);
                        VkBufferImageCopy region{};
                        region.bufferOffset = from.offset;
                        region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
                        region.imageExtent = {kSide, kSide, 1};
                        commands.table().CmdCopyBufferToImage(commands.handle(), from.buffer,
                                                              to.image, to.layout, 1, &region);
                      });
    return noise;
  }

  TextureId Shadow(Graph& graph) {
    const PassId pass = graph.CreatePass({.name = "shadow", .kind = PassKind::kGraphics});
    const TextureId map = graph.CreateTexture(
        pass, {.name = "shadow map",
               .desc = Target(128, VK_FORMAT_D32_SFLOAT),
               .access = kDepthWrite,
               .contents = {.kind = ContentKind::kClear, .value = {.depthStencil = {1, 0}}},
               .keep = {}});
    graph.SetCallback(pass, [drawer = drawer_](runtime::Device&, const Resources& resources,
                                               CommandBuffer& commands) {
      drawer->DrawCaster(resources, commands);
    });
    return map;
  }

  TextureId Forward(Graph& graph, TextureId shadow, TextureId noise) {
    const PassId pass = graph.CreatePass({.name = "forward", .kind = PassKind::kGraphics});
    graph.ReadTexture(pass, {shadow, kSampled});
    graph.ReadTexture(pass, {noise, kSampled});
    const TextureId color =
        graph.CreateTexture(pass, {.name = "color",
                                   .desc = Target(kSide, VK_FORMAT_R16G16B16A16_SFLOAT),
                                   .access = kColorWrite,
                                   .contents = {.kind = ContentKind::kClear},
                                   .keep = {}});
    graph.CreateTexture(
        pass, {.name = "depth",
               .desc = Target(kSide, VK_FORMAT_D32_SFLOAT),
               .access = kDepthWrite,
               .contents = {.kind = ContentKind::kClear, .value = {.depthStencil = {1, 0}}},
               .keep = {}});
    graph.SetCallback(pass, [=, drawer = drawer_](runtime::Device&, const Resources& resources,
                                                  CommandBuffer& commands) {
      drawer->DrawMix(resources, commands, resources.Texture(shadow), resources.Texture(noise),
                      {0.5F, 1, 0});
    });
    return color;
  }

  TextureId Bloom(Graph& graph, TextureId color) {
    const VkFormat format = VK_FORMAT_R16G16B16A16_SFLOAT;
    const TextureId half =
        Mix(graph, "bloom half", Target(kSide / 2, format), {color, color, {1, 0, 0}});
    const TextureId quarter =
        Mix(graph, "bloom quarter", Target(kSide / 4, format), {half, half, {1, 0, 0}});
    const TextureId eighth =
        Mix(graph, "bloom eighth", Target(kSide / 8, format), {quarter, quarter, {1, 0, 0}});
    const TextureId up = Mix(graph, "bloom up quarter", Target(kSide / 4, format),
                             {quarter, eighth, {0.5F, 0.5F, 0}});
    return Mix(graph, "bloom up half", Target(kSide / 2, format), {half, up, {0.5F, 0.5F, 0}});
  }

  TextureId Resolve(Graph& graph, TextureId color) {
    const TextureDesc desc = Target(kSide, VK_FORMAT_R16G16B16A16_SFLOAT);
    const TextureId history = graph.HistoryTexture(
        {.name = "history", .desc = desc, .initial = {}, .previous = resolved_});
    resolved_ = Mix(graph, "temporal resolve", desc, {color, history, {0.5F, 0.5F, 0}}, true);
    return resolved_;
  }

  TextureId Compose(Graph& graph, TextureId resolved, TextureId bloom) {
    return Mix(graph, "compose", Target(kSide, VK_FORMAT_R8G8B8A8_UNORM),
               {resolved, bloom, {0.75F, 0.25F, 0}});
  }

  // Draws into a corner of what is there.
  TextureId Interface(Graph& graph, TextureId display, TextureId noise) {
    const PassId pass = graph.CreatePass({.name = "interface", .kind = PassKind::kGraphics});
    graph.ReadTexture(pass, {noise, kSampled});
    const TextureId shown = graph.WriteTexture(
        pass,
        {.name = "shown", .texture = display, .access = kColorWrite, .discard = false, .keep = {}});
    graph.SetCallback(pass, [=, drawer = drawer_](runtime::Device&, const Resources& resources,
                                                  CommandBuffer& commands) {
      const BoundTexture image = resources.Texture(noise);
      drawer->DrawMix(resources, commands, image, image, {0, 0, 1}, 8);
    });
    return shown;
  }

  BufferId ReadBack(Graph& graph, TextureId shown) {
    const PassId pass = graph.CreatePass({.name = "read back", .kind = PassKind::kTransfer});
    graph.ReadTexture(pass, {shown, {.accesses = VK_ACCESS_2_TRANSFER_READ_BIT}});
    const BufferId pixels =
        graph.CreateBuffer(pass, {.name = "pixels",
                                  .desc = {.size = kPictureBytes, .memory = MemoryKind::kReadback},
                                  .access = {.accesses = VK_ACCESS_2_TRANSFER_WRITE_BIT},
                                  .contents = {.kind = ContentKind::kAllWritten},
                                  .keep = {}});
    graph.SetCallback(pass,
                      [=](runtime::Device&, const Resources& resources, CommandBuffer& commands) {
                        const BoundTexture from = resources.Texture(shown);
                        const BoundBuffer to = resources.Buffer(pixels);
                        VkBufferImageCopy region{};
                        region.bufferOffset = to.offset;
                        region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
                        region.imageExtent = {kSide, kSide, 1};
                        commands.table().CmdCopyImageToBuffer(commands.handle(), from.image,
                                                              from.layout, to.buffer, 1, &region);
                      });
    graph.ExportBuffer(
        pixels, {.stages = VK_PIPELINE_STAGE_2_HOST_BIT, .accesses = VK_ACCESS_2_HOST_READ_BIT});
    return pixels;
  }

  Drawer* drawer_;
  TextureId resolved_;
};

class GraphFrame : public ValidatedDevice {
 protected:
  // The pictures of four frames.
  std::vector<std::vector<uint8_t>> Run(const PlanOptions& options, const ExecutorConfig& config) {
    std::vector<std::vector<uint8_t>> pictures;
    EmulatedSwapchain swapchain(*gpu, kWindow);
    Drawer drawer(*gpu);
    DeviceModel model(*gpu);
    Planner planner(model);
    auto executor = Executor::Create(*gpu, config);
    EXPECT_TRUE(executor.ok());
    Graph graph;
    DemoFrame demo(&drawer);
    for (uint32_t frame = 0; frame < 4; ++frame) {
      const BufferId pixels = demo.Declare(graph, frame, swapchain.Acquire());
      const auto plan = planner.Compile(graph, options, executor->carried());
      EXPECT_TRUE(plan.ok()) << plan.error().context;
      if (!plan.ok()) {
        return {};
      }
      EXPECT_EQ((*plan)->metrics.commands,
                (*plan)->metrics.needed + (*plan)->metrics.alias_added());
      const auto ticket = executor->Execute(**plan, graph);
      EXPECT_TRUE(ticket.ok()) << ErrorText(ticket.error());
      EXPECT_TRUE(ticket.ok() && executor->Wait(*ticket, std::chrono::seconds(30)).ok());
      if (!ticket.ok()) {
        return {};
      }
      EXPECT_EQ(ticket->present, PresentStatus::kPresented);
      const auto* bytes =
          reinterpret_cast<const uint8_t*>(executor->Readback(graph, pixels).mapped);
      pictures.emplace_back(bytes, bytes + kPictureBytes);
      if (const char* folder = std::getenv("KILN_WRITE_FRAME"); folder != nullptr && frame == 3) {
        std::ofstream(std::string(folder) + "/demo_frame.svg") << PrintPlanSvg(**plan, graph);
        std::ofstream(std::string(folder) + "/demo_frame.json") << WriteGraphFile(graph);
      }
    }
    return pictures;
  }
};

TEST_F(GraphFrame, Demo_ShowsWhatItsPassesSayFrameAfterFrame) {
  const auto pictures = Run({}, {});
  ASSERT_EQ(pictures.size(), 4U);
  float resolved = 0;
  for (uint32_t frame = 0; frame < 4; ++frame) {
    const float color = 0.25F + static_cast<float>(frame * 16) / 255;
    resolved = 0.5F * color + 0.5F * resolved;
    const float expected = (0.75F * resolved + 0.25F * color) * 255;
    const size_t middle = (size_t{kSide} / 2 * kSide + kSide / 2) * 4;
    EXPECT_NEAR(pictures[frame][middle], expected, 2) << "frame " << frame;
    EXPECT_EQ(pictures[frame][0], 255) << "the interface, frame " << frame;
  }
}

TEST_F(GraphFrame, Demo_EqualsItsPassesOneByOne) {
  const auto together = Run({}, {.frames_in_flight = 3});
  EXPECT_EQ(together, Run({}, {.immediate = true}));
  EXPECT_EQ(together, Run({.alias = false}, {}));
  EXPECT_EQ(together, Run({.order = Order::kDeclared}, {}));
  EXPECT_EQ(together, Run({}, {.record_threads = 4, .timestamps = true, .markers = true}));
}

}  // namespace
}  // namespace kiln::graph
