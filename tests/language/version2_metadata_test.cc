// SPDX-License-Identifier: MIT
// What version 2 adds to metadata. See spec/rpl 14.6, 14.7, 14.9
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/language/source_rows.h"

namespace kiln::language {
namespace {

bool Has(const std::vector<std::string>& list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

TEST(Version2Metadata, Compute_HasASizeAndNoGraphics) {
  const Built built = Build(
      "setting workgroup_size_x = 8u; setting workgroup_size_y = 4u;\n"
      "set_pass read_write_storage_buffer rw { u1 count; u1... items; };\n"
      "set_pass storage_image_2d format (rgba8_unorm) write_only si;\n"
      "workgroup f1[4] tile;\n"
      "void c (void) { tile[0u] = 1.0; rw.count = 1u; "
      "image_store (si, u2 {0u}, f4 {tile[1u]}); }",
      "compute:c");
  ASSERT_EQ(built.codes, "");
  const artifact::PipelineMetadata& metadata = *built.metadata;
  EXPECT_EQ(metadata.workgroup_size, (std::array<uint32_t, 3>{8, 4, 1}));
  EXPECT_NE(built.text.find("LocalSize 8 4 1"), std::string::npos);
  EXPECT_TRUE(metadata.attribute_sources.empty());
  EXPECT_TRUE(metadata.color_outputs.empty());
  ASSERT_EQ(metadata.sets[0].buffers.size(), 1u);
  EXPECT_EQ(metadata.sets[0].images.size(), 1u);
  EXPECT_EQ(metadata.sets[0].images[0].binding, 1u);
  EXPECT_TRUE(metadata.required_features.empty());
}

TEST(Version2Metadata, StoresInGraphics_AreFeatures) {
  const char* const source =
      "set_pass read_write_storage_buffer rw { u1 count; };\n"
      "void v (void) { vertex_stage_output_position (f4 {0.0}); rw.count = 1u; }\n"
      "void f (void) { u1 x = atomic_add (rw.count, 1u); }\n";
  const Built both = Build(source, "vertex:v fragment:f");
  EXPECT_EQ(both.codes, "");
  EXPECT_TRUE(Has(both.metadata->required_features, "fragment_stores_and_atomics"));
  EXPECT_TRUE(Has(both.metadata->required_features, "vertex_pipeline_stores_and_atomics"));
  EXPECT_FALSE(
      Has(Build(source, "vertex:v").metadata->required_features, "fragment_stores_and_atomics"));
}

TEST(Version2Metadata, SpecialisedOptions_ShareCode) {
  const char* const source =
      "instance specialize taps: uint 4; instance specialize fast: flag true;\n"
      "void v (void) { vertex_stage_output_position (f4 {f1 {taps}}); }\n";
  const Built usual = Build(source, "vertex:v");
  const Built other =
      Build(source, "vertex:v", target::Environment::kVulkan11, "taps=9 fast=false");
  EXPECT_EQ(usual.text, other.text);
  ASSERT_EQ(other.metadata->specialization.size(), 2u);
  EXPECT_EQ(other.metadata->specialization[0].name, "taps");
  EXPECT_EQ(other.metadata->specialization[0].default_bits, 4u);
  EXPECT_EQ(other.metadata->specialization[0].value_bits, 9u);
  EXPECT_EQ(other.metadata->specialization[1].id, 1u);
  EXPECT_EQ(other.metadata->specialization[1].value_bits, 0u);
  ASSERT_EQ(other.metadata->option_influence.size(), 2u);
  EXPECT_TRUE(Has(other.metadata->option_influence[0].affects, "specialization"));
}

}  // namespace
}  // namespace kiln::language
