// SPDX-License-Identifier: MIT
// Pictures on lavapipe with the validation layer, which must stay silent: metadata and words are
// all that the draws know.
#include "runtime/preview/frame.h"

#include <array>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/pipeline/pack_vertices.h"
#include "runtime/pipeline/parameter_block.h"
#include "runtime/pipeline/sample_metadata.h"
#include "runtime/pipeline/sample_shaders.h"
#include "runtime/preview/descriptors.h"
#include "runtime/preview/sampler.h"
#include "runtime/preview/upload.h"

namespace kiln::preview {
namespace {

using runtime::AttributeData;
using runtime::Device;
using runtime::ModuleWords;
using runtime::ParameterBlock;

constexpr VkExtent2D kExtent = {64, 64};

class FrameTest : public ::testing::Test {
 protected:
  FrameTest() {
    auto created = Device::Create(
        {.prefer = "software", .validation = true, .messages = [this](const vk::Message& message) {
           messages.push_back(message.text);
         }});
    EXPECT_TRUE(created.ok()) << ErrorText(created.error());
    device.emplace(std::move(created).value());
    gpu.emplace(*device);
  }
  ~FrameTest() override {
    gpu.reset();
    device.reset();
    EXPECT_THAT(messages, ::testing::IsEmpty());
  }

  // Everything that dies before the device.
  struct Gpu {
    explicit Gpu(const Device& device)
        : memory(device),
          queue(std::move(vk::Queue::Create(device)).value()),
          pipelines(device),
          sets(device) {}
    vk::Memory memory;
    vk::Queue queue;
    runtime::Pipelines pipelines;
    DescriptorSets sets;
    std::vector<vk::Buffer> buffers;
    std::vector<Target> images;
    std::vector<vk::UniqueSampler> samplers;
  };

  VkBuffer Keep(std::span<const std::byte> bytes, VkBufferUsageFlags usage) {
    gpu->buffers.push_back(std::move(UploadBuffer(*device, gpu->memory, bytes, usage)).value());
    return gpu->buffers.back().handle.get();
  }

  VkImageView KeepImage(std::array<uint8_t, 4> texel) {
    ImageData data;
    const auto bytes = std::as_bytes(std::span(texel));
    data.levels.emplace_back(bytes.begin(), bytes.end());
    gpu->images.push_back(std::move(UploadImage(*device, gpu->memory, gpu->queue, data)).value());
    return gpu->images.back().image.view.get();
  }

  std::vector<std::string> messages;
  std::optional<Device> device;
  std::optional<Gpu> gpu;
};

constexpr std::array<float, 16> kIdentity = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

// A triangle over the upper left half of the screen as seen by the viewer, clockwise.
const std::vector<float> kPositions = {-1, -1, 0.5F, -1, 1, 0.5F, 1, 1, 0.5F};

std::array<uint8_t, 4> Pixel(const Picture& picture, uint32_t x, uint32_t y) {
  std::array<uint8_t, 4> out{};
  std::memcpy(out.data(), picture.rgba.data() + (size_t{y} * picture.width + x) * 4, 4);
  return out;
}

// The sample's triangle, with a pipeline that is in `state` when it is drawn.
class SampleFrameTest : public FrameTest {
 protected:
  void DrawSample(runtime::Pipelines& pipelines, runtime::PipelineState state, Picture& picture);

