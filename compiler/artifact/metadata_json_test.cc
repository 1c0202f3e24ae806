// SPDX-License-Identifier: MIT
#include "compiler/artifact/metadata_json.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/kiln/v1/metadata.pb.h"

namespace kiln::artifact {
namespace {

using ::testing::HasSubstr;

std::string Sample() {
  v1::PipelineMetadata wire;
  wire.set_pipeline_type("graphics_classic");
  wire.mutable_settings()->set_depth_compare_operation("greater_or_equal");
  wire.add_color_outputs()->set_write_r(true);
  return wire.SerializeAsString();
}

TEST(MetadataJson, Members_AreLowerCamelCaseWithDefaultsPrinted) {
  const auto json = MetadataJson(AsBytes(Sample()));
  ASSERT_TRUE(json.ok());
  EXPECT_THAT(*json, HasSubstr("\"pipelineType\": \"graphics_classic\""));
  EXPECT_THAT(*json, HasSubstr("\"depthCompareOperation\": \"greater_or_equal\""));
  EXPECT_THAT(*json, HasSubstr("\"depthBoundsTest\": false"));
  EXPECT_THAT(*json, HasSubstr("\"pushConstantSize\": 0"));
  EXPECT_THAT(*json, HasSubstr("\"writeA\": false"));
  EXPECT_THAT(*json, HasSubstr("\"requiredFeatures\": []"));
}

TEST(MetadataJson, ReadBack_IsTheSameMetadata) {
  const std::string bytes = Sample();
  const auto read = MetadataFromJson(*MetadataJson(AsBytes(bytes)));
  ASSERT_TRUE(read.ok()) << ErrorText(read.error());
  EXPECT_EQ(AsText(*read), bytes);
  EXPECT_EQ(MetadataFromJson("{\"pipelineType\": 7").error().reason, "METADATA_INVALID");
  EXPECT_TRUE(MetadataFromJson("{\"tomorrow\": 1}").ok());
}

TEST(MetadataJson, WhatIsNoMessage_HasNone) {
  EXPECT_EQ(MetadataJson(AsBytes("\xff")).error().reason, "METADATA_INVALID");
  EXPECT_EQ(MetadataJson(Bytes(size_t{5} << 20)).error().reason, "LIMIT");
}

}  // namespace
}  // namespace kiln::artifact
