// SPDX-License-Identifier: MIT
#include "tests/gpu/validation_bench.h"

#include <dlfcn.h>
#include <string>

#include "runtime/pipeline/sample_shaders.h"

namespace kiln::runtime {
namespace {

// Functions that kiln has no use for and its table therefore lacks.
template <class Function>
Function Load(VkDevice device, const char* name) {
  static void* const loader = dlopen("libvulkan.so.1", RTLD_NOW);
  const auto find = reinterpret_cast<PFN_vkGetDeviceProcAddr>(dlsym(loader, "vkGetDeviceProcAddr"));
  return reinterpret_cast<Function>(find(device, name));
}

VkDeviceMemory Allocate(const ValidationBench& bench, VkDeviceSize size, Shared& shared) {
  VkMemoryAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  info.allocationSize = size;
  info.memoryTypeIndex = 0;  // lavapipe has one
  VkDeviceMemory made = VK_NULL_HANDLE;
  EXPECT_EQ(bench.table.AllocateMemory(bench.handle, &info, nullptr, &made), VK_SUCCESS);
  shared.memory = vk::UniqueMemory(bench.table, bench.handle, made);
  return made;
}

}  // namespace

void ValidationBench::Render(const vk::Image& image) {
  VkAttachmentDescription color{};
  color.format = VK_FORMAT_R8G8B8A8_UNORM;
  color.samples = VK_SAMPLE_COUNT_1_BIT;
  color.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
  color.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  color.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
  color.stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
  color.initialLayout = color.finalLayout = VK_IMAGE_LAYOUT_GENERAL;
  const VkAttachmentReference reference{0, VK_IMAGE_LAYOUT_GENERAL};
  VkSubpassDescription subpass{};
  subpass.colorAttachmentCount = 1;
  subpass.pColorAttachments = &reference;
  // Without it there would be one that waits for nothing behind the pass.
  const VkSubpassDependency behind{.srcSubpass = 0,
                                   .dstSubpass = VK_SUBPASS_EXTERNAL,
                                   .srcStageMask = VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                                   .dstStageMask = VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT};
  VkRenderPassCreateInfo pass_info{};
  pass_info.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO;
  pass_info.attachmentCount = pass_info.subpassCount = pass_info.dependencyCount = 1;
  pass_info.pAttachments = &color;
  pass_info.pSubpasses = &subpass;
  pass_info.pDependencies = &behind;
  VkRenderPass pass = VK_NULL_HANDLE;
  ASSERT_EQ(Load<PFN_vkCreateRenderPass>(handle, "vkCreateRenderPass")(handle, &pass_info, nullptr,
                                                                       &pass),
            VK_SUCCESS);
  const VkImageView view = image.view.get();
  VkFramebufferCreateInfo frame_info{};
  frame_info.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO;
  frame_info.renderPass = pass;
  frame_info.attachmentCount = 1;
  frame_info.pAttachments = &view;
  frame_info.width = kEdge.width;
  frame_info.height = kEdge.height;
  frame_info.layers = 1;
  VkFramebuffer frame = VK_NULL_HANDLE;
  ASSERT_EQ(Load<PFN_vkCreateFramebuffer>(handle, "vkCreateFramebuffer")(handle, &frame_info,
                                                                         nullptr, &frame),
            VK_SUCCESS);
  const VkClearValue clear{};
  VkRenderPassBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO;
  begin.renderPass = pass;
  begin.framebuffer = frame;
  begin.renderArea = {{0, 0}, {kEdge.width, kEdge.height}};
  begin.clearValueCount = 1;
  begin.pClearValues = &clear;
  Load<PFN_vkCmdBeginRenderPass>(handle, "vkCmdBeginRenderPass")(commands, &begin,
                                                                 VK_SUBPASS_CONTENTS_INLINE);
  Load<PFN_vkCmdEndRenderPass>(handle, "vkCmdEndRenderPass")(commands);
  destroy_pass_ = [=, this] {
    Load<PFN_vkDestroyFramebuffer>(handle, "vkDestroyFramebuffer")(handle, frame, nullptr);
    Load<PFN_vkDestroyRenderPass>(handle, "vkDestroyRenderPass")(handle, pass, nullptr);
  };
}

// A compute shader writes the buffer, which it knows as a descriptor.
void ValidationBench::Dispatch(VkBuffer buffer) {
  PipelineMetadata metadata;
  metadata.pipeline_type = artifact::PipelineType::kCompute;
  metadata.entry_points = {{artifact::Stage::kCompute, "fill"}};
  metadata.workgroup_size = {4, 1, 1};
  metadata.sets[0].buffers = {
      {.name = "values", .binding = 0, .type = artifact::BufferType::kReadWriteStorage}};
  const std::vector<uint32_t> words = Assemble(kSampleCompute);
  const ModuleWords modules[] = {{std::nullopt, words}};
  pipelines_.emplace(device);
  const auto id = pipelines_->Add("fill", metadata, modules, {});
  ASSERT_TRUE(id.ok()) << ErrorText(id.error());
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
  VkDescriptorPoolCreateInfo pool_info{};
  pool_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  pool_info.maxSets = 1;
  pool_info.poolSizeCount = 1;
  pool_info.pPoolSizes = &size;
  VkDescriptorPool made = VK_NULL_HANDLE;
  ASSERT_EQ(table.CreateDescriptorPool(handle, &pool_info, nullptr, &made), VK_SUCCESS);
  descriptors_ = vk::UniqueDescriptorPool(table, handle, made);
  VkDescriptorSetAllocateInfo set_info{};
  set_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  set_info.descriptorPool = made;
  set_info.descriptorSetCount = 1;
  set_info.pSetLayouts = pipelines_->Layouts(*id).sets.data();
  VkDescriptorSet set = VK_NULL_HANDLE;
  ASSERT_EQ(table.AllocateDescriptorSets(handle, &set_info, &set), VK_SUCCESS);
  const VkDescriptorBufferInfo range{buffer, 0, VK_WHOLE_SIZE};
  VkWriteDescriptorSet write{};
  write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
  write.dstSet = set;
  write.descriptorCount = 1;
  write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  write.pBufferInfo = &range;
  table.UpdateDescriptorSets(handle, 1, &write, 0, nullptr);
  table.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipelines_->Get(*id));
  table.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                              pipelines_->Layouts(*id).layout, 0, 1, &set, 0, nullptr);
  table.CmdDispatch(commands, 1, 1, 1);
}