  artifact::Settings settings;
};

void SampleFrameTest::DrawSample(runtime::Pipelines& pipelines, runtime::PipelineState state,
                                 Picture& picture) {
  artifact::PipelineMetadata metadata = runtime::SampleMetadata();
  metadata.settings = settings;
  metadata.sets[1].buffers[0].main_parameters = {
      {.name = "tint", .type = artifact::ParameterType::kF4}};
  metadata.push_constant = {.name = "push",
                            .members = {{.name = "add", .type = artifact::ParameterType::kF4}}};
  const std::vector<uint32_t> vertex = runtime::Assemble(runtime::kSampleVertex);
  const std::vector<uint32_t> fragment = runtime::Assemble(runtime::kSampleFragment);
  const ModuleWords modules[] = {{artifact::Stage::kVertex, vertex},
                                 {artifact::Stage::kFragment, fragment}};

  auto color = CreateTarget(*device, gpu->memory, VK_FORMAT_R8G8B8A8_UNORM, kExtent);
  auto depth = CreateTarget(*device, gpu->memory, VK_FORMAT_D32_SFLOAT, kExtent);
  ASSERT_TRUE(color.ok() && depth.ok());
  PassInfo pass;
  pass.color = {{&*color, {.color = {.float32 = {0, 0, 1, 1}}}}};
  pass.depth = {&*depth, {.depthStencil = {1, 0}}};
  const auto id = pipelines.Add("sample", metadata, modules, SignatureOf(pass));
  ASSERT_TRUE(id.ok()) << ErrorText(id.error());

  // Vertex data, uniforms and push constants, all by name.
  const std::vector<float> colors = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  const std::vector<AttributeData> mesh = {{"position", 3, kPositions}, {"color", 4, colors}};
  const std::vector<AttributeData> placement = {{"world_from_mesh", 16, kIdentity}};
  const auto vertices = runtime::PackVertices(metadata.attribute_sources[0], mesh, 3);
  const auto instances = runtime::PackVertices(metadata.attribute_sources[1], placement, 1);
  ASSERT_TRUE(vertices.ok() && instances.ok());
  std::array<std::byte, 64> view{};
  const ParameterBlock view_block(metadata.sets[0].buffers[0].main_parameters);
  ASSERT_TRUE(
      view_block
          .Write(view_block.FindTag("clip_transform"), view, std::as_bytes(std::span(kIdentity)))
          .ok());
  std::array<std::byte, 16> material{};
  const ParameterBlock material_block(metadata.sets[1].buffers[0].main_parameters);
  const std::array<float, 4> tint = {1, 0.5F, 0.5F, 1};
  ASSERT_TRUE(
      material_block.Write(material_block.Find("tint"), material, std::as_bytes(std::span(tint)))
          .ok());
  const std::array<float, 4> add = {0, 0, 0.2F, 0};

  gpu->samplers.push_back(std::move(CreateSampler(*device, {})).value());
  const VkBufferUsageFlags uniform = VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT;
  const ResourceTable resources = {
      {"view", Keep(view, uniform)},
      {"material", Keep(material, uniform)},
      {"lamps", Keep({}, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT)},
      {"smooth", gpu->samplers[0].get()},
      {"layers", std::vector<VkImageView>{KeepImage({0, 0, 0, 255}), KeepImage({255, 255, 0, 255}),
                                          KeepImage({0, 0, 0, 255})}},
  };
  auto sets = gpu->sets.Make(metadata, pipelines.Layouts(*id), resources);
  ASSERT_TRUE(sets.ok()) << ErrorText(sets.error());

  auto frame = Frame::Begin(*device, gpu->queue);
  ASSERT_TRUE(frame.ok());
  frame->BeginPass(pass);
  frame->Add(pipelines,
             {.pipeline = *id,
              .sets = *sets,
              .vertex_buffers = {{0, Keep(*vertices, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT)},
                                 {1, Keep(*instances, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT)}},
              .push = std::as_bytes(std::span(add))});
  ASSERT_EQ(pipelines.State(*id), state);
  frame->EndPass();
  auto pixels = frame->ReadBack(gpu->memory, *color);
  ASSERT_TRUE(pixels.ok());
  ASSERT_TRUE(frame->Finish().ok());
  picture = PictureOf(*pixels, kExtent);
  // Another frame may follow; the layer takes objects at the same place for the same ones.
  gpu->images.push_back(std::move(color).value());
  gpu->images.push_back(std::move(depth).value());
  gpu->buffers.push_back(std::move(pixels).value());
}

TEST_F(SampleFrameTest, Triangle_HasTheColorsThatMetadataCarried) {
  Picture picture;
  DrawSample(gpu->pipelines, runtime::PipelineState::kReady, picture);
  EXPECT_EQ(Pixel(picture, 8, 8), (std::array<uint8_t, 4>{255, 128, 51, 255}));  // upper left
  EXPECT_EQ(Pixel(picture, 56, 56), (std::array<uint8_t, 4>{0, 0, 255, 255}));   // lower right
}

TEST_F(SampleFrameTest, LinkedFromParts_HasTheSamePixels) {
  if (!device->caps().fast_linking) {
    GTEST_SKIP() << "fast linking";
  }
  Picture whole, linked;
  DrawSample(gpu->pipelines, runtime::PipelineState::kReady, whole);
  // Nothing was built before: the draw links it.
  auto pipelines = runtime::Pipelines::Create(
      *device, {.threads = 0, .first_use = runtime::FirstUse::kOff, .link_fast = true});
  ASSERT_TRUE(pipelines.ok());
  DrawSample(**pipelines, runtime::PipelineState::kReadyFast, linked);
  EXPECT_EQ((*pipelines)->Stats().libraries, 4U);
  EXPECT_EQ(linked.rgba, whole.rgba);
}

// The depth that is there, 1, is compared with the bounds, not that of the triangle.
TEST_F(SampleFrameTest, DepthBounds_CutTheDraw) {
  if (!device->caps().HasFeature("depth_bounds")) {
    GTEST_SKIP() << "depth_bounds";
  }
  settings.depth_bounds_test = true;
  settings.depth_min = 0.0F;
  settings.depth_max = 0.75F;
  Picture cut, drawn;
  DrawSample(gpu->pipelines, runtime::PipelineState::kReady, cut);
  EXPECT_EQ(Pixel(cut, 8, 8), (std::array<uint8_t, 4>{0, 0, 255, 255}));
  settings.depth_max = 1.0F;
  DrawSample(gpu->pipelines, runtime::PipelineState::kReady, drawn);
  EXPECT_EQ(Pixel(drawn, 8, 8), (std::array<uint8_t, 4>{255, 128, 51, 255}));
}

// Passes a position of three components through.
constexpr const char* kPositionVertex = R"(
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main "main" %position %clip
OpDecorate %position Location 0
OpDecorate %clip BuiltIn Position
%void = OpTypeVoid
%fn = OpTypeFunction %void
%float = OpTypeFloat 32
%one = OpConstant %float 1
%v3 = OpTypeVector %float 3
%v4 = OpTypeVector %float 4
%in3 = OpTypePointer Input %v3
%out4 = OpTypePointer Output %v4
%position = OpVariable %in3 Input
%clip = OpVariable %out4 Output
%main = OpFunction %void None %fn
%l = OpLabel
%p = OpLoad %v3 %position
%p4 = OpCompositeConstruct %v4 %p %one
OpStore %clip %p4
OpReturn
OpFunctionEnd
)";

// color = (shadow comparison of 0.5 at the pixel, 0, 0, 1)
constexpr const char* kShadowFragment = R"(
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main" %coord %color
OpExecutionMode %main OriginUpperLeft
OpDecorate %coord BuiltIn FragCoord
OpDecorate %color Location 0
OpDecorate %sampler DescriptorSet 0
OpDecorate %sampler Binding 0
OpDecorate %map DescriptorSet 0
OpDecorate %map Binding 1
%void = OpTypeVoid
%fn = OpTypeFunction %void
%float = OpTypeFloat 32
%zero = OpConstant %float 0
%one = OpConstant %float 1
%half = OpConstant %float 0.5
%texel = OpConstant %float 0.015625
%v2 = OpTypeVector %float 2
%v4 = OpTypeVector %float 4
%in4 = OpTypePointer Input %v4
%out4 = OpTypePointer Output %v4
%image = OpTypeImage %float 2D 1 0 0 1 Unknown
%uimage = OpTypePointer UniformConstant %image
%sampler_type = OpTypeSampler
%usampler = OpTypePointer UniformConstant %sampler_type
%sampled = OpTypeSampledImage %image
%coord = OpVariable %in4 Input
%color = OpVariable %out4 Output
%map = OpVariable %uimage UniformConstant
%sampler = OpVariable %usampler UniformConstant
%main = OpFunction %void None %fn
%l = OpLabel
%c = OpLoad %v4 %coord
%xy = OpVectorShuffle %v2 %c %c 0 1
%uv = OpVectorTimesScalar %v2 %xy %texel
%i = OpLoad %image %map
%s = OpLoad %sampler_type %sampler
%si = OpSampledImage %sampled %i %s
%lit = OpImageSampleDrefImplicitLod %float %si %uv %half
%out = OpCompositeConstruct %v4 %lit %zero %zero %one
OpStore %color %out
OpReturn
OpFunctionEnd
)";

