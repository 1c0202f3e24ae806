// SPDX-License-Identifier: MIT
// What the checks of construction say about metadata that does not fit its words, its layouts or
// its attachments, and that they are silent about what fits.
#include "runtime/pipeline/create/debug_checks.h"

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/pipeline/create/spirv_interface.h"
#include "runtime/pipeline/driver/fake_driver.h"
#include "runtime/pipeline/sample_shaders.h"

namespace kiln::runtime {
namespace {

using artifact::OutputItem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Reads a block with two members and an array, writes an integer.
constexpr const char* kBlocks = R"(
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "shade" %block %list %coord %id
OpExecutionMode %main OriginUpperLeft
OpDecorate %Block Block
OpMemberDecorate %Block 0 Location 4
OpMemberDecorate %Block 1 Location 2
OpMemberDecorate %Block 0 Flat
OpDecorate %list Location 6
OpDecorate %coord BuiltIn FragCoord
OpDecorate %id Location 1
%void = OpTypeVoid
%fn = OpTypeFunction %void
%float = OpTypeFloat 32
%int = OpTypeInt 32 1
%uint = OpTypeInt 32 0
%two = OpConstant %uint 2
%v2 = OpTypeVector %float 2
%v4 = OpTypeVector %float 4
%Block = OpTypeStruct %int %v2
%array = OpTypeArray %float %two
%iblock = OpTypePointer Input %Block
%ilist = OpTypePointer Input %array
%iv4 = OpTypePointer Input %v4
%ouint = OpTypePointer Output %uint
%block = OpVariable %iblock Input
%list = OpVariable %ilist Input
%coord = OpVariable %iv4 Input
%id = OpVariable %ouint Output
%main = OpFunction %void None %fn
%l = OpLabel
OpStore %id %two
OpReturn
OpFunctionEnd
)";

TEST(ReadInterface, Vertex_MatricesTakeALocationPerColumn) {
  const auto read =
      ReadInterface(Assemble(kSampleVertex), VK_SHADER_STAGE_VERTEX_BIT, "vertex_main");
  ASSERT_TRUE(read.ok()) << ErrorText(read.error());
  const auto at = [](uint32_t location, uint32_t components) {
    return InterfaceLocation{location, OutputItem::kFloat, components};
  };
  EXPECT_THAT(read->inputs,
              ElementsAre(at(0, 3), at(1, 4), at(2, 4), at(3, 4), at(4, 4), at(5, 4)));
  EXPECT_THAT(read->outputs, ElementsAre(at(0, 4)));  // the position is built in
}

TEST(ReadInterface, BlocksAndArrays_AreTheirParts) {
  const auto read = ReadInterface(Assemble(kBlocks), VK_SHADER_STAGE_FRAGMENT_BIT, "shade");
  ASSERT_TRUE(read.ok()) << ErrorText(read.error());
  EXPECT_THAT(read->inputs, ElementsAre(InterfaceLocation{2, OutputItem::kFloat, 2},
                                        InterfaceLocation{4, OutputItem::kSint, 1},
                                        InterfaceLocation{6, OutputItem::kFloat, 1},
                                        InterfaceLocation{7, OutputItem::kFloat, 1}));
  EXPECT_THAT(read->outputs, ElementsAre(InterfaceLocation{1, OutputItem::kUint, 1}));
}

TEST(ReadInterface, OtherNameOrStage_IsNotThere) {
  const std::vector<uint32_t> words = Assemble(kBlocks);
  EXPECT_FALSE(ReadInterface(words, VK_SHADER_STAGE_FRAGMENT_BIT, "shad").ok());
  EXPECT_FALSE(ReadInterface(words, VK_SHADER_STAGE_VERTEX_BIT, "shade").ok());
}

// Nothing that can be in the words makes the reader leave them.
TEST(ReadInterface, DamagedWords_AreReadOrRefused) {
  const std::vector<uint32_t> words = Assemble(kBlocks);
  const auto read = [](std::span<const uint32_t> some) {
    return ReadInterface(some, VK_SHADER_STAGE_FRAGMENT_BIT, "shade").ok();
  };
  EXPECT_FALSE(read({}));
  EXPECT_FALSE(read(std::span(words).first(5)));
  size_t refused = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    read(std::span(words).first(i));
    for (const uint32_t flip : {0x1U, 0x80U, 0x10000U, 0x80000000U, 0xFFFFFFFFU}) {
      std::vector<uint32_t> other = words;
      other[i] ^= flip;
      refused += read(other) ? 0 : 1;
    }
  }
  EXPECT_GT(refused, words.size() / 2);
}

struct Case {
  std::string name;
  std::function<void(PipelineMetadata&)> edit;
  std::string error;  // empty: it fits
};
void PrintTo(const Case& item, std::ostream* out) { *out << item.name; }

class Locations : public ::testing::TestWithParam<Case> {};

