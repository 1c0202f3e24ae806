// SPDX-License-Identifier: MIT
// Metadata as written by kiln, read back by protobuf: the worked example of the language, every
// kind of record, and that bytes are those of protobuf's own deterministic serialiser.
#include "compiler/emit/metadata/write.h"

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "compiler/artifact/metadata.h"
#include "compiler/layout/rpl_adapter.h"
#include "proto/kiln/v1/metadata.pb.h"
#include "tests/metadata/worked_example.h"

namespace kiln::metadata {
namespace {

using ir::BufferKind;
using ir::ContainerKind;
using ir::ResourceSet;
using testing::ElementsAre;
using Wire = v1::PipelineMetadata;

std::string Deterministic(const Wire& wire) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    wire.SerializeToCodedStream(&coded);
  }
  return bytes;
}

struct Written {
  Wire wire;
  Metadata metadata;
};

// Writes a variant; the bytes must be canonical and hold no field that the proto file has not.
Written WriteVariant(const ir::SpecialisedProgram& variant, const target::Target& target = {},
                     std::span<const ModuleFacts> modules = {}, target::Needs needs = 0) {
  layout::TypeLayouts types(*variant.pool);
  const layout::Layout layout = layout::Assign(variant, target, types).value.value();
  Written written{.wire = {}, .metadata = Write(variant, layout, target, types, modules, needs)};
  const std::string bytes(AsText(written.metadata.bytes));
  EXPECT_TRUE(written.wire.ParseFromString(bytes));
  EXPECT_EQ(Deterministic(written.wire), bytes);
  written.wire.DiscardUnknownFields();
  EXPECT_EQ(Deterministic(written.wire), bytes);
  EXPECT_EQ(written.wire.layout_hash(),
            AsText(std::as_bytes(std::span(written.metadata.layout_hash.bytes))));
  return written;
}

Wire FromText(const std::string& text) {
  Wire wire;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &wire)) << text;
  return wire;
}

TEST(MetadataWrite, WorkedExample_HasTheRecordsOfTheSpecification) {
  WorkedExample example({});
  Written written =
      WriteVariant(example.variant(), target::MakeTarget(target::Environment::kVulkan11));
  std::ifstream file(KILN_SOURCE_DIR "/tests/metadata/worked_example.textproto");
  const Wire expected = FromText(std::string(std::istreambuf_iterator<char>(file), {}));
  written.wire.clear_layout_hash();  // pinned below
  google::protobuf::util::MessageDifferencer differencer;
  std::string difference;
  differencer.ReportDifferencesToString(&difference);
  EXPECT_TRUE(differencer.Compare(expected, written.wire)) << difference;
}

TEST(MetadataWrite, WorkedExample_MovesWithItsGlobalOptions) {
  WorkedExample example({.baked_occlusion = true, .gust_count = 3});
  const Wire wire = WriteVariant(example.variant()).wire;
  const Wire::AttributeSource& leaf = wire.attribute_sources(0);
  EXPECT_EQ(leaf.block_size(), 24u);
  EXPECT_EQ(leaf.attributes(3).name(), "occlusion");
  EXPECT_EQ(leaf.attributes(3).location(), 3u);
  EXPECT_EQ(leaf.attributes(3).offset(), 20u);
  const Wire::AttributeSource& plant = wire.attribute_sources(1);
  EXPECT_EQ(plant.attributes(0).location(), 4u);
  EXPECT_EQ(plant.attributes(1).location(), 8u);
  const Wire::Buffer& wind = wire.sets().material().buffers(0);
  EXPECT_EQ(wind.main_size(), 208u);
  EXPECT_EQ(wind.main_parameters(0).offset(), 192u);
}

TEST(MetadataWrite, WorkedExample_IsDecodedByTheRuntime) {
  WorkedExample example({});
  const Metadata metadata = WriteVariant(example.variant()).metadata;
  const auto decoded = artifact::DecodeMetadata(metadata.bytes);
  ASSERT_TRUE(decoded.ok()) << ErrorText(decoded.error());
  EXPECT_EQ(decoded.value().layout_hash, metadata.layout_hash);
}

