// SPDX-License-Identifier: MIT
// Frames through kiln.h, on a Vulkan device: the material is drawn, replaced and looked at.
#include <array>
#include <cstring>
#include <string>

#include "runtime/c/test_drawing.h"

namespace kiln::c::testing {
namespace {

// What is drawn in a frame: three vertices and the color of the material.
struct Scene {
  kiln_device* device;
  kiln_pipelines* pipelines;
  kiln_pipeline_id id;
  kiln_buffer upload;
  std::array<float, 4> color;
  bool foreign = false;  // asks for what the pass did not declare
  kiln_result declared = KILN_INTERNAL, undeclared = KILN_INTERNAL;
  uint32_t bound = 0;
};

struct Vertex {
  float position[2];
  uint8_t shade[4];
};
constexpr Vertex kVertices[] = {{{-3, -1}, {255, 255, 255, 255}},
                                {{1, -1}, {255, 255, 255, 255}},
                                {{1, 3}, {255, 255, 255, 255}}};
constexpr size_t kColorOffset = 256;

template <class F>
F Function(kiln_device* device, const char* name) {
  return reinterpret_cast<F>(kiln_device_function(device, name));
}

class Frames : public Drawing {
 protected:
  Frames() {
    kiln_graph_info info;
    KILN_INIT(info);
    EXPECT_EQ(kiln_graph_create(device, &info, &graph, nullptr), KILN_OK);
    pipelines = MakePipelines(0);
    scene = {.device = device,
             .pipelines = pipelines,
             .id = Find(pipelines, "plain"),
             .upload = {},
             .color = {1, 0.5F, 0.25F, 1},
             .foreign = false};
    Warm(pipelines);
    kiln_device_handles handles;
    KILN_INIT(handles);
    EXPECT_EQ(kiln_device_get_handles(device, &handles, nullptr), KILN_OK);
    vk = handles.device;
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 64};
    VkDescriptorPoolCreateInfo pool_info{};
    pool_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    pool_info.maxSets = 64;
    pool_info.poolSizeCount = 1;
    pool_info.pPoolSizes = &size;
    EXPECT_EQ(Function<PFN_vkCreateDescriptorPool>(device, "vkCreateDescriptorPool")(
                  vk, &pool_info, nullptr, &pool),
              VK_SUCCESS);
  }
  ~Frames() override {
    kiln_graph_destroy(graph);
    Function<PFN_vkDestroyDescriptorPool>(device, "vkDestroyDescriptorPool")(vk, pool, nullptr);
    kiln_pipelines_destroy(pipelines);
  }