TEST_P(Locations, AgainstTheWords) {
  PipelineMetadata metadata = SampleMetadata();
  GetParam().edit(metadata);
  PassSignature signature = DefaultSignature(metadata);
  const auto desc = DescFrom("rock", metadata, signature);
  ASSERT_TRUE(desc.ok()) << ErrorText(desc.error());
  const std::vector<uint32_t> vertex = Assemble(kSampleVertex);
  const std::vector<uint32_t> fragment = Assemble(kSampleFragment);
  const std::vector<std::span<const uint32_t>> words = {vertex, fragment};
  const Result<void> checked = CheckLocations(*desc, words);
  EXPECT_EQ(checked.ok() ? "" : ErrorText(checked.error()), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Edits, Locations,
    ::testing::ValuesIn(std::vector<Case>{
        {"sample", [](auto&) {}, ""},
        {"more_than_is_read",
         [](auto& m) {
           m.attribute_sources[0].block_size = 32;
           m.attribute_sources[0].attributes.push_back(
               {.name = "uv",
                .location = 6,
                .offset = 16,
                .kind = artifact::AttributeClass::kVector2});
         },
         ""},
        {"attribute_left_out", [](auto& m) { m.attribute_sources[0].attributes.pop_back(); },
         "INVALID_ARGUMENT (METADATA_INVALID): 'rock': entry point 'vertex_main' reads location 1, "
         "which no attribute has"},
        {"column_left_out",
         [](auto& m) {
           m.attribute_sources[1].attributes[0].kind = artifact::AttributeClass::kMatrix3x3;
         },
         "INVALID_ARGUMENT (METADATA_INVALID): 'rock': entry point 'vertex_main' reads location 5, "
         "which no attribute has"},
        {"attribute_moved", [](auto& m) { m.attribute_sources[0].attributes[1].location = 7; },
         "INVALID_ARGUMENT (METADATA_INVALID): 'rock': entry point 'vertex_main' reads location 1, "
         "which no attribute has"},
        {"attribute_of_integers",
         [](auto& m) {
           m.attribute_sources[0].attributes[1].item_format = artifact::ItemFormat::kUint8;
         },
         "INVALID_ARGUMENT (METADATA_INVALID): 'rock': entry point 'vertex_main' reads float at "
         "location 1, attribute 'color' is uint"},
        {"output_moved", [](auto& m) { m.color_outputs[0].location = 1; },
         "INVALID_ARGUMENT (METADATA_INVALID): 'rock': entry point 'fragment_main' writes location "
         "0, which no color output has"},
        {"output_of_integers", [](auto& m) { m.color_outputs[0].item = OutputItem::kSint; },
         "INVALID_ARGUMENT (METADATA_INVALID): 'rock': entry point 'fragment_main' writes float at "
         "location 0, color output 'radiance' is sint"},
        {"entry_renamed", [](auto& m) { m.entry_points[1].name = "main"; },
         "INVALID_ARGUMENT (METADATA_INVALID): 'rock': entry point 'main': the words have no such "
         "entry point"},
    }),
    [](const auto& info) { return info.param.name; });

TEST(CheckLocations, FragmentReadsWhatTheVertexStageDoesNotWrite_IsNamed) {
  PipelineMetadata metadata = SampleMetadata();
  metadata.entry_points[1].name = "shade";
  const auto desc = DescFrom("rock", metadata, SampleSignature());
  const std::vector<uint32_t> vertex = Assemble(kSampleVertex);
  const std::vector<uint32_t> fragment = Assemble(kBlocks);
  const std::vector<std::span<const uint32_t>> words = {vertex, fragment};
  EXPECT_EQ(CheckLocations(*desc, words).error().context,
            "'rock': entry point 'shade' reads location 2, which 'vertex_main' does not write");
}

// components of the output, write mask, format: what is odd.
TEST(LintsOf, MaskLetsThroughWhatTheShaderLacks_IsNamed) {
  struct Row {
    uint32_t components;
    std::array<bool, 4> write;
    VkFormat format;
    std::string missing;
  };
  const std::vector<Row> rows = {
      {4, {true, true, true, true}, VK_FORMAT_R8G8B8A8_UNORM, ""},
      {3, {true, true, true, true}, VK_FORMAT_R8G8B8A8_UNORM, "a"},
      {3, {true, true, true, false}, VK_FORMAT_R8G8B8A8_UNORM, ""},
      {1, {true, true, false, true}, VK_FORMAT_R8G8B8A8_UNORM, "ga"},
      {1, {true, true, true, true}, VK_FORMAT_R8_UNORM, ""},
      {1, {true, true, true, true}, VK_FORMAT_R8G8_UNORM, "g"},
      {2, {false, false, false, false}, VK_FORMAT_R8G8B8A8_UNORM, ""},
      {3, {true, true, true, true}, VK_FORMAT_B10G11R11_UFLOAT_PACK32, ""},
  };
  for (const Row& row : rows) {
    PipelineMetadata metadata = SampleMetadata();
    metadata.color_outputs[0].components_count = row.components;
    metadata.color_outputs[0].write = row.write;
    PassSignature signature = SampleSignature();
    signature.color = {row.format};
    const std::vector<std::string> lints = LintsOf(*DescFrom("rock", metadata, signature));
    ASSERT_EQ(lints.size(), row.missing.empty() ? 0U : 1U) << row.components << row.missing;
    if (!lints.empty()) {
      EXPECT_THAT(lints[0], HasSubstr("lets '" + row.missing + "' of attachment 0"));
    }
  }
}

using DebugChecked = FakeDriverTest;

Result<PipelineId> AddSample(Pipelines& pipelines, std::string_view name,
                             const PipelineMetadata& metadata) {
  const std::vector<uint32_t> vertex = Assemble(kSampleVertex);
  const std::vector<uint32_t> fragment = Assemble(kSampleFragment);
  const ModuleWords modules[] = {{artifact::Stage::kVertex, vertex},
                                 {artifact::Stage::kFragment, fragment}};
  return pipelines.Add(name, metadata, modules, SampleSignature());
}

TEST_F(DebugChecked, WordsReadMore_ThatPipelineFailsBeforeTheDriver) {
  const Device device = MakeDevice();
  for (const DebugChecks checks : {DebugChecks::kOff, DebugChecks::kOn}) {
    Pipelines pipelines(device, checks);
    PipelineMetadata metadata = SampleMetadata();
    const PipelineId fine = *AddSample(pipelines, "rock", metadata);
    EXPECT_EQ(pipelines.State(fine), PipelineState::kReady);
    const size_t before = driver.created.size();
    metadata.attribute_sources[0].attributes.pop_back();
    const PipelineId wrong = *AddSample(pipelines, "moss", metadata);
    const bool refused = checks == DebugChecks::kOn;
    EXPECT_EQ(pipelines.State(wrong), refused ? PipelineState::kFailed : PipelineState::kReady);
    EXPECT_EQ(driver.created.size(), refused ? before : before + 1);
  }
}

// Equal hash and equal content, equal hash and other content, other hash.
TEST_F(DebugChecked, EqualLayoutHashAndOtherLayouts_IsToldWithBothNames) {
  const Device device = MakeDevice();
  Pipelines pipelines(device, DebugChecks::kOn);
  PipelineMetadata metadata = SampleMetadata();
  metadata.layout_hash.bytes.fill(0xAB);
  ASSERT_TRUE(AddSample(pipelines, "rock", metadata).ok());
  metadata.settings.cull_mode = artifact::CullMode::kNone;
  EXPECT_TRUE(AddSample(pipelines, "rock without culling", metadata).ok());
  metadata.sets[3].buffers[0].binding = 1;
  const auto other = AddSample(pipelines, "moss", metadata);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(ErrorText(other.error()),
            "INVALID_ARGUMENT (METADATA_INVALID): 'moss': its layout hash "
            "abababababababababababababababab is that of 'rock', its layouts are others");
  metadata.layout_hash.bytes.fill(0xCD);
  EXPECT_TRUE(AddSample(pipelines, "moss", metadata).ok());
}

TEST_F(DebugChecked, EqualLayoutHash_IsAskedOfReplacementsToo) {
  const Device device = MakeDevice();
  Pipelines pipelines(device, DebugChecks::kOn);
  PipelineMetadata metadata = SampleMetadata();
  metadata.layout_hash.bytes.fill(1);
  const PipelineId id = *AddSample(pipelines, "rock", metadata);
  metadata.push_constant_size = 32;
  const std::vector<uint32_t> vertex = Assemble(kSampleVertex);
  const std::vector<uint32_t> fragment = Assemble(kSampleFragment);
  const ModuleWords modules[] = {{artifact::Stage::kVertex, vertex},
                                 {artifact::Stage::kFragment, fragment}};
  EXPECT_EQ(pipelines.Replace(id, metadata, modules).error().reason, "METADATA_INVALID");
}

TEST_F(DebugChecked, Lint_IsALineOfTheLogPerPipeline) {
  const Device device = MakeDevice();
  RecordingLog log;
  const auto pipelines = MakePipelines(device, {.threads = 0, .log = &log});
  PipelineMetadata metadata = SampleMetadata();
  ASSERT_TRUE(AddSample(*pipelines, "rock", metadata).ok());
  EXPECT_THAT(log.Lines(), IsEmpty());
  metadata.color_outputs[0].components_count = 3;
  metadata.settings.cull_mode = artifact::CullMode::kNone;  // another pipeline
  ASSERT_TRUE(AddSample(*pipelines, "moss", metadata).ok());
  ASSERT_TRUE(AddSample(*pipelines, "moss", metadata).ok());
  EXPECT_THAT(log.Lines(), ElementsAre(HasSubstr("lets 'a' of attachment 0")));
}

}  // namespace
}  // namespace kiln::runtime