TEST(MetadataWrite, LayoutHash_CoversTheInputInterfaceAndNothingElse) {
  const auto hash = [](auto change, WorkedExample::Options options = {}) {
    WorkedExample example(options);
    change(example.variant());
    return WriteVariant(example.variant()).metadata.layout_hash;
  };
  const Hash128 base = hash([](ir::SpecialisedProgram&) {});
  EXPECT_EQ(base.hex(), "08bc4d99a9d6841df185651f33018272");
  EXPECT_EQ(base, hash([](ir::SpecialisedProgram& v) { v.entries.clear(); }));
  EXPECT_EQ(base, hash([](ir::SpecialisedProgram& v) { v.settings = {}; }));
  EXPECT_EQ(base, hash([](ir::SpecialisedProgram& v) { v.option_uses.clear(); }));
  EXPECT_NE(base, hash([](ir::SpecialisedProgram&) {}, {.baked_occlusion = true}));
  EXPECT_NE(base, hash([](ir::SpecialisedProgram&) {}, {.gust_count = 3}));
  EXPECT_NE(base, hash([](ir::SpecialisedProgram& v) { v.interface.pop_back(); }));
}

class MetadataWriteTest : public testing::Test {
 protected:
  Wire Written(const target::Target& target = {}, target::Needs needs = 0) {
    return WriteVariant(writer.variant(), target, {}, needs).wire;
  }
  static std::string Text(const google::protobuf::Message& message) {
    google::protobuf::TextFormat::Printer printer;
    printer.SetSingleLineMode(true);
    std::string text;
    printer.PrintToString(message, &text);
    return text;
  }

  ir::Pool pool;
  layout::InterfaceWriter writer{pool};
};

TEST_F(MetadataWriteTest, NestedStructs_FlattenToDottedNames) {
  writer.Struct("fog_t", {{.type = "f4", .name = "tint", .tags = {"fog", "color"}}});
  writer.Struct("sky_t", {{"fog_t", "fog"}, {"f4[3]", "bands"}});
  writer.Buffer(BufferKind::kUniform, ResourceSet::kShared, "scene",
                {{"f4", "first"}, {"sky_t", "sky"}, {"fog_t[2]", "none"}});
  const Wire wire = Written();
  const Wire::Buffer& buffer = wire.sets().shared().buffers(0);
  ASSERT_EQ(buffer.main_parameters_size(), 3);
  EXPECT_EQ(Text(buffer.main_parameters(1)),
            "name: \"sky.fog.tint\" type: \"f4\" offset: 16 total_item_count: 1 tags: \"fog\" "
            "tags: \"color\" ");
  EXPECT_EQ(Text(buffer.main_parameters(2)),
            "name: \"sky.bands\" type: \"f4\" offset: 32 total_item_count: 3 dimensions: 3 "
            "array_stride: 16 ");
}

TEST_F(MetadataWriteTest, ArraysOfMatrices_HaveBothStrides) {
  writer.Buffer(BufferKind::kReadOnlyStorage, ResourceSet::kPass, "bones",
                {{"f3x3[2][5]", "pose"}, {"f1", "weight"}});
  const Wire wire = Written();
  EXPECT_EQ(Text(wire.sets().pass().buffers(0).main_parameters(0)),
            "name: \"pose\" type: \"f3x3\" total_item_count: 10 dimensions: 2 dimensions: 5 "
            "array_stride: 48 matrix_stride: 16 ");
}

TEST_F(MetadataWriteTest, TailOfVectors_HasNoNameAndNoParameters) {
  writer.Buffer(BufferKind::kReadOnlyStorage, ResourceSet::kPass, "trail",
                {{"f3", "origin"}, {"f1", "age"}, {"f2", "wind"}, {"f1...", "lengths"}});
  const Wire wire = Written();
  const Wire::Buffer& buffer = wire.sets().pass().buffers(0);
  EXPECT_EQ(buffer.main_size(), 24u);
  EXPECT_EQ(buffer.tail_offset(), 24u);
  EXPECT_EQ(buffer.tail_item_size(), 4u);
  EXPECT_EQ(buffer.tail_field(), "lengths");
  EXPECT_EQ(buffer.tail_type(), "f1");
  EXPECT_EQ(buffer.tail_name(), "");
  EXPECT_EQ(buffer.tail_item_parameters_size(), 0);
}

