// SPDX-License-Identifier: MIT
#include "runtime/pipeline/create/canonical_state.h"

#include <functional>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "runtime/pipeline/create/desc_bytes.h"
#include "runtime/pipeline/print_desc.h"
#include "runtime/pipeline/sample_metadata.h"

namespace kiln::runtime {
namespace {

const std::vector<Digest> kCode = {DigestOf("vertex"), DigestOf("fragment")};

struct Case {
  std::string name;
  std::function<void(PipelineDesc&)> edit;
};
void PrintTo(const Case& item, std::ostream* out) { *out << item.name; }

class CannotMatter : public ::testing::TestWithParam<Case> {};
class Matters : public ::testing::TestWithParam<Case> {};

PipelineDesc Sample() {
  PipelineDesc desc = *DescFrom("rock", SampleMetadata(), SampleSignature());
  desc.attachments[0].blendEnable = VK_TRUE;
  return desc;
}

TEST_P(CannotMatter, Edit_KeepsTheKey) {
  PipelineDesc desc = Sample();
  const Hash128 key = PipelineKey(desc, kCode);
  GetParam().edit(desc);
  EXPECT_EQ(PipelineKey(desc, kCode).hex(), key.hex());
}

TEST_P(Matters, Edit_ChangesTheKey) {
  PipelineDesc desc = Sample();
  const Hash128 key = PipelineKey(desc, kCode);
  GetParam().edit(desc);
  EXPECT_NE(PipelineKey(desc, kCode).hex(), key.hex());
}

TEST_P(CannotMatter, Edit_SurvivesItsBytes) {
  PipelineDesc desc = Sample();
  GetParam().edit(desc);
  EXPECT_EQ(PrintDesc(*DecodeDesc(EncodeDesc(desc))), PrintDesc(desc));
}

TEST_P(Matters, Edit_SurvivesItsBytes) {
  PipelineDesc desc = Sample();
  GetParam().edit(desc);
  const PipelineDesc decoded = *DecodeDesc(EncodeDesc(desc));
  EXPECT_EQ(PipelineKey(decoded, kCode), PipelineKey(desc, kCode));
  EXPECT_EQ(PrintDesc(decoded), PrintDesc(desc));
}

INSTANTIATE_TEST_SUITE_P(
    Edits, CannotMatter,
    ::testing::ValuesIn(std::vector<Case>{
        {"name", [](auto& d) { d.name = "other"; }},
        {"resource_name", [](auto& d) { d.sets[0][0].name = "other"; }},
        {"attribute_name", [](auto& d) { d.vertex_attributes[0].name = "other"; }},
        {"blend_constants_nobody_reads",
         [](auto& d) {
           d.blend_constants = {1, 1, 1, 1};
         }},
        {"stencil_without_test", [](auto& d) { d.depth_stencil.front.reference = 3; }},
        {"depth_bounds_without_test", [](auto& d) { d.depth_stencil.bounds_min = 0.5F; }},
        {"order_of_dynamic_states",
         [](auto& d) { std::swap(d.dynamic_states[0], d.dynamic_states[1]); }},
    }),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Edits, Matters,
    ::testing::ValuesIn(std::vector<Case>{
        {"entry", [](auto& d) { d.stages[0].entry = "other"; }},
        {"blend_factor",
         [](auto& d) { d.attachments[0].dstColorBlendFactor = VK_BLEND_FACTOR_ONE; }},
        {"write_mask", [](auto& d) { d.attachments[0].colorWriteMask = 1; }},
        {"cull_mode", [](auto& d) { d.raster.cull_mode = VK_CULL_MODE_NONE; }},
        {"depth_compare", [](auto& d) { d.depth_stencil.depth_compare = VK_COMPARE_OP_ALWAYS; }},
        {"depth_write", [](auto& d) { d.depth_stencil.depth_write = false; }},
        {"format", [](auto& d) { d.signature.color[0] = VK_FORMAT_B8G8R8A8_UNORM; }},
        {"depth_format", [](auto& d) { d.signature.depth_stencil = VK_FORMAT_D16_UNORM; }},
        {"view_mask", [](auto& d) { d.signature.view_mask = 3; }},
        {"samples", [](auto& d) { d.multisample.samples = VK_SAMPLE_COUNT_4_BIT; }},
        {"binding_count", [](auto& d) { d.sets[1][2].count = 4; }},
        {"set_moves", [](auto& d) { std::swap(d.sets[2], d.sets[3]); }},
        {"push_size", [](auto& d) { d.push_size = 32; }},
        {"offset", [](auto& d) { d.vertex_attributes[1].offset = 8; }},
        {"stride", [](auto& d) { d.vertex_bindings[0].stride = 32; }},
        {"specialization",
         [](auto& d) {
           d.specialization = {{1, 0, 4}};
           d.specialization_values = {7};
         }},
    }),
    [](const auto& info) { return info.param.name; });

TEST(PipelineKey, Code_IsPartOfIt) {
  const PipelineDesc desc = Sample();
  const std::vector<Digest> other = {DigestOf("vertex"), DigestOf("another")};
  EXPECT_NE(PipelineKey(desc, kCode), PipelineKey(desc, other));
}

TEST(CanonicalState, BlendStateWithoutBlending_IsDropped) {
  PipelineDesc desc = Sample();
  desc.attachments[0].blendEnable = VK_FALSE;
  desc.attachments[0].srcColorBlendFactor = VK_BLEND_FACTOR_CONSTANT_COLOR;
  const PipelineDesc canonical = CanonicalState(desc);
  EXPECT_EQ(canonical.attachments[0].srcColorBlendFactor, VK_BLEND_FACTOR_ZERO);
  EXPECT_EQ(canonical.attachments[0].colorWriteMask, 0xfU);
}

TEST(CanonicalState, WriteMask_IsCutToTheComponentsOfTheFormat) {
  PipelineDesc desc = Sample();
  desc.signature.color[0] = VK_FORMAT_R16G16_SFLOAT;
  EXPECT_EQ(CanonicalState(desc).attachments[0].colorWriteMask, 0x3U);
}

TEST(CanonicalState, BlendConstants_StayIfAFactorReadsThem) {
  PipelineDesc desc = Sample();
  desc.blend_constants = {1, 2, 3, 4};
  desc.attachments[0].srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA;
  EXPECT_EQ(CanonicalState(desc).blend_constants, desc.blend_constants);
  desc.attachments[0].alphaBlendOp = VK_BLEND_OP_MAX;
  EXPECT_EQ(CanonicalState(desc).blend_constants, (std::array<float, 4>{}));
}

TEST(CanonicalState, DepthStateWithoutDepthTest_IsDropped) {
  PipelineDesc desc = Sample();
  desc.depth_stencil.depth_test = false;
  const DepthStencilDesc& state = CanonicalState(desc).depth_stencil;
  EXPECT_FALSE(state.depth_write);
  EXPECT_EQ(state.depth_compare, VK_COMPARE_OP_NEVER);
}

TEST(CanonicalState, DynamicDepthBounds_AreDropped) {
  PipelineDesc desc = Sample();
  desc.depth_stencil.bounds_test = true;
  desc.depth_stencil.bounds_min = 0.5F;
  EXPECT_EQ(CanonicalState(desc).depth_stencil.bounds_min, 0.5F);
  desc.dynamic_states.push_back(VK_DYNAMIC_STATE_DEPTH_BOUNDS);
  EXPECT_EQ(CanonicalState(desc).depth_stencil.bounds_min, 0.0F);
}

TEST(CanonicalState, CullingWhereNothingRasterizes_IsDropped) {
  PipelineDesc desc = Sample();
  desc.raster.discard = true;
  EXPECT_EQ(CanonicalState(desc).raster.cull_mode, 0U);
}

TEST(CanonicalState, Twice_IsTheSame) {
  PipelineDesc desc = Sample();
  desc.attachments[0].blendEnable = VK_FALSE;
  desc.depth_stencil.depth_test = false;
  const PipelineDesc once = CanonicalState(desc);
  EXPECT_EQ(PrintDesc(CanonicalState(once)), PrintDesc(once));
}

}  // namespace
}  // namespace kiln::runtime