// One source of positions; the settings of a shadow or of a full-screen pass.
artifact::PipelineMetadata PositionOnly() {
  artifact::PipelineMetadata metadata;
  metadata.entry_points = {{artifact::Stage::kVertex, "main"}};
  metadata.attribute_sources = {
      {.name = "mesh",
       .block_size = 12,
       .attributes = {{.name = "position", .kind = artifact::AttributeClass::kVector3}}}};
  metadata.settings.cull_mode = artifact::CullMode::kNone;
  metadata.fixed_state.dynamic_state = {artifact::DynamicState::kViewport,
                                        artifact::DynamicState::kScissor};
  return metadata;
}

TEST_F(FrameTest, DepthOfOnePass_IsSampledByTheNext) {
  const std::vector<uint32_t> vertex = runtime::Assemble(kPositionVertex);
  const std::vector<uint32_t> fragment = runtime::Assemble(kShadowFragment);
  auto map = CreateTarget(*device, gpu->memory, VK_FORMAT_D32_SFLOAT, kExtent);
  auto color = CreateTarget(*device, gpu->memory, VK_FORMAT_R8G8B8A8_UNORM, kExtent);
  ASSERT_TRUE(map.ok() && color.ok());
  PassInfo shadow_pass;
  shadow_pass.depth = {&*map, {.depthStencil = {1, 0}}};
  const PassInfo screen_pass{{{&*color, {}}}, {}, {&*map}};

  const artifact::PipelineMetadata caster = PositionOnly();
  const ModuleWords caster_words[] = {{artifact::Stage::kVertex, vertex}};
  const auto shadow = gpu->pipelines.Add("shadow", caster, caster_words, SignatureOf(shadow_pass));
  artifact::PipelineMetadata receiver = PositionOnly();
  receiver.entry_points.push_back({artifact::Stage::kFragment, "main"});
  receiver.settings.depth_test = false;
  receiver.sets[0].samplers = {{.name = "sampler", .binding = 0, .comparison = true}};
  receiver.sets[0].images = {{.name = "map", .binding = 1, .type = artifact::ImageType::kDepth2d}};
  receiver.color_outputs = {{.name = "color"}};
  const ModuleWords receiver_words[] = {{artifact::Stage::kVertex, vertex},
                                        {artifact::Stage::kFragment, fragment}};
  const auto screen =
      gpu->pipelines.Add("screen", receiver, receiver_words, SignatureOf(screen_pass));
  ASSERT_TRUE(shadow.ok() && screen.ok());
  ASSERT_EQ(gpu->pipelines.Stats().ready, 2U);

  // The caster covers the left half at depth 0.25, the receiver everything.
  const std::vector<float> left = {-1, -1, 0.25F, -1, 1, 0.25F, 0, 1,  0.25F,
                                   -1, -1, 0.25F, 0,  1, 0.25F, 0, -1, 0.25F};
  const std::vector<float> all = {-1, -1, 0, -1, 3, 0, 3, -1, 0};
  const VkBufferUsageFlags vertices = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT;
  gpu->samplers.push_back(
      std::move(CreateSampler(*device, {.address = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                        .comparison = true}))
          .value());
  const auto sets = gpu->sets.Make(receiver, gpu->pipelines.Layouts(*screen),
                                   {{"sampler", gpu->samplers[0].get()},
                                    {"map", std::vector<VkImageView>{map->image.view.get()}}});
  ASSERT_TRUE(sets.ok());

  auto frame = Frame::Begin(*device, gpu->queue);
  ASSERT_TRUE(frame.ok());
  frame->BeginPass(shadow_pass);
  frame->Add(gpu->pipelines,
             {.pipeline = *shadow,
              .vertex_buffers = {{0, Keep(std::as_bytes(std::span(left)), vertices)}},
              .count = 6});
  frame->EndPass();
  frame->BeginPass(screen_pass);
  frame->Add(gpu->pipelines,
             {.pipeline = *screen,
              .sets = *sets,
              .vertex_buffers = {{0, Keep(std::as_bytes(std::span(all)), vertices)}}});
  frame->EndPass();
  auto pixels = frame->ReadBack(gpu->memory, *color);
  ASSERT_TRUE(pixels.ok());
  ASSERT_TRUE(frame->Finish().ok());
  const Picture picture = PictureOf(*pixels, kExtent);
  EXPECT_EQ(Pixel(picture, 16, 32), (std::array<uint8_t, 4>{0, 0, 0, 255}));    // in the shadow
  EXPECT_EQ(Pixel(picture, 48, 32), (std::array<uint8_t, 4>{255, 0, 0, 255}));  // lit
}