TEST_F(MetadataWriteTest, NestedTailOfStructs_IsRelativeToItsItem) {
  writer.Struct("point_t", {{"f3", "at"}, {.type = "u1", .name = "id", .tags = {"key"}}});
  writer.Struct("cloud_t", {{"u1", "count"}, {"point_t...", "points"}});
  writer.Buffer(BufferKind::kReadOnlyStorage, ResourceSet::kPass, "b",
                {{"f4", "head"}, {"cloud_t", "cloud"}});
  const Wire wire = Written();
  const Wire::Buffer& buffer = wire.sets().pass().buffers(0);
  EXPECT_EQ(buffer.main_size(), 32u);
  EXPECT_EQ(buffer.tail_offset(), 32u);
  EXPECT_EQ(buffer.tail_item_size(), 16u);
  EXPECT_EQ(buffer.tail_name(), "points");
  EXPECT_EQ(buffer.tail_field(), "cloud.points");
  EXPECT_EQ(buffer.tail_type(), "point_t");
  EXPECT_EQ(Text(buffer.tail_item_parameters(1)),
            "name: \"id\" type: \"u1\" offset: 12 total_item_count: 1 tags: \"key\" ");
}

TEST_F(MetadataWriteTest, PushConstant_HasSizeAndMembers) {
  writer.PushConstant("draw", {{"f4x4", "model"}, {"f4", "tint"}});
  const Wire wire = Written();
  EXPECT_EQ(wire.push_constant_size(), 80u);
  EXPECT_EQ(wire.push_constant().name(), "draw");
  EXPECT_EQ(wire.push_constant().members(1).offset(), 64u);
  EXPECT_EQ(wire.push_constant().members(0).matrix_stride(), 16u);
}

TEST_F(MetadataWriteTest, ImageArrays_KeepTheirSizeEvenIfItIsOne) {
  writer.Image(ResourceSet::kObject, "image_color_2d[1]", "one");
  writer.Image(ResourceSet::kObject, "image_depth_2d_array", "shadow");
  const Wire wire = Written();
  EXPECT_EQ(Text(wire.sets().object().images(0)),
            "name: \"one\" type: \"image_color_2d\" image_array_size: 1 is_array: true ");
  EXPECT_EQ(Text(wire.sets().object().images(1)),
            "name: \"shadow\" binding: 1 type: \"image_depth_2d_array\" image_array_size: 1 ");
}

TEST_F(MetadataWriteTest, Outputs_TakeTheirSettingsByLocation) {
  writer.Container(ContainerKind::kColorOutput, "a", {{"f4", "albedo"}});
  writer.Container(ContainerKind::kColorOutput, "b",
                   {{.type = "u2", .name = "id", .tags = {"picking"}}});
  const auto flag = static_cast<uint16_t>(ir::ValueKind::kFlag);
  const auto real = static_cast<uint16_t>(ir::ValueKind::kFloat);
  const std::vector<ir::SpecialisedSetting> settings{
      {.name = "color_output_use_blend", .block = 0, .kind = flag, .bits = 1},
      {.name = "color_output_write_g", .block = 1, .kind = flag, .bits = 0},
      {.name = "color_output_use_blend", .block = 0, .kind = flag, .bits = 0},
      {.name = "color_blend_constant_b", .kind = real, .bits = 0x3f000000},
      {.name = "depth_bounds_test", .kind = flag, .bits = 1},
      {.name = "depth_min", .kind = real, .bits = 0x80000000}};
  writer.variant().settings = settings;
  const Wire wire = Written();
  EXPECT_FALSE(wire.color_outputs(0).use_blend());
  EXPECT_TRUE(wire.color_outputs(0).write_g());
  EXPECT_FALSE(wire.color_outputs(1).write_g());
  EXPECT_EQ(wire.color_outputs(1).components_count(), 2u);
  EXPECT_EQ(wire.color_outputs(1).item(), "uint");
  EXPECT_EQ(wire.color_outputs(1).location(), 1u);
  EXPECT_THAT(wire.color_outputs(1).tags(), ElementsAre("picking"));
  EXPECT_EQ(wire.blend_constants().b(), 0.5F);
  EXPECT_TRUE(std::signbit(wire.settings().depth_min()));
  EXPECT_THAT(wire.fixed_state().dynamic_state(),
              ElementsAre("viewport", "scissor", "depth_bounds"));
}

TEST_F(MetadataWriteTest, OptionValues_AreSpelledAsInTheSource) {
  const auto use = [this](std::string_view name, ir::OptionKind kind, uint32_t value) {
    writer.variant().option_uses.push_back(
        {.name = pool.InternText(name), .kind = kind, .value = value, .influence = 0x1f});
  };
  use("a", ir::OptionKind::kFlag, 0);
  use("b", ir::OptionKind::kUint, 4000000000U);
  use("c", ir::OptionKind::kSint, 0xfffffffdU);
  use("d", ir::OptionKind::kFloat, 0x3dcccccdU);
  use("e", ir::OptionKind::kFloat, 0x7f7fffffU);
  use("f", ir::OptionKind::kFloat, 0x80000000U);
  const Wire wire = Written();
  std::vector<std::string> values;
  for (const Wire::OptionInfluence& option : wire.option_influence()) {
    values.push_back(option.value());
  }
  EXPECT_THAT(values, ElementsAre("false", "4000000000u", "-3", "0.1",
                                  "340282346638528859811704183484516925440.0", "-0.0"));
  EXPECT_THAT(wire.option_influence(0).affects(),
              ElementsAre("layout", "settings", "code", "check", "specialization"));
}