  // Fills the upload buffer in a pass of the host.
  static void Upload(void* user, kiln_frame* frame) {
    auto& self = *static_cast<Frames*>(user);
    kiln_bound_buffer bytes;
    KILN_INIT(bytes);
    ASSERT_EQ(kiln_frame_buffer(frame, self.scene.upload, &bytes, nullptr), KILN_OK);
    ASSERT_NE(bytes.mapped, nullptr);
    std::memcpy(bytes.mapped, kVertices, sizeof(kVertices));
    std::memcpy(static_cast<std::byte*>(bytes.mapped) + kColorOffset, self.scene.color.data(),
                sizeof(self.scene.color));
  }
  static void Draw(void* user, kiln_frame* frame) {
    auto& self = *static_cast<Frames*>(user);
    self.DrawInto(frame);
  }
  void DrawInto(kiln_frame* frame) {
    kiln_bound_texture target;
    KILN_INIT(target);
    scene.declared = kiln_frame_texture(frame, picture, &target, nullptr);
    EXPECT_EQ(target.extent.width, 16U);
    EXPECT_EQ(target.format, kFormat);
    if (scene.foreign) {
      scene.undeclared = kiln_frame_texture(frame, kiln_texture{77, 1}, &target, nullptr);
      kiln_bound_buffer none;
      KILN_INIT(none);
      EXPECT_EQ(kiln_frame_buffer(frame, kiln_buffer{77, 1}, &none, nullptr),
                KILN_INVALID_ARGUMENT);
    }
    kiln_bound_buffer bytes;
    KILN_INIT(bytes);
    ASSERT_EQ(kiln_frame_buffer(frame, uploaded, &bytes, nullptr), KILN_OK);
    const VkCommandBuffer commands = kiln_frame_commands(frame);
    scene.bound =
        kiln_pipelines_bind(pipelines, commands, scene.id, KILN_ON_MISSING_SKIP, scene.id);
    if (scene.bound == 0) {
      return;
    }
    ASSERT_EQ(
        kiln_pipelines_set_viewport(pipelines, commands, scene.id, kiln_frame_area(frame), nullptr),
        KILN_OK);
    BindSets(commands, bytes);
    const VkDeviceSize offset = bytes.offset;
    Function<PFN_vkCmdBindVertexBuffers>(device, "vkCmdBindVertexBuffers")(commands, 0, 1,
                                                                           &bytes.buffer, &offset);
    Function<PFN_vkCmdDraw>(device, "vkCmdDraw")(commands, 3, 1, 0, 0);
  }
  void BindSets(VkCommandBuffer commands, const kiln_bound_buffer& bytes) {
    kiln_pipeline_layout layout;
    KILN_INIT(layout);
    ASSERT_EQ(kiln_pipelines_layout(pipelines, scene.id, &layout, nullptr), KILN_OK);
    VkDescriptorSetAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
    info.descriptorPool = pool;
    info.descriptorSetCount = 1;
    info.pSetLayouts = &layout.sets[1];
    VkDescriptorSet set{};
    ASSERT_EQ(
        Function<PFN_vkAllocateDescriptorSets>(device, "vkAllocateDescriptorSets")(vk, &info, &set),
        VK_SUCCESS);
    const VkDescriptorBufferInfo uniform = {bytes.buffer, bytes.offset + kColorOffset, 64};
    VkWriteDescriptorSet write{};
    write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    write.dstSet = set;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
    write.pBufferInfo = &uniform;
    Function<PFN_vkUpdateDescriptorSets>(device, "vkUpdateDescriptorSets")(vk, 1, &write, 0,
                                                                           nullptr);
    Function<PFN_vkCmdBindDescriptorSets>(device, "vkCmdBindDescriptorSets")(
        commands, VK_PIPELINE_BIND_POINT_GRAPHICS, layout.layout, 1, 1, &set, 0, nullptr);
    const float offset[4] = {};
    Function<PFN_vkCmdPushConstants>(device, "vkCmdPushConstants")(
        commands, layout.layout, layout.stages, 0, sizeof(offset), offset);
  }
  kiln_pass AddPass(const char* name, kiln_pass_kind kind, kiln_record_function record) {
    kiln_pass_info info;
    KILN_INIT(info);
    info.name = kiln_text_of(name);
    info.kind = kind;
    info.record = record;
    info.record_user = this;
    kiln_pass pass{};
    EXPECT_EQ(kiln_graph_add_pass(graph, &info, &pass, nullptr), KILN_OK);
    return pass;
  }
  static kiln_texture_info Picture() {
    kiln_texture_info info;
    KILN_INIT(info);
    info.name = kiln_text_of("picture");
    info.format = kFormat;
    info.type = VK_IMAGE_TYPE_2D;
    info.width = 16;
    info.height = 16;
    info.contents = KILN_CONTENTS_CLEAR;
    return info;
  }
  void Declare() {
    ASSERT_EQ(kiln_graph_begin_frame(graph, nullptr), KILN_OK);
    const kiln_pass fill = AddPass("fill", KILN_PASS_HOST, Upload);
    kiln_buffer_info buffer;
    KILN_INIT(buffer);
    buffer.name = kiln_text_of("upload");
    buffer.size = 512;
    buffer.memory = KILN_MEMORY_UPLOAD;
    buffer.contents = KILN_CONTENTS_ALL_WRITTEN;
    const kiln_access host = {VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_WRITE_BIT,
                              VK_IMAGE_LAYOUT_UNDEFINED, 0};
    ASSERT_EQ(kiln_graph_create_buffer(graph, fill, &buffer, host, &uploaded, nullptr), KILN_OK);
    scene.upload = uploaded;
    const kiln_pass draw = AddPass("draw", KILN_PASS_GRAPHICS, Draw);
    const kiln_access vertices = {
        VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT | VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
        VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT | VK_ACCESS_2_UNIFORM_READ_BIT,
        VK_IMAGE_LAYOUT_UNDEFINED, 0};
    ASSERT_EQ(kiln_graph_read_buffer(graph, draw, uploaded, vertices, nullptr), KILN_OK);
    const kiln_texture_info info = Picture();
    const kiln_access target = {
        VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
        VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT,
        VK_IMAGE_LAYOUT_UNDEFINED, 0};
    ASSERT_EQ(kiln_graph_create_texture(graph, draw, &info, target, &picture, nullptr), KILN_OK);
    ASSERT_EQ(kiln_graph_read_back(graph, picture, &info, &pixels, nullptr), KILN_OK);
  }
  // Draws a frame; the pixel in its middle.
  std::array<int, 4> Frame() {
    Declare();
    EXPECT_EQ(kiln_graph_execute(graph, &frame, nullptr), KILN_OK);
    EXPECT_EQ(kiln_graph_wait(graph, frame, kMinute, nullptr), KILN_OK);
    EXPECT_EQ(kiln_graph_done(graph, frame), 1U);
    EXPECT_EQ(kiln_pipelines_end_frame(pipelines, frame, nullptr), KILN_OK);
    EXPECT_EQ(kiln_pipelines_collect(pipelines, frame, nullptr), KILN_OK);
    kiln_bound_buffer bytes;
    KILN_INIT(bytes);
    if (kiln_graph_read(graph, pixels, &bytes, nullptr) != KILN_OK) {
      ADD_FAILURE();
      return {};
    }
    const auto* const pixel = static_cast<const uint8_t*>(bytes.mapped) + (8 * 16 + 8) * 4;
    return {pixel[0], pixel[1], pixel[2], pixel[3]};
  }