Shared BuffersOnOneMemory(const ValidationBench& bench) {
  Shared out;
  const VkDeviceMemory memory = Allocate(bench, kBytes, out);
  for (int i = 0; i < 2; ++i) {
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = kBytes;
    info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    VkBuffer made = VK_NULL_HANDLE;
    EXPECT_EQ(bench.table.CreateBuffer(bench.handle, &info, nullptr, &made), VK_SUCCESS);
    VkMemoryRequirements needs{};
    bench.table.GetBufferMemoryRequirements(bench.handle, made, &needs);
    EXPECT_LE(needs.size, kBytes);
    EXPECT_EQ(bench.table.BindBufferMemory(bench.handle, made, memory, 0), VK_SUCCESS);
    out.buffers.emplace_back(bench.table, bench.handle, made);
  }
  return out;
}

Shared ImagesOnOneMemory(const ValidationBench& bench, Place place) {
  constexpr VkDeviceSize kRoom = 65'536;
  Shared out;
  const VkDeviceMemory memory = Allocate(bench, 2 * kRoom, out);
  for (int i = 0; i < 2; ++i) {
    VkImageCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    info.flags = VK_IMAGE_CREATE_ALIAS_BIT;
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = VK_FORMAT_R8G8B8A8_UNORM;
    info.extent = kEdge;
    info.mipLevels = info.arrayLayers = 1;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    VkImage made = VK_NULL_HANDLE;
    EXPECT_EQ(bench.table.CreateImage(bench.handle, &info, nullptr, &made), VK_SUCCESS);
    VkMemoryRequirements needs{};
    bench.table.GetImageMemoryRequirements(bench.handle, made, &needs);
    EXPECT_LE(needs.size, kRoom);
    EXPECT_EQ(
        bench.table.BindImageMemory(bench.handle, made, memory,
                                    place == Place::kApart && i == 1 ? kRoom : VkDeviceSize{0}),
        VK_SUCCESS);
    out.images.emplace_back(bench.table, bench.handle, made);
  }
  return out;
}

}  // namespace kiln::runtime