TEST_F(MetadataWriteTest, Requirements_FollowNeedsAndTarget) {
  const target::Needs needs = target::BitOf(target::Need::kSampledImageArrayNonUniformIndexing);
  const Wire wire = Written(target::MakeTarget(target::Environment::kVulkan10), needs);
  EXPECT_THAT(wire.required_features(),
              ElementsAre("shader_sampled_image_array_non_uniform_indexing"));
  EXPECT_THAT(wire.required_extensions(), ElementsAre("VK_EXT_descriptor_indexing"));
  EXPECT_EQ(wire.spirv_version(), "1.0");
}

TEST_F(MetadataWriteTest, Compute_HasNoGraphicsState) {
  writer.variant().pipeline = ir::PipelineType::kCompute;
  const Wire wire = Written();
  EXPECT_EQ(wire.pipeline_type(), "compute");
  EXPECT_FALSE(wire.has_settings());
  EXPECT_FALSE(wire.has_fixed_state());
  EXPECT_FALSE(wire.has_blend_constants());
}

TEST_F(MetadataWriteTest, Spans_AreWrittenWithFullDebugInformationOnly) {
  writer.Container(ContainerKind::kState, "s", {{"f2", "uv"}});
  writer.Sampler(ResourceSet::kPass, "linear");
  std::vector<Span> spans(2000, Span{.begin = 7, .end = 9});
  ir::ModuleView view;
  view.spans = spans;
  const std::vector<ModuleFacts> modules = {
      {.semantic_id = HashBytes(AsBytes("one")), .path = "pass.rpl", .view = &view}};
  target::Target target;
  const Wire names = WriteVariant(writer.variant(), target, modules).wire;
  EXPECT_FALSE(names.sets().pass().samplers(0).has_span());
  ASSERT_EQ(names.module_hashes_size(), 1);
  EXPECT_EQ(names.module_hashes(0).size(), 16u);

  target.debug = target::Debug::kFull;
  const auto full = WriteVariant(writer.variant(), target, modules);
  EXPECT_EQ(Text(full.wire.sets().pass().samplers(0).span()),
            "path: \"pass.rpl\" begin: 7 end: 9 ");
  EXPECT_TRUE(full.wire.state(0).has_span());
  EXPECT_EQ(full.wire.layout_hash(), names.layout_hash());
}

// 2^14 leaves in each of 64 buffers would be some 50 MB.
TEST_F(MetadataWriteTest, WhatDoublesInManyBuffers_IsWrittenAsFarAsItMay) {
  constexpr uint64_t kMost = 1 << 20;
  std::string inner = "f1";
  for (int i = 0; i < 14; ++i) {
    const std::string name = "doubled" + std::to_string(i);
    writer.Struct(name, {{inner, "a"}, {inner, "b"}});
    inner = name;
  }
  for (int i = 0; i < 64; ++i) {
    writer.Buffer(BufferKind::kReadOnlyStorage, ResourceSet::kPass, "buffer" + std::to_string(i),
                  {{inner, "root"}});
  }
  const ir::SpecialisedProgram& variant = writer.variant();
  layout::TypeLayouts types(*variant.pool);
  const layout::Layout layout = layout::Assign(variant, {}, types).value.value();
  MetadataWriter metadata({}, types, {}, kMost);
  const Hash128 hash = metadata.LayoutHash(variant, layout);
  EXPECT_EQ(metadata.Write(variant, layout, hash, 0), std::nullopt);
  EXPECT_LT(metadata.bytes_used(), 4 * kMost);
  EXPECT_FALSE(Write(variant, layout, {}, types, {}, 0, {}, kMost).fits);
}

TEST(MetadataWrite, OtherHistoryOfThePool_GivesEqualBytes) {
  WorkedExample fresh({});
  WorkedExample used({.used_pool = true});
  EXPECT_EQ(WriteVariant(fresh.variant()).metadata.bytes,
            WriteVariant(used.variant()).metadata.bytes);
}

}  // namespace
}  // namespace kiln::metadata