  kiln_graph* graph = nullptr;
  kiln_pipelines* pipelines = nullptr;
  Scene scene{};
  VkDevice vk{};
  VkDescriptorPool pool{};
  kiln_texture picture{};
  kiln_buffer pixels{}, uploaded{};
  uint64_t frame = 0;
};

TEST_F(Frames, Material_IsDrawnWithItsValues) {
  EXPECT_EQ(Frame(), (std::array<int, 4>{255, 128, 64, 255}));
  EXPECT_EQ(scene.bound, 1U);
  EXPECT_EQ(scene.declared, KILN_OK);
  scene.color = {0, 1, 0, 1};
  EXPECT_EQ(Frame(), (std::array<int, 4>{0, 255, 0, 255}));
  EXPECT_EQ(kiln_pipelines_hitch_count(pipelines), 0U);
  EXPECT_NE(Text(kiln_graph_plan_text(graph)).find("draw"), std::string::npos);
}

TEST_F(Frames, NewFragmentCode_IsSwappedInAtTheEndOfAFrame) {
  (void)Frame();
  // Another source: the plain variant with other code of the same interface.
  kiln_source* edited = nullptr;
  ASSERT_EQ(kiln_source_in_memory(context, &edited, nullptr), KILN_OK);
  AddMaterial(edited, "material", "plain", CompiledMaterial("swapped").fragment);
  const kiln_variant plain = Variant("plain");
  ASSERT_EQ(kiln_pipelines_replace(pipelines, scene.id, edited, &plain, nullptr), KILN_OK);
  Warm(pipelines);
  EXPECT_EQ(Frame(), (std::array<int, 4>{255, 128, 64, 255})) << "until a frame has ended";
  EXPECT_EQ(Frame(), (std::array<int, 4>{64, 128, 255, 255}));
  const kiln_variant tail = Variant("tail");
  EXPECT_EQ(kiln_pipelines_replace(pipelines, scene.id, edited, &tail, nullptr), KILN_NOT_FOUND);
  kiln_source_destroy(edited);
}

TEST_F(Frames, PipelineThatIsNotReady_IsSkippedOrBuiltAndReported) {
  kiln_pipelines_destroy(pipelines);
  pipelines = MakePipelines(0);
  scene.id = Find(pipelines, "plain");
  EXPECT_EQ(Frame(), (std::array<int, 4>{0, 0, 0, 0}));
  EXPECT_EQ(scene.bound, 0U);
  ASSERT_EQ(kiln_pipelines_hitch_count(pipelines), 1U);
  kiln_hitch hitch;
  KILN_INIT(hitch);
  ASSERT_EQ(kiln_pipelines_hitch(pipelines, 0, &hitch, nullptr), KILN_OK);
  EXPECT_EQ(hitch.kind, KILN_HITCH_MISSING);
  EXPECT_EQ(Text(hitch.program), "material");
}

TEST_F(Frames, WrongDeclarations_AreToldByName) {
  ASSERT_EQ(kiln_graph_begin_frame(graph, nullptr), KILN_OK);
  const kiln_pass pass = AddPass("lost", KILN_PASS_GRAPHICS, nullptr);
  const kiln_access sampled = {VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
                               VK_ACCESS_2_SHADER_SAMPLED_READ_BIT, VK_IMAGE_LAYOUT_UNDEFINED, 0};
  EXPECT_EQ(kiln_graph_read_texture(graph, pass, kiln_texture{1234, 99}, sampled, nullptr),
            KILN_OK);
  kiln_error* error = nullptr;
  EXPECT_EQ(kiln_graph_execute(graph, &frame, &error), KILN_INVALID_ARGUMENT);
  EXPECT_NE(Text(kiln_error_message(error)).find("lost"), std::string::npos)
      << Text(kiln_error_message(error));
  EXPECT_GT(kiln_error_reason(error).size, 0U);
  kiln_error_destroy(error);
  kiln_pass_info info;
  KILN_INIT(info);
  info.kind = 9;
  kiln_pass none{};
  EXPECT_EQ(kiln_graph_add_pass(graph, &info, &none, nullptr), KILN_INVALID_ARGUMENT);
}

TEST_F(Frames, UndeclaredTexture_FailsTheFrame) {
  scene.foreign = true;
  Declare();
  EXPECT_NE(kiln_graph_execute(graph, &frame, nullptr), KILN_OK);
  EXPECT_EQ(scene.undeclared, KILN_INVALID_ARGUMENT);
}

TEST_F(Frames, FramesAndBuffersOfOthers_AreRefused) {
  EXPECT_EQ(kiln_graph_wait(graph, 1, 0, nullptr), KILN_OUT_OF_RANGE);
  EXPECT_EQ(kiln_graph_done(graph, 1), 0U);
  EXPECT_EQ(kiln_graph_plan_text(graph).size, 0U);
  kiln_bound_buffer bytes;
  KILN_INIT(bytes);
  EXPECT_EQ(kiln_graph_read(graph, kiln_buffer{}, &bytes, nullptr), KILN_FAILED_PRECONDITION);
  (void)Frame();
  EXPECT_EQ(kiln_graph_read(graph, kiln_buffer{500, 3}, &bytes, nullptr), KILN_INVALID_ARGUMENT);
  EXPECT_EQ(kiln_graph_read(graph, uploaded, &bytes, nullptr), KILN_INVALID_ARGUMENT);
  kiln_graph_info info;
  KILN_INIT(info);
  info.frames_in_flight = 99;
  kiln_graph* none = nullptr;
  EXPECT_EQ(kiln_graph_create(device, &info, &none, nullptr), KILN_INVALID_ARGUMENT);
}

// A picture goes through an imported image and a buffer and out again.
TEST_F(Frames, ImportsAndWrites_AreDeclared) {
  ASSERT_EQ(kiln_graph_begin_frame(graph, nullptr), KILN_OK);
  const kiln_pass pass = AddPass("copy", KILN_PASS_TRANSFER, nullptr);
  const kiln_access source_state = {VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_READ_BIT,
                                    VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, 0};
  const kiln_access write = {VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                             VK_IMAGE_LAYOUT_UNDEFINED, 0};
  kiln_texture_info info = Picture();
  info.image = reinterpret_cast<VkImage>(0x1000);  // planned with, not executed
  kiln_texture imported{};
  kiln_texture written{};
  ASSERT_EQ(kiln_graph_import_texture(graph, &info, source_state, &imported, nullptr), KILN_OK);
  ASSERT_EQ(kiln_graph_write_texture(graph, pass, imported, write, &written, nullptr), KILN_OK);
  EXPECT_NE(written.index, imported.index);
  ASSERT_EQ(kiln_graph_read_texture(graph, pass, imported, source_state, nullptr), KILN_OK);
  ASSERT_EQ(kiln_graph_export_texture(graph, written, source_state, nullptr), KILN_OK);
  kiln_buffer_info buffer;
  KILN_INIT(buffer);
  buffer.name = kiln_text_of("numbers");
  buffer.size = 64;
  buffer.buffer = reinterpret_cast<VkBuffer>(0x1000);
  kiln_buffer numbers{};
  kiln_buffer more{};
  const kiln_access read = {VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_READ_BIT,
                            VK_IMAGE_LAYOUT_UNDEFINED, 0};
  ASSERT_EQ(kiln_graph_import_buffer(graph, &buffer, read, &numbers, nullptr), KILN_OK);
  ASSERT_EQ(kiln_graph_write_buffer(graph, pass, numbers, write, &more, nullptr), KILN_OK);
  EXPECT_NE(more.index, numbers.index);
  buffer.memory = 9;
  EXPECT_EQ(kiln_graph_import_buffer(graph, &buffer, read, &numbers, nullptr),
            KILN_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace kiln::c::testing
