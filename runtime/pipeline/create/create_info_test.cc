// SPDX-License-Identifier: MIT
// Every setting of the language, with every value, in the structure that the driver gets.
// See spec/rpl 9, spec/pso 6.5
#include "runtime/pipeline/create/create_info.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "runtime/pipeline/create/check_device.h"
#include "runtime/pipeline/sample_metadata.h"

namespace kiln::runtime {
namespace {

using artifact::NamesOf;
using artifact::PipelineMetadata;

// What the driver was given, copied while it was there.
struct Seen {
  VkPipelineRasterizationStateCreateInfo raster;
  VkPipelineDepthStencilStateCreateInfo depth;
  VkPipelineColorBlendAttachmentState blend;
  std::array<float, 4> constants;
};
Seen seen;

VKAPI_ATTR VkResult VKAPI_CALL Look(VkDevice /*device*/, VkPipelineCache /*cache*/,
                                    uint32_t /*count*/, const VkGraphicsPipelineCreateInfo* info,
                                    const VkAllocationCallbacks* /*callbacks*/,
                                    VkPipeline* /*pipeline*/) {
  seen.raster = *info->pRasterizationState;
  seen.depth = *info->pDepthStencilState;
  seen.blend = info->pColorBlendState->pAttachments[0];
  std::copy_n(info->pColorBlendState->blendConstants, 4, seen.constants.begin());
  return VK_SUCCESS;
}

// The structures of the sample with one thing changed.
template <class Edit>
const Seen& With(Edit edit) {
  vk::Table table;
  table.CreateGraphicsPipelines = Look;
  const Device device = Device::OverTable(table, AbleDevice(), {});
  PipelineMetadata metadata = SampleMetadata();
  edit(metadata);
  PassSignature signature = SampleSignature();
  signature.depth_stencil = VK_FORMAT_D32_SFLOAT_S8_UINT;
  const auto desc = DescFrom("sample", metadata, signature);
  EXPECT_TRUE(desc.ok()) << ErrorText(desc.error());
  EXPECT_TRUE(CheckDevice(*desc, device.caps()).ok());
  const std::vector<VkShaderModule> modules(2);
  const CreateInfo info(*desc, device.caps(), modules, VK_NULL_HANDLE);
  VkPipeline pipeline = VK_NULL_HANDLE;
  EXPECT_EQ(info.Create(device, VK_NULL_HANDLE, 0, nullptr, &pipeline), VK_SUCCESS);
  return seen;
}

const std::map<std::string_view, VkCompareOp> kCompare = {
    {"never", VK_COMPARE_OP_NEVER},     {"always", VK_COMPARE_OP_ALWAYS},
    {"equal", VK_COMPARE_OP_EQUAL},     {"not_equal", VK_COMPARE_OP_NOT_EQUAL},
    {"less", VK_COMPARE_OP_LESS},       {"less_or_equal", VK_COMPARE_OP_LESS_OR_EQUAL},
    {"greater", VK_COMPARE_OP_GREATER}, {"greater_or_equal", VK_COMPARE_OP_GREATER_OR_EQUAL}};
const std::map<std::string_view, VkStencilOp> kStencil = {
    {"keep", VK_STENCIL_OP_KEEP},
    {"zero", VK_STENCIL_OP_ZERO},
    {"replace", VK_STENCIL_OP_REPLACE},
    {"increment_and_clamp", VK_STENCIL_OP_INCREMENT_AND_CLAMP},
    {"decrement_and_clamp", VK_STENCIL_OP_DECREMENT_AND_CLAMP},
    {"invert", VK_STENCIL_OP_INVERT},
    {"increment_and_wrap", VK_STENCIL_OP_INCREMENT_AND_WRAP},
    {"decrement_and_wrap", VK_STENCIL_OP_DECREMENT_AND_WRAP}};
const std::map<std::string_view, VkBlendOp> kOperation = {
    {"add", VK_BLEND_OP_ADD},
    {"subtract", VK_BLEND_OP_SUBTRACT},
    {"reverse_subtract", VK_BLEND_OP_REVERSE_SUBTRACT},
    {"min", VK_BLEND_OP_MIN},
    {"max", VK_BLEND_OP_MAX}};
const std::map<std::string_view, VkBlendFactor> kFactor = {
    {"zero", VK_BLEND_FACTOR_ZERO},
    {"one", VK_BLEND_FACTOR_ONE},
    {"source_color", VK_BLEND_FACTOR_SRC_COLOR},
    {"one_minus_source_color", VK_BLEND_FACTOR_ONE_MINUS_SRC_COLOR},
    {"destination_color", VK_BLEND_FACTOR_DST_COLOR},
    {"one_minus_destination_color", VK_BLEND_FACTOR_ONE_MINUS_DST_COLOR},
    {"source_alpha", VK_BLEND_FACTOR_SRC_ALPHA},
    {"one_minus_source_alpha", VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA},
    {"destination_alpha", VK_BLEND_FACTOR_DST_ALPHA},
    {"one_minus_destination_alpha", VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA},
    {"constant_color", VK_BLEND_FACTOR_CONSTANT_COLOR},
    {"one_minus_constant_color", VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_COLOR},
    {"constant_alpha", VK_BLEND_FACTOR_CONSTANT_ALPHA},
    {"one_minus_constant_alpha", VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA},
    {"source_alpha_saturate", VK_BLEND_FACTOR_SRC_ALPHA_SATURATE}};

// Calls `check` with each value of the enumeration and its name in the language.
template <class E, class Check>
void ForEach(Check check) {
  for (size_t i = 0; i < NamesOf<E>().size(); ++i) {
    SCOPED_TRACE(NamesOf<E>()[i]);
    check(static_cast<E>(i), NamesOf<E>()[i]);
  }
}

TEST(CreateInfo, PolygonAndCullMode) {
  ForEach<artifact::PolygonMode>([](auto value, auto name) {
    EXPECT_EQ(With([&](auto& m) { m.settings.polygon_mode = value; }).raster.polygonMode,
              name == "fill" ? VK_POLYGON_MODE_FILL : VK_POLYGON_MODE_LINE);
  });
  const std::map<std::string_view, VkCullModeFlags> modes = {{"none", VK_CULL_MODE_NONE},
                                                             {"back", VK_CULL_MODE_BACK_BIT},
                                                             {"front", VK_CULL_MODE_FRONT_BIT}};
  ForEach<artifact::CullMode>([&](auto value, auto name) {
    EXPECT_EQ(With([&](auto& m) { m.settings.cull_mode = value; }).raster.cullMode, modes.at(name));
  });
}

TEST(CreateInfo, DepthTestWriteAndCompare) {
  for (const bool on : {false, true}) {
    EXPECT_EQ(With([&](auto& m) { m.settings.depth_test = on; }).depth.depthTestEnable,
              VkBool32{on});
    EXPECT_EQ(With([&](auto& m) { m.settings.depth_write = on; }).depth.depthWriteEnable,
              VkBool32{on});
  }
  ForEach<artifact::CompareOperation>([](auto value, auto name) {
    EXPECT_EQ(
        With([&](auto& m) { m.settings.depth_compare_operation = value; }).depth.depthCompareOp,
        kCompare.at(name));
  });
}

TEST(CreateInfo, DepthBounds) {
  const Seen& with = With([](auto& m) {
    m.settings.depth_bounds_test = true;
    m.settings.depth_min = 0.25F;
    m.settings.depth_max = 0.75F;
  });
  EXPECT_EQ(with.depth.depthBoundsTestEnable, VK_TRUE);
  EXPECT_EQ(with.depth.minDepthBounds, 0.25F);
  EXPECT_EQ(with.depth.maxDepthBounds, 0.75F);
  EXPECT_EQ(With([](auto&) {}).depth.depthBoundsTestEnable, VK_FALSE);
}

TEST(CreateInfo, StencilOfBothFaces) {
  using artifact::StencilFace;
  struct Face {
    StencilFace artifact::Settings::*from;
    VkStencilOpState VkPipelineDepthStencilStateCreateInfo::*to;
  };
  EXPECT_EQ(With([](auto&) {}).depth.stencilTestEnable, VK_FALSE);
  for (const Face& face :
       {Face{&artifact::Settings::stencil_front, &VkPipelineDepthStencilStateCreateInfo::front},
        Face{&artifact::Settings::stencil_back, &VkPipelineDepthStencilStateCreateInfo::back}}) {
    const auto with = [&](auto edit) -> const VkStencilOpState& {
      const Seen& all = With([&](auto& m) {
        m.settings.stencil_test = true;
        edit(m.settings.*face.from);
      });
      EXPECT_EQ(all.depth.stencilTestEnable, VK_TRUE);
      return all.depth.*face.to;
    };
    ForEach<artifact::StencilOperation>([&](auto value, auto name) {
      EXPECT_EQ(with([&](StencilFace& f) { f.on_fail = value; }).failOp, kStencil.at(name));
      EXPECT_EQ(with([&](StencilFace& f) { f.on_depth_fail = value; }).depthFailOp,
                kStencil.at(name));
      EXPECT_EQ(with([&](StencilFace& f) { f.on_pass = value; }).passOp, kStencil.at(name));
    });
    ForEach<artifact::CompareOperation>([&](auto value, auto name) {
      EXPECT_EQ(with([&](StencilFace& f) { f.compare = value; }).compareOp, kCompare.at(name));
    });
    EXPECT_EQ(with([](StencilFace& f) { f.compare_mask = 0xF0; }).compareMask, 0xF0U);
    EXPECT_EQ(with([](StencilFace& f) { f.write_mask = 0x0F; }).writeMask, 0x0FU);
    EXPECT_EQ(with([](StencilFace& f) { f.reference = 7; }).reference, 7U);
  }
}

TEST(CreateInfo, BlendOfAnOutput) {
  using artifact::ColorOutput;
  const auto with = [](auto edit) -> const VkPipelineColorBlendAttachmentState& {
    return With([&](auto& m) {
             m.color_outputs[0].use_blend = true;
             edit(m.color_outputs[0]);
           })
        .blend;
  };
  EXPECT_EQ(With([](auto&) {}).blend.blendEnable, VK_FALSE);
  EXPECT_EQ(with([](ColorOutput&) {}).blendEnable, VK_TRUE);
  ForEach<artifact::BlendFactor>([&](auto value, auto name) {
    const VkBlendFactor factor = kFactor.at(name);
    EXPECT_EQ(
        with([&](ColorOutput& o) { o.source_color_blend_factor = value; }).srcColorBlendFactor,
        factor);
    EXPECT_EQ(
        with([&](ColorOutput& o) { o.destination_color_blend_factor = value; }).dstColorBlendFactor,
        factor);
    EXPECT_EQ(
        with([&](ColorOutput& o) { o.source_alpha_blend_factor = value; }).srcAlphaBlendFactor,
        factor);
    EXPECT_EQ(
        with([&](ColorOutput& o) { o.destination_alpha_blend_factor = value; }).dstAlphaBlendFactor,
        factor);
  });
  ForEach<artifact::BlendOperation>([&](auto value, auto name) {
    EXPECT_EQ(with([&](ColorOutput& o) { o.color_blend_operation = value; }).colorBlendOp,
              kOperation.at(name));
    EXPECT_EQ(with([&](ColorOutput& o) { o.alpha_blend_operation = value; }).alphaBlendOp,
              kOperation.at(name));
  });
}

TEST(CreateInfo, WriteMaskAndBlendConstants) {
  for (uint32_t mask = 0; mask < 16; ++mask) {
    EXPECT_EQ(With([&](auto& m) {
                for (size_t i = 0; i < 4; ++i) {
                  m.color_outputs[0].write[i] = (mask >> i & 1) != 0;
                }
              }).blend.colorWriteMask,
              mask);
  }
  const std::array<float, 4> constants = {0.1F, 0.2F, 0.3F, 0.4F};
  EXPECT_EQ(With([&](auto& m) { m.blend_constants = constants; }).constants, constants);
}

}  // namespace
}  // namespace kiln::runtime