TEST_F(FrameTest, MissingResource_IsNamed) {
  const artifact::PipelineMetadata metadata = runtime::SampleMetadata();
  const std::vector<uint32_t> vertex = runtime::Assemble(runtime::kSampleVertex);
  const std::vector<uint32_t> fragment = runtime::Assemble(runtime::kSampleFragment);
  const ModuleWords modules[] = {{artifact::Stage::kVertex, vertex},
                                 {artifact::Stage::kFragment, fragment}};
  const auto id =
      gpu->pipelines.Add("sample", metadata, modules, runtime::DefaultSignature(metadata));
  ASSERT_TRUE(id.ok());
  ResourceTable resources = {{"view", Keep({}, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT)},
                             {"material", Keep({}, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT)}};
  const auto error = [&] {
    return gpu->sets.Make(metadata, gpu->pipelines.Layouts(*id), resources).error().context;
  };
  EXPECT_EQ(error(), "no sampler is given for 'smooth'");
  gpu->samplers.push_back(std::move(CreateSampler(*device, {})).value());
  resources["smooth"] = gpu->samplers[0].get();
  resources["layers"] = std::vector<VkImageView>{KeepImage({0, 0, 0, 0})};
  EXPECT_EQ(error(), "image 'layers' has 1 views of 3");
  resources["layers"] = gpu->buffers[0].handle.get();
  EXPECT_EQ(error(), "no image is given for 'layers'");
}

}  // namespace
}  // namespace kiln::preview
