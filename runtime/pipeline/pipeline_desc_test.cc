// SPDX-License-Identifier: MIT
#include "runtime/pipeline/pipeline_desc.h"

#include <functional>
#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/pipeline/print_desc.h"
#include "runtime/pipeline/sample_metadata.h"

namespace kiln::runtime {
namespace {

// NOLINTNEXTLINE(google-build-using-namespace): the table below is made of these names
using namespace artifact;
using ::testing::HasSubstr;

TEST(DescFrom, Sample_PrintsEveryField) {
  const auto desc = DescFrom("rock/forward", SampleMetadata(), SampleSignature());
  ASSERT_TRUE(desc.ok()) << ErrorText(desc.error());
  EXPECT_EQ(PrintDesc(*desc), R"(pipeline rock/forward
stage VERTEX vertex_main
stage FRAGMENT fragment_main
set 0 binding 0 UNIFORM_BUFFER count=1 view
set 1 binding 0 UNIFORM_BUFFER count=1 material
set 1 binding 1 SAMPLER count=1 smooth
set 1 binding 2 SAMPLED_IMAGE count=3 layers
set 3 binding 0 STORAGE_BUFFER count=1 lamps
push 16 bytes
vertex_buffer 0 stride=16 VERTEX
vertex_buffer 1 stride=64 INSTANCE
attribute 0 buffer=0 offset=0 VK_FORMAT_R32G32B32_SFLOAT position
attribute 1 buffer=0 offset=12 VK_FORMAT_R8G8B8A8_UNORM color
attribute 2 buffer=1 offset=0 VK_FORMAT_R32G32B32A32_SFLOAT world_from_mesh
attribute 3 buffer=1 offset=16 VK_FORMAT_R32G32B32A32_SFLOAT world_from_mesh
attribute 4 buffer=1 offset=32 VK_FORMAT_R32G32B32A32_SFLOAT world_from_mesh
attribute 5 buffer=1 offset=48 VK_FORMAT_R32G32B32A32_SFLOAT world_from_mesh
raster TRIANGLE_LIST restart=false polygon=FILL cull=BACK front=CLOCKWISE clamp=false discard=false bias=false line=1
samples 1 shading=false alpha_to_coverage=false alpha_to_one=false
depth test=true write=true compare=LESS bounds=false 0 to 1
stencil test=false
stencil front fail=KEEP depth_fail=KEEP pass=KEEP compare=NEVER masks=0/0 reference=0
stencil back fail=KEEP depth_fail=KEEP pass=KEEP compare=NEVER masks=0/0 reference=0
color 0 VK_FORMAT_R8G8B8A8_UNORM write=RGBA blend=false color=ONE ADD ZERO alpha=ONE ADD ZERO
blend_constants 0 0 0 0 logic_op=false
depth_stencil VK_FORMAT_D32_SFLOAT view_mask=0x0
dynamic VIEWPORT SCISSOR viewport_y=up
)");
}

// Every setting of the language: an edit of metadata, and the line of the description that it
// changes.
struct SettingCase {
  std::string name;
  std::function<void(PipelineMetadata&)> edit;
  std::string line;
};
void PrintTo(const SettingCase& item, std::ostream* out) { *out << item.name; }

class SettingToDesc : public ::testing::TestWithParam<SettingCase> {};

TEST_P(SettingToDesc, Edit_ChangesItsField) {
  PipelineMetadata metadata = SampleMetadata();
  PassSignature signature = SampleSignature();
  signature.depth_stencil = VK_FORMAT_D32_SFLOAT_S8_UINT;
  const std::string before = PrintDesc(*DescFrom("p", metadata, signature));
  EXPECT_THAT(before, ::testing::Not(HasSubstr(GetParam().line)));
  GetParam().edit(metadata);
  const auto desc = DescFrom("p", metadata, signature);
  ASSERT_TRUE(desc.ok()) << ErrorText(desc.error());
  EXPECT_THAT(PrintDesc(*desc), HasSubstr(GetParam().line));
}

template <class E>
std::string Upper(E value) {
  std::string text(NameOf(value));
  for (char& c : text) {
    c = static_cast<char>(std::toupper(c));
  }
  const auto replace = [&](std::string_view from, std::string_view to) {
    if (const size_t at = text.find(from); at != std::string::npos) {
      text.replace(at, from.size(), to);
    }
  };
  replace("SOURCE", "SRC");
  replace("DESTINATION", "DST");
  return text;
}

std::vector<SettingCase> FlagCases() {
  return {
      {"wireframe", [](auto& m) { m.settings.polygon_mode = PolygonMode::kWireframe; },
       "polygon=LINE"},
      {"cull_none", [](auto& m) { m.settings.cull_mode = CullMode::kNone; }, "cull=NONE"},
      {"cull_front", [](auto& m) { m.settings.cull_mode = CullMode::kFront; }, "cull=FRONT"},
      {"depth_test", [](auto& m) { m.settings.depth_test = false; }, "depth test=false write=true"},
      {"depth_write", [](auto& m) { m.settings.depth_write = false; }, "write=false compare"},
      {"depth_bounds_test", [](auto& m) { m.settings.depth_bounds_test = true; }, "bounds=true"},
      {"depth_min", [](auto& m) { m.settings.depth_min = 0.25F; }, "bounds=false 0.25 to 1"},
      {"depth_max", [](auto& m) { m.settings.depth_max = 0.5F; }, "bounds=false 0 to 0.5"},
      {"stencil_test", [](auto& m) { m.settings.stencil_test = true; }, "stencil test=true"},
      {"stencil_front_masks",
       [](auto& m) {
         m.settings.stencil_front.compare_mask = 3;
         m.settings.stencil_front.write_mask = 7;
         m.settings.stencil_front.reference = 9;
       },
       "stencil front fail=KEEP depth_fail=KEEP pass=KEEP compare=NEVER masks=3/7 reference=9"},
      {"stencil_back_masks",
       [](auto& m) {
         m.settings.stencil_back.compare_mask = 4;
         m.settings.stencil_back.write_mask = 8;
         m.settings.stencil_back.reference = 1;
       },
       "stencil back fail=KEEP depth_fail=KEEP pass=KEEP compare=NEVER masks=4/8 reference=1"},
      {"blend_constants",
       [](auto& m) {
         m.blend_constants = {0.5F, 0.25F, 1.0F, 2.0F};
       },
       "blend_constants 0.5 0.25 1 2"},
      {"use_blend", [](auto& m) { m.color_outputs[0].use_blend = true; }, "blend=true"},
      {"write_r", [](auto& m) { m.color_outputs[0].write[0] = false; }, "write=-GBA"},
      {"write_g", [](auto& m) { m.color_outputs[0].write[1] = false; }, "write=R-BA"},
      {"write_b", [](auto& m) { m.color_outputs[0].write[2] = false; }, "write=RG-A"},
      {"write_a", [](auto& m) { m.color_outputs[0].write[3] = false; }, "write=RGB-"},
      {"primitive_restart", [](auto& m) { m.fixed_state.primitive_restart = true; },
       "restart=true"},
      {"depth_clamp", [](auto& m) { m.fixed_state.depth_clamp = true; }, "clamp=true"},
      {"discard", [](auto& m) { m.fixed_state.rasterizer_discard = true; }, "discard=true"},
      {"depth_bias", [](auto& m) { m.fixed_state.depth_bias = true; }, "bias=true"},
      {"line_width", [](auto& m) { m.fixed_state.line_width = 2.0F; }, "line=2"},
      {"front_face", [](auto& m) { m.fixed_state.front_face = FrontFace::kCounterClockwise; },
       "front=COUNTER_CLOCKWISE"},
      {"sample_shading", [](auto& m) { m.fixed_state.sample_shading = true; }, " shading=true"},
      {"alpha_to_coverage", [](auto& m) { m.fixed_state.alpha_to_coverage = true; },
       "alpha_to_coverage=true"},
      {"alpha_to_one", [](auto& m) { m.fixed_state.alpha_to_one = true; }, "alpha_to_one=true"},
      {"logic_op", [](auto& m) { m.fixed_state.logic_op = true; }, "logic_op=true"},
      {"dynamic_depth_bounds",
       [](auto& m) { m.fixed_state.dynamic_state.push_back(DynamicState::kDepthBounds); },
       "SCISSOR DEPTH_BOUNDS"},
      {"viewport_y", [](auto& m) { m.fixed_state.viewport_y = ViewportY::kDown; },
       "viewport_y=down"},
      {"push_size_rounds_up", [](auto& m) { m.push_constant_size = 21; }, "push 24 bytes"},
      {"read_write_storage",
       [](auto& m) { m.sets[0].buffers[0].type = BufferType::kReadWriteStorage; },
       "set 0 binding 0 STORAGE_BUFFER"},
      {"storage_image", [](auto& m) { m.sets[1].images[0].type = ImageType::kStorage2d; },
       "set 1 binding 2 STORAGE_IMAGE"},
      {"texel_buffer", [](auto& m) { m.sets[1].images[0].type = ImageType::kTexelBuffer; },
       "set 1 binding 2 UNIFORM_TEXEL_BUFFER count=3"},
      {"storage_texel_buffer",
       [](auto& m) { m.sets[1].images[0].type = ImageType::kStorageTexelBuffer; },
       "set 1 binding 2 STORAGE_TEXEL_BUFFER count=3"},
      {"combined_image_sampler", [](auto& m) { m.sets[1].images[0].sampler = "smooth"; },
       "set 1 binding 2 COMBINED_IMAGE_SAMPLER count=3"},
      {"array_of_buffers", [](auto& m) { m.sets[0].buffers[0].array_size = 5; },
       "set 0 binding 0 UNIFORM_BUFFER count=5"},
      {"array_of_samplers", [](auto& m) { m.sets[1].samplers[0].array_size = 4; },
       "SAMPLER count=4"},
      {"specialization",
       [](auto& m) {
         m.specialization = {{"taps", 3, OptionType::kUint, 4, 9}};
       },
       "specialization 3 = 0x00000009"},
  };
}

// One case per value of an enumeration that differs from the default.
template <class E, class Set>
void AddValues(std::vector<SettingCase>& cases, std::string_view name, E usual, Set set,
               const std::function<std::string(const std::string&)>& line) {
  for (size_t i = 0; i < NamesOf<E>().size(); ++i) {
    const auto value = static_cast<E>(i);
    if (value != usual) {
      cases.push_back({std::string(name) + "_" + std::string(NameOf(value)),
                       [=](PipelineMetadata& m) { set(m, value); }, line(Upper(value))});
    }
  }
}

std::vector<SettingCase> AllCases() {
  std::vector<SettingCase> cases = FlagCases();
  AddValues<CompareOperation>(
      cases, "depth_compare", CompareOperation::kLess,
      [](auto& m, auto v) { m.settings.depth_compare_operation = v; },
      [](const auto& v) { return "write=true compare=" + v + " "; });
  const auto face = [&](std::string_view name, StencilFace Settings::*face) {
    const std::string start = "stencil " + std::string(name) + " ";
    AddValues<StencilOperation>(
        cases, std::string(name) + "_on_fail", StencilOperation::kKeep,
        [=](auto& m, auto v) { (m.settings.*face).on_fail = v; },
        [=](const auto& v) { return start + "fail=" + v + " "; });
    AddValues<StencilOperation>(
        cases, std::string(name) + "_on_depth_fail", StencilOperation::kKeep,
        [=](auto& m, auto v) { (m.settings.*face).on_depth_fail = v; },
        [=](const auto& v) { return start + "fail=KEEP depth_fail=" + v + " "; });
    AddValues<StencilOperation>(
        cases, std::string(name) + "_on_pass", StencilOperation::kKeep,
        [=](auto& m, auto v) { (m.settings.*face).on_pass = v; },
        [=](const auto& v) { return start + "fail=KEEP depth_fail=KEEP pass=" + v + " "; });
    AddValues<CompareOperation>(
        cases, std::string(name) + "_compare", CompareOperation::kNever,
        [=](auto& m, auto v) { (m.settings.*face).compare = v; },
        [=](const auto& v) {
          return start + "fail=KEEP depth_fail=KEEP pass=KEEP compare=" + v + " ";
        });
  };
  face("front", &Settings::stencil_front);
  face("back", &Settings::stencil_back);
  const auto factor = [&](std::string_view name, BlendFactor usual,
                          BlendFactor ColorOutput::*member,
                          const std::function<std::string(const std::string&)>& line) {
    AddValues<BlendFactor>(
        cases, name, usual, [=](auto& m, auto v) { m.color_outputs[0].*member = v; }, line);
  };
  factor("source_color", BlendFactor::kOne, &ColorOutput::source_color_blend_factor,
         [](const auto& v) { return " color=" + v + " ADD ZERO alpha"; });
  factor("destination_color", BlendFactor::kZero, &ColorOutput::destination_color_blend_factor,
         [](const auto& v) { return " color=ONE ADD " + v + " alpha"; });
  factor("source_alpha", BlendFactor::kOne, &ColorOutput::source_alpha_blend_factor,
         [](const auto& v) { return " alpha=" + v + " ADD ZERO\n"; });
  factor("destination_alpha", BlendFactor::kZero, &ColorOutput::destination_alpha_blend_factor,
         [](const auto& v) { return " alpha=ONE ADD " + v + "\n"; });
  AddValues<BlendOperation>(
      cases, "color_operation", BlendOperation::kAdd,
      [](auto& m, auto v) { m.color_outputs[0].color_blend_operation = v; },
      [](const auto& v) { return " color=ONE " + v + " ZERO alpha"; });
  AddValues<BlendOperation>(
      cases, "alpha_operation", BlendOperation::kAdd,
      [](auto& m, auto v) { m.color_outputs[0].alpha_blend_operation = v; },
      [](const auto& v) { return " alpha=ONE " + v + " ZERO\n"; });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Settings, SettingToDesc, ::testing::ValuesIn(AllCases()),
                         [](const auto& info) { return info.param.name; });

TEST(DescFrom, SampleCount_IsTheSignatures) {
  PassSignature signature = SampleSignature();
  signature.samples = VK_SAMPLE_COUNT_4_BIT;
  EXPECT_EQ(DescFrom("p", SampleMetadata(), signature)->multisample.samples, VK_SAMPLE_COUNT_4_BIT);
}

TEST(DescFrom, AttachmentsBeyondTheOutputs_AreNotWritten) {
  PassSignature signature = SampleSignature();
  signature.color.push_back(VK_FORMAT_R16G16_SFLOAT);
  const auto desc = DescFrom("p", SampleMetadata(), signature);
  ASSERT_EQ(desc->attachments.size(), 2U);
  EXPECT_EQ(desc->attachments[1].colorWriteMask, 0U);
}

TEST(DescFrom, ComputePipeline_HasOneStageAndItsWorkgroup) {
  PipelineMetadata metadata;
  metadata.pipeline_type = PipelineType::kCompute;
  metadata.entry_points = {{Stage::kCompute, "blur"}};
  metadata.workgroup_size = {8, 4, 2};
  metadata.sets[0].images = {{.name = "target", .type = ImageType::kStorage2d}};
  EXPECT_EQ(PrintDesc(*DescFrom("blur", metadata, {})), R"(pipeline blur
stage COMPUTE blur
set 0 binding 0 STORAGE_IMAGE count=1 target
workgroup 8 4 2
)");
}

struct WrongCase {
  std::string name;
  std::function<void(PipelineMetadata&, PassSignature&)> edit;
  std::string error;
};
void PrintTo(const WrongCase& item, std::ostream* out) { *out << item.name; }

class WrongDesc : public ::testing::TestWithParam<WrongCase> {};

TEST_P(WrongDesc, Edit_IsReportedByName) {
  PipelineMetadata metadata = SampleMetadata();
  PassSignature signature = SampleSignature();
  GetParam().edit(metadata, signature);
  const auto desc = DescFrom("rock", metadata, signature);
  ASSERT_FALSE(desc.ok());
  EXPECT_EQ(ErrorText(desc.error()), "INVALID_ARGUMENT (" + GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Edits, WrongDesc,
    ::testing::ValuesIn(std::vector<WrongCase>{
        {"no_vertex_stage", [](auto& m, auto&) { m.entry_points.erase(m.entry_points.begin()); },
         "METADATA_INCOMPLETE): 'rock': a graphics_classic pipeline needs a vertex entry point"},
        {"two_vertex_stages", [](auto& m, auto&) { m.entry_points[1].stage = Stage::kVertex; },
         "METADATA_INVALID): 'rock': two entry points of one stage"},
        {"compute_stage", [](auto& m, auto&) { m.entry_points[1].stage = Stage::kCompute; },
         "METADATA_INVALID): 'rock': entry point 'fragment_main' is of a stage that a "
         "graphics_classic pipeline lacks"},
        {"binding_twice", [](auto& m, auto&) { m.sets[1].samplers[0].binding = 0; },
         "METADATA_INVALID): 'rock': 'material' and 'smooth' of set material both have binding 0"},
        {"location_twice",
         [](auto& m, auto&) { m.attribute_sources[1].attributes[0].location = 1; },
         "METADATA_INVALID): 'rock': attributes 'color' and 'world_from_mesh' both have location "
         "1"},
        {"attribute_outside", [](auto& m, auto&) { m.attribute_sources[0].block_size = 15; },
         "METADATA_INVALID): 'rock': attribute 'color' ends at byte 16 of 15 in 'mesh'"},
        {"push_constants_that_wrap", [](auto& m, auto&) { m.push_constant_size = 0xffff'ffff; },
         "METADATA_INVALID): 'rock': push constants have 4294967296 bytes"},
        {"tail_that_wraps",
         [](auto& m, auto&) {
           m.sets[0].buffers.push_back(
               {.name = "rows", .binding = 77, .tail_item_size = 32, .tail_offset = 0xffff'fff0});
         },
         "METADATA_INVALID): 'rock': buffer 'rows' has 4294967312 bytes"},
        {"no_column_stride",
         [](auto& m, auto&) { m.attribute_sources[1].attributes[0].column_stride = 0; },
         "METADATA_INCOMPLETE): 'rock': matrix attribute 'world_from_mesh' has no column_stride"},
        {"no_attachment", [](auto&, auto& s) { s.color.clear(); },
         "SIGNATURE_MISMATCH): 'rock': color output 'radiance' writes attachment 0, the pass has "
         "0"},
        {"integer_attachment", [](auto&, auto& s) { s.color[0] = VK_FORMAT_R8G8B8A8_UINT; },
         "SIGNATURE_MISMATCH): 'rock': color output 'radiance' is float, attachment 0 is "
         "VK_FORMAT_R8G8B8A8_UINT"},
        {"float_attachment", [](auto& m, auto&) { m.color_outputs[0].item = OutputItem::kSint; },
         "SIGNATURE_MISMATCH): 'rock': color output 'radiance' is sint, attachment 0 is "
         "VK_FORMAT_R8G8B8A8_UNORM"},
        {"integer_blend",
         [](auto& m, auto& s) {
           m.color_outputs[0].item = OutputItem::kUint;
           m.color_outputs[0].use_blend = true;
           s.color[0] = VK_FORMAT_R32_UINT;
         },
         "SIGNATURE_MISMATCH): 'rock': color output 'radiance' blends, which integers cannot "
         "(VK_FORMAT_R32_UINT)"},
        {"no_depth", [](auto&, auto& s) { s.depth_stencil = VK_FORMAT_UNDEFINED; },
         "SIGNATURE_MISMATCH): 'rock': the depth test is on, the pass has VK_FORMAT_UNDEFINED for "
         "depth and stencil"},
        {"no_stencil", [](auto& m, auto&) { m.settings.stencil_test = true; },
         "SIGNATURE_MISMATCH): 'rock': the stencil test is on, the pass has VK_FORMAT_D32_SFLOAT "
         "for depth and stencil"},
        {"viewport_of_the_pipeline",
         [](auto& m, auto&) { m.fixed_state.dynamic_state = {artifact::DynamicState::kScissor}; },
         "METADATA_INVALID): 'rock': viewport is no dynamic state"},
        {"scissor_of_the_pipeline",
         [](auto& m, auto&) { m.fixed_state.dynamic_state = {artifact::DynamicState::kViewport}; },
         "METADATA_INVALID): 'rock': scissor is no dynamic state"},
        {"dynamic_state_twice",
         [](auto& m, auto&) {
           m.fixed_state.dynamic_state.push_back(m.fixed_state.dynamic_state.front());
         },
         "METADATA_INVALID): 'rock': dynamic state viewport stands there twice"},
        {"outputs_share_a_location",
         [](auto& m, auto&) { m.color_outputs.push_back(m.color_outputs[0]); },
         "METADATA_INVALID): 'rock': two color outputs have location 0"},
    }),
    [](const auto& info) { return info.param.name; });

TEST(DefaultSignature, FollowsItemsAndTests) {
  PipelineMetadata metadata = SampleMetadata();
  metadata.color_outputs.push_back({.name = "id", .location = 1, .item = OutputItem::kUint});
  metadata.color_outputs.push_back({.name = "delta", .location = 2, .item = OutputItem::kSint});
  PassSignature signature = DefaultSignature(metadata);
  EXPECT_THAT(signature.color,
              ::testing::ElementsAre(VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R32G32B32A32_UINT,
                                     VK_FORMAT_R32G32B32A32_SINT));
  EXPECT_EQ(signature.depth_stencil, VK_FORMAT_D32_SFLOAT);
  EXPECT_TRUE(DescFrom("p", metadata, signature).ok());
  metadata.settings.stencil_test = true;
  EXPECT_EQ(DefaultSignature(metadata).depth_stencil, VK_FORMAT_D32_SFLOAT_S8_UINT);
  metadata.settings.stencil_test = metadata.settings.depth_test = false;
  EXPECT_EQ(DefaultSignature(metadata).depth_stencil, VK_FORMAT_UNDEFINED);
}

TEST(DefaultSignature, DeviceWithoutTheFormat_HasTheOtherOne) {
  PipelineMetadata metadata = SampleMetadata();
  metadata.settings.stencil_test = true;
  DeviceCaps caps = AbleDevice();
  EXPECT_EQ(DefaultSignature(metadata, caps).depth_stencil, VK_FORMAT_D32_SFLOAT_S8_UINT);
  caps.formats[VK_FORMAT_D32_SFLOAT_S8_UINT] = {};
  EXPECT_EQ(DefaultSignature(metadata, caps).depth_stencil, VK_FORMAT_D24_UNORM_S8_UINT);
  metadata.settings.stencil_test = false;
  EXPECT_EQ(DefaultSignature(metadata, caps).depth_stencil, VK_FORMAT_D32_SFLOAT);
}

}  // namespace
}  // namespace kiln::runtime
