// SPDX-License-Identifier: MIT
#include "runtime/pipeline/create/check_device.h"

#include <algorithm>
#include <functional>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "runtime/pipeline/pipeline_desc.h"
#include "runtime/pipeline/sample_metadata.h"

namespace kiln::runtime {
namespace {

struct Case {
  std::string name;
  std::function<void(PipelineDesc&, DeviceCaps&)> edit;
  std::string error;  // empty: it can be had
};
void PrintTo(const Case& item, std::ostream* out) { *out << item.name; }

class CheckDeviceTest : public ::testing::TestWithParam<Case> {};

TEST_P(CheckDeviceTest, Edit_GivesItsMessage) {
  PipelineDesc desc = *DescFrom("rock", SampleMetadata(), SampleSignature());
  DeviceCaps caps = AbleDevice();
  GetParam().edit(desc, caps);
  const auto result = CheckDevice(desc, caps);
  EXPECT_EQ(result.ok() ? "" : ErrorText(result.error()),
            GetParam().error.empty() ? "" : "FAILED_PRECONDITION " + GetParam().error);
}

void Lose(DeviceCaps& caps, std::string_view feature) {
  std::erase(caps.features, std::string(feature));
}

VkFormatProperties& Format(DeviceCaps& caps, VkFormat format) { return caps.formats[format]; }

BindingDesc& BindingOf(PipelineDesc& desc, std::string_view name) {
  return *std::ranges::find(desc.sets[1], name, &BindingDesc::name);
}

INSTANTIATE_TEST_SUITE_P(
    Edits, CheckDeviceTest,
    ::testing::ValuesIn(std::vector<Case>{
        {"as_it_is", [](auto&, auto&) {}, ""},
        {"wireframe",
         [](auto& d, auto& c) {
           d.raster.polygon_mode = VK_POLYGON_MODE_LINE;
           Lose(c, "fill_mode_non_solid");
         },
         "(UNSUPPORTED): 'rock' needs fill_mode_non_solid (not offered by fake device)"},
        {"several_at_once",
         [](auto& d, auto& c) {
           d.required_features = {"shader_float16"};
           d.required_extensions = {"VK_KHR_unheard_of"};
           d.depth_stencil.bounds_test = true;
           Lose(c, "depth_bounds");
         },
         "(UNSUPPORTED): 'rock' needs shader_float16, VK_KHR_unheard_of, depth_bounds (not offered "
         "by fake device)"},
        {"extensions_of_older_targets_are_core",
         [](auto& d, auto&) {
           d.required_extensions = {"VK_KHR_16bit_storage", "VK_KHR_storage_buffer_storage_class"};
         },
         ""},
        {"attachments_differ",
         [](auto& d, auto& c) {
           d.signature.color.push_back(VK_FORMAT_R8_UNORM);
           d.attachments.push_back({});
           Lose(c, "independent_blend");
         },
         "(UNSUPPORTED): 'rock' needs independent_blend (not offered by fake device)"},
        {"three_components_fall_back",
         [](auto& d, auto& c) {
           d.vertex_attributes[1].components = 3;
           Format(c, VK_FORMAT_R8G8B8_UNORM).bufferFeatures = 0;
         },
         ""},
        {"three_components_at_the_end",
         [](auto& d, auto& c) {
           d.vertex_attributes[1].components = 3;
           d.vertex_attributes[1].offset = 13;
           Format(c, VK_FORMAT_R8G8B8_UNORM).bufferFeatures = 0;
         },
         "(UNSUPPORTED): 'rock' needs VK_FORMAT_R8G8B8_UNORM for attribute 'color' (not offered by "
         "fake device)"},
        {"no_such_target",
         [](auto&, auto& c) { Format(c, VK_FORMAT_R8G8B8A8_UNORM).optimalTilingFeatures = 0; },
         "(UNSUPPORTED): 'rock' needs VK_FORMAT_R8G8B8A8_UNORM as color attachment 0 (not offered "
         "by fake device)"},
        {"no_blending",
         [](auto& d, auto& c) {
           d.attachments[0].blendEnable = VK_TRUE;
           Format(c, VK_FORMAT_R8G8B8A8_UNORM).optimalTilingFeatures =
               VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT;
         },
         "(UNSUPPORTED): 'rock' needs blending on VK_FORMAT_R8G8B8A8_UNORM of color attachment 0 "
         "(not offered by fake device)"},
        {"no_depth_format",
         [](auto&, auto& c) { Format(c, VK_FORMAT_D32_SFLOAT).optimalTilingFeatures = 0; },
         "(UNSUPPORTED): 'rock' needs VK_FORMAT_D32_SFLOAT as depth-stencil attachment (not "
         "offered "
         "by fake device)"},
        {"push_constants", [](auto& d, auto&) { d.push_size = 132; },
         "(UNSUPPORTED): 'rock' needs 132 bytes of push constants, at most 128 are there (not "
         "offered by fake device)"},
        {"vertex_attributes", [](auto&, auto& c) { c.limits.maxVertexInputAttributes = 6; }, ""},
        {"too_many_vertex_attributes",
         [](auto&, auto& c) { c.limits.maxVertexInputAttributes = 5; },
         "(LIMIT): 'rock' has 6 vertex attributes, at most 5; 6 vertex input locations, at most 5 "
         "on fake device"},
        {"stride", [](auto&, auto& c) { c.limits.maxVertexInputBindingStride = 63; },
         "(LIMIT): 'rock' has 64 bytes from vertex to vertex, at most 63 on fake device"},
        {"images", [](auto&, auto& c) { c.limits.maxPerStageDescriptorSampledImages = 2; },
         "(LIMIT): 'rock' has 3 images, at most 2 on fake device"},
        {"texel_buffers",
         [](auto& d, auto& c) {
           BindingOf(d, "layers").type = VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER;
           c.limits.maxPerStageDescriptorSampledImages = 2;
         },
         "(LIMIT): 'rock' has 3 images, at most 2 on fake device"},
        {"storage_texel_buffers",
         [](auto& d, auto& c) {
           BindingOf(d, "layers").type = VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER;
           c.limits.maxPerStageDescriptorStorageImages = 2;
         },
         "(LIMIT): 'rock' has 3 storage images, at most 2 on fake device"},
        {"combined_image_samplers",
         [](auto& d, auto& c) {
           BindingOf(d, "layers").type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
           c.limits.maxPerStageDescriptorSampledImages = 2;
           c.limits.maxPerStageDescriptorSamplers = 3;
         },
         "(LIMIT): 'rock' has 4 samplers, at most 3; 3 images, at most 2 on fake device"},
        {"arrays_of_buffers",
         [](auto& d, auto& c) {
           d.sets[0][0].count = 9;
           c.limits.maxPerStageDescriptorUniformBuffers = 8;
         },
         "(LIMIT): 'rock' has 10 uniform buffers, at most 8 on fake device"},
        {"workgroup",
         [](auto& d, auto&) {
           d.bind_point = VK_PIPELINE_BIND_POINT_COMPUTE;
           d.workgroup_size = {16, 16, 1};
         },
         "(LIMIT): 'rock' has 256 invocations of a workgroup, at most 128 on fake device"},
    }),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kiln::runtime
