// SPDX-License-Identifier: MIT
// Appendix A of spec/rpl: traps that show in the words or in the metadata.
#include "tests/oracle/traps.h"

namespace kiln::oracle {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

size_t Count(std::string_view text, std::string_view what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

TEST_F(RplTraps, Layer_ConvertsFromUnsigned) {
  const std::string code = Code(
      "set_pass sampler s;\nset_pass image_color_2d_array layers;\n"
      "state_container given { u1 layer; };\ncolor_output_container target { f4 color; };\n"
      "void main (void) { target.color = sample (s, layers, given.layer, f2 { 0.5 }); }",
      "fragment:main");
  EXPECT_THAT(code, HasSubstr("OpConvertUToF"));
  EXPECT_THAT(code, Not(HasSubstr("OpConvertSToF")));
}

// One helper that samples, reached from both stages.
TEST_F(RplTraps, SamplingHelper_IsImplicitInFragmentAndExplicitInVertex) {
  const BuiltVariant variant(
      {.sources = {"set_pass sampler s;\nset_pass image_color_2d albedo;\n"
                   "state_container passed { f4 color; };\n"
                   "color_output_container target { f4 color; };\n"
                   "f4 read (in f2 uv) { return sample (s, albedo, uv); }\n"
                   "void vertex_main (void) { passed.color = read (f2 { 0.5 }); "
                   "vertex_stage_output_position (f4 { 0.0 }); }\n"
                   "void fragment_main (void) { target.color = read (passed.color.xy); }"},
       .entries = {"vertex:vertex_main", "fragment:fragment_main"}});
  ASSERT_TRUE(variant.ok()) << variant.messages();
  const std::string vertex = variant.Disassembly(ir::Stage::kVertex);
  const std::string fragment = variant.Disassembly(ir::Stage::kFragment);
  EXPECT_THAT(vertex, HasSubstr("OpImageSampleExplicitLod"));
  EXPECT_THAT(vertex, Not(HasSubstr("OpImageSampleImplicitLod")));
  EXPECT_THAT(fragment, HasSubstr("OpImageSampleImplicitLod"));
  EXPECT_THAT(fragment, Not(HasSubstr("OpImageSampleExplicitLod")));
}

TEST_F(RplTraps, NonUniformIndex_DecoratesImageAndSampledImage) {
  const std::string source =
      "set_pass sampler s;\nset_pass image_color_2d[4] images;\n"
      "state_container given { u1 which; };\ncolor_output_container target { f4 color; };\n"
      "void main (void) { target.color = sample (s, images[given.which], f2 { 0.5 }); }";
  const BuiltVariant variant({.sources = {source}, .entries = {"fragment:main"}});
  ASSERT_TRUE(variant.ok()) << variant.messages();
  const std::string code = variant.Disassembly(ir::Stage::kFragment);
  EXPECT_THAT(code, HasSubstr("OpCapability ShaderNonUniform\n"));
  EXPECT_THAT(code, HasSubstr("OpCapability SampledImageArrayNonUniformIndexing\n"));
  EXPECT_THAT(code, HasSubstr("OpExtension \"SPV_EXT_descriptor_indexing\""));
  EXPECT_EQ(Count(code, " NonUniform\n"), 4U);  // index, access chain, image, sampled image
  EXPECT_THAT(variant.metadata().required_features,
              ::testing::ElementsAre("shader_sampled_image_array_non_uniform_indexing"));
}

TEST_F(RplTraps, ConstantIndexOfImages_IsUniform) {
  EXPECT_THAT(Code("instance which: uint 2;\nset_pass sampler s;\n"
                   "set_pass image_color_2d[4] images;\n"
                   "color_output_container target { f4 color; };\n"
                   "void main (void) { target.color = sample (s, images[which], f2 { 0.5 }); }",
                   "fragment:main"),
              Not(HasSubstr("NonUniform")));
}

TEST_F(RplTraps, StorageBuffer_IsNonWritableInEveryStage) {
  const BuiltVariant variant(
      {.sources = {"set_pass read_only_storage_buffer list { f4 first; f4... items; };\n"
                   "color_output_container target { f4 color; };\n"
                   "void vertex_main (void) { vertex_stage_output_position (list.items[0]); }\n"
                   "void fragment_main (void) { target.color = list.first; }"},
       .entries = {"vertex:vertex_main", "fragment:fragment_main"}});
  ASSERT_TRUE(variant.ok()) << variant.messages();
  for (const ir::Stage stage : {ir::Stage::kVertex, ir::Stage::kFragment}) {
    EXPECT_EQ(Count(variant.Disassembly(stage), " NonWritable\n"), 3U);  // variable, two members
  }
}

TEST_F(RplTraps, FunctionControl_IsNoneAlways) {
  const std::string code = Code(
      "color_output_container target { f4 color; };\n"
      "f1 pure (in f1 x) { return x * 2.0; }\n"
      "void set (out f1 x) { x = 1.0; }\n"
      "void stop (in f1 x) { if (x > 1.0) { fragment_stage_discard (); } }\n"
      "void main (void) { f1 a = pure (1.0); set (a); stop (a); target.color = f4 { a }; }",
      "fragment:main");
  EXPECT_EQ(Count(code, "OpFunction "), 4U);
  EXPECT_EQ(Count(code, " None "), 4U);
}

TEST_F(RplTraps, StorageLayout_IsStd430) {
  const BuiltVariant variant(
      {.sources = {"struct pair_t { f2 a; f3 b; };\n"
                   "set_pass read_only_storage_buffer list\n"
                   "{ f1 lead; f3[2] points; pair_t pair; f3x3 turn; f1 last; f1... tail; };"}});
  ASSERT_TRUE(variant.ok()) << variant.messages();
  const artifact::Buffer& buffer = variant.metadata().sets[0].buffers[0];
  std::string text;
  for (const artifact::Parameter& row : buffer.main_parameters) {
    text += row.name + " " + std::to_string(row.offset) + " " + std::to_string(row.array_stride) +
            " " + std::to_string(row.matrix_stride) + "\n";
  }
  EXPECT_EQ(text,
            "lead 0 0 0\n"
            "points 16 16 0\n"
            "pair.a 48 0 0\n"
            "pair.b 64 0 0\n"
            "turn 80 0 16\n"
            "last 128 0 0\n");
  EXPECT_EQ(buffer.tail_offset, 132U);  // right behind a scalar
  EXPECT_EQ(buffer.main_size, 132U);
  EXPECT_EQ(buffer.tail_item_size, 4U);
}

// A vector behind a 3-vector fits at +12, but an array item does not.
TEST_F(RplTraps, StorageTail_AfterAScalar_IsAlignedAsItsItem) {
  const BuiltVariant variant(
      {.sources = {"set_shared read_only_storage_buffer trail { f3 origin; f1 age; f2 wind; "
                   "f1... lengths; };\n"
                   "set_shared read_only_storage_buffer path { f1 age; f3... points; };"}});
  ASSERT_TRUE(variant.ok()) << variant.messages();
  const artifact::Set& set = variant.metadata().sets[3];
  EXPECT_EQ(set.buffers[0].tail_offset, 24U);
  EXPECT_EQ(set.buffers[0].main_size, 24U);
  EXPECT_EQ(set.buffers[1].tail_offset, 16U);
  EXPECT_EQ(set.buffers[1].tail_item_size, 16U);
}

}  // namespace
}  // namespace kiln::oracle
