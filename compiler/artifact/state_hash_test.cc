// SPDX-License-Identifier: MIT
#include "compiler/artifact/state_hash.h"

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "proto/kiln/v1/metadata.pb.h"

namespace kiln::artifact {
namespace {

using Wire = v1::PipelineMetadata;

Wire Sample() {
  Wire wire;
  wire.set_pipeline_type("graphics_classic");
  wire.add_entry_points()->set_name("main_vertex");
  wire.mutable_settings()->set_cull_mode("back");
  wire.add_attribute_sources()->set_name("mesh");
  wire.mutable_sets()->mutable_material()->add_buffers()->set_name("tint");
  wire.set_push_constant_size(16);
  wire.add_color_outputs()->set_name("color");
  wire.mutable_blend_constants()->set_r(1);
  wire.mutable_fixed_state()->set_topology("triangle_list");
  wire.add_state()->set_name("uv");
  wire.add_option_influence()->set_name("fog");
  wire.add_required_features("shader_float16");
  wire.set_layout_hash(std::string(16, 'l'));
  wire.add_specialization()->set_name("taps");
  wire.add_module_hashes(std::string(16, 'm'));
  wire.add_required_extensions("SPV_EXT_x");
  wire.set_spirv_version("1.3");
  wire.mutable_workgroup_size()->set_x(8);
  wire.mutable_wgsl()->add_features("shader-f16");
  return wire;
}

Hash128 HashOf(const Wire& wire) { return StateHash(AsBytes(wire.SerializeAsString())); }

TEST(StateHash, EveryField_IsOfTheStateOrNot) {
  struct Row {
    const char* field;
    bool is_state;
  };
  const std::vector<Row> rows = {
      {"pipeline_type", true},
      {"entry_points", true},
      {"settings", true},
      {"color_outputs", true},
      {"blend_constants", true},
      {"fixed_state", true},
      {"specialization", true},
      {"workgroup_size", true},
      {"attribute_sources", false},
      {"sets", false},
      {"push_constant_size", false},
      {"push_constant", false},
      {"state", false},
      {"option_influence", false},
      {"required_features", false},
      {"layout_hash", false},
      {"module_hashes", false},
      {"required_extensions", false},
      {"spirv_version", false},
      {"wgsl", false},
  };
  const google::protobuf::Descriptor& message = *Wire::descriptor();
  EXPECT_EQ(static_cast<size_t>(message.field_count()), rows.size());
  for (const Row& row : rows) {
    const google::protobuf::FieldDescriptor* const field = message.FindFieldByName(row.field);
    ASSERT_NE(field, nullptr) << row.field;
    Wire without = Sample();
    without.GetReflection()->ClearField(&without, field);
    const bool was_there = without.ByteSizeLong() != Sample().ByteSizeLong();
    EXPECT_EQ(HashOf(without) != HashOf(Sample()), row.is_state && was_there) << row.field;
    EXPECT_TRUE(was_there || std::string(row.field) == "push_constant") << row.field;
  }
}

TEST(StateHash, ValueInsideOfAField_Matters) {
  Wire other = Sample();
  other.mutable_settings()->set_cull_mode("none");
  EXPECT_NE(HashOf(other), HashOf(Sample()));
  other = Sample();
  other.set_module_hashes(0, std::string(16, 'n'));
  EXPECT_EQ(HashOf(other), HashOf(Sample()));
}

TEST(StateHash, BytesThatAreNoMetadata_AreHashedAsAWhole) {
  const std::string whole = Sample().SerializeAsString();
  for (size_t size = 1; size < whole.size(); ++size) {
    (void)StateHash(AsBytes(whole.substr(0, size)));  // reads nothing behind the end
  }
  const std::string cut = whole.substr(0, whole.size() - 1);
  EXPECT_EQ(StateHash(AsBytes(cut)), HashBytes(AsBytes(cut)));
  const std::string group = "\x0b";
  EXPECT_EQ(StateHash(AsBytes(group)), HashBytes(AsBytes(group)));
  EXPECT_EQ(StateHash({}), Hash128{});
}

}  // namespace
}  // namespace kiln::artifact
