// SPDX-License-Identifier: MIT
#include "compiler/artifact/metadata.h"

#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "compiler/artifact/metadata_text.h"
#include "proto/kiln/v1/metadata.pb.h"

namespace kiln::artifact {
namespace {

using Wire = v1::PipelineMetadata;

constexpr const char* kSettings = R"pb(
  settings {
    polygon_mode: "fill"
    cull_mode: "none"
    depth_test: true
    depth_write: true
    depth_compare_operation: "greater_or_equal"
    depth_max: 1
    stencil_front_on_fail: "keep"
    stencil_front_on_depth_fail: "keep"
    stencil_front_on_pass: "zero"
    stencil_front_compare: "never"
    stencil_back_on_fail: "keep"
    stencil_back_on_depth_fail: "keep"
    stencil_back_on_pass: "keep"
    stencil_back_compare: "always"
    stencil_back_compare_mask: 255
  }
  fixed_state {
    topology: "triangle_list"
    line_width: 1
    dynamic_state: "viewport"
    dynamic_state: "scissor"
    front_face: "clockwise"
    viewport_y: "up"
    sample_count: 1
  }
)pb";

// The worked example of the language: one vertex and one instance source, three sets' worth of
// resources, one output.
constexpr const char* kLeaf = R"pb(
  pipeline_type: "graphics_classic"
  spirv_version: "1.3"
  entry_points { stage: "vertex" name: "leaf_vertex" }
  entry_points { stage: "fragment" name: "leaf_fragment" }
  layout_hash: "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"
  attribute_sources {
    name: "leaf"
    rate: "vertex"
    binding: 0
    block_size: 20
    attributes { name: "position" class: "vector3" item_format: "float32" location_count: 1 }
    attributes {
      name: "normal_sway"
      location: 1
      offset: 12
      class: "vector4"
      item_format: "snorm8"
      location_count: 1
    }
  }
  attribute_sources {
    name: "plant"
    rate: "instance"
    binding: 1
    block_size: 68
    attributes {
      name: "world_from_leaf"
      location: 3
      class: "matrix4x4"
      item_format: "float32"
      tags: "hidden"
      tags: "world_transform"
      location_count: 4
      column_stride: 16
    }
  }
  sets {
    material {
      buffers {
        name: "wind"
        binding: 0
        type: "uniform"
        main_size: 144
        stages: "vertex"
        main_parameters {
          name: "clock"
          type: "f4"
          offset: 128
          total_item_count: 1
          tags: "animated"
        }
      }
      samplers { name: "leaf_sampler" binding: 1 stages: "fragment" }
      images {
        name: "leaf_albedo"
        binding: 2
        type: "image_color_2d"
        image_array_size: 1
        stages: "fragment"
      }
    }
    shared {
      buffers {
        name: "trail"
        binding: 0
        type: "read_only_storage"
        main_size: 24
        tail_item_size: 4
        tail_offset: 24
        tail_field: "lengths"
        tail_type: "f1"
        main_parameters { name: "origin" type: "f3" total_item_count: 1 }
      }
    }
  }
  color_outputs {
    name: "radiance"
    item: "float"
    components_count: 4
    write_r: true
    write_g: true
    write_b: true
    source_color_blend_factor: "one"
    destination_color_blend_factor: "zero"
    color_blend_operation: "add"
    source_alpha_blend_factor: "one"
    destination_alpha_blend_factor: "zero"
    alpha_blend_operation: "max"
  }
  state { container: "surface" name: "uv" type: "f2" written: true read: true }
  option_influence {
    name: "gust_count"
    class: "global"
    value: "2u"
    affects: "layout"
    affects: "code"
  }
)pb";

Wire FromText(const std::string& text) {
  Wire wire;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &wire)) << text;
  return wire;
}

Result<PipelineMetadata> Decode(const Wire& wire) {
  return DecodeMetadata(AsBytes(wire.SerializeAsString()));
}

Wire Leaf() { return FromText(std::string(kSettings) + kLeaf); }

TEST(MetadataText, WorkedExample_PrintsOneFactPerLine) {
  const auto metadata = Decode(Leaf());
  ASSERT_TRUE(metadata.ok()) << ErrorText(metadata.error());
  EXPECT_EQ(MetadataText(*metadata), R"(pipeline graphics_classic
spirv 1.3
entry vertex leaf_vertex
entry fragment leaf_fragment
layout_hash 000102030405060708090a0b0c0d0e0f
settings
  polygon_mode fill
  cull_mode none
  depth test=true write=true compare=greater_or_equal
  depth_bounds test=false 0 to 1
  stencil test=false
  stencil_front fail=keep depth_fail=keep pass=zero compare=never masks=0x00/0x00 reference=0
  stencil_back fail=keep depth_fail=keep pass=keep compare=always masks=0xff/0x00 reference=0
  blend_constants 0 0 0 0
fixed_state
  topology triangle_list restart=false
  rasterizer clamp=false discard=false bias=false line_width=1
  front_face clockwise
  viewport_y up
  samples 1 shading=false alpha_to_coverage=false alpha_to_one=false logic_op=false
  dynamic viewport scissor
source leaf rate=vertex binding=0 block_size=20
  attribute position location=0 offset=0 vector3 float32
  attribute normal_sway location=1 offset=12 vector4 snorm8
source plant rate=instance binding=1 block_size=68
  attribute world_from_leaf location=3 offset=0 matrix4x4 float32 locations=4 column_stride=16 tags={hidden, world_transform}
set material
  buffer wind binding=0 uniform main_size=144 stages={vertex}
    parameter clock f4 offset=128 tags={animated}
  sampler leaf_sampler binding=1 stages={fragment}
  image leaf_albedo binding=2 image_color_2d stages={fragment}
set shared
  buffer trail binding=0 read_only_storage main_size=24
    parameter origin f3 offset=0
    tail lengths f1 offset=24 item_size=4
color_output radiance location=0 float components=4 write=rgb- blend=false
  color one add zero
  alpha one max zero
state surface.uv f2 location=0 written read
option global gust_count = 2u affects={layout, code}
)");
}

TEST(DecodeMetadata, ComputePipeline_NeedsNoGraphicsRows) {
  const auto metadata = Decode(FromText(R"pb(
    pipeline_type: "compute"
    entry_points { stage: "compute" name: "main" }
    workgroup_size { x: 8 y: 4 z: 1 }
    specialization { name: "taps" id: 3 type: "uint" default: 4 value: 9 }
  )pb"));
  ASSERT_TRUE(metadata.ok()) << ErrorText(metadata.error());
  EXPECT_EQ(metadata->workgroup_size, (std::array<uint32_t, 3>{8, 4, 1}));
  ASSERT_EQ(metadata->specialization.size(), 1U);
  EXPECT_EQ(metadata->specialization[0].default_bits, 4U);
  EXPECT_EQ(metadata->specialization[0].value_bits, 9U);
}

TEST(DecodeMetadata, UnknownFields_AreIgnored) {
  std::string bytes = Leaf().SerializeAsString();
  bytes +=
      "\xfa\x3f\x03"
      "new";  // field 1023, length-delimited
  EXPECT_TRUE(DecodeMetadata(AsBytes(bytes)).ok());
}

struct WrongCase {
  const char* name;
  void (*edit)(Wire&);
  const char* error;
};
void PrintTo(const WrongCase& item, std::ostream* out) { *out << item.name; }

class WrongMetadata : public ::testing::TestWithParam<WrongCase> {};

TEST_P(WrongMetadata, Edit_IsReportedByName) {
  Wire wire = Leaf();
  GetParam().edit(wire);
  const auto metadata = Decode(wire);
  ASSERT_FALSE(metadata.ok());
  EXPECT_EQ(ErrorText(metadata.error()), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Edits, WrongMetadata,
    ::testing::Values(
        WrongCase{"NoPipelineType", [](Wire& wire) { wire.clear_pipeline_type(); },
                  "INVALID_ARGUMENT (METADATA_INCOMPLETE): metadata has no pipeline_type"},
        WrongCase{"NoSettings", [](Wire& wire) { wire.clear_settings(); },
                  "INVALID_ARGUMENT (METADATA_INCOMPLETE): metadata has no settings"},
        WrongCase{"NoFixedState", [](Wire& wire) { wire.clear_fixed_state(); },
                  "INVALID_ARGUMENT (METADATA_INCOMPLETE): metadata has no fixed_state"},
        WrongCase{"NoCullMode", [](Wire& wire) { wire.mutable_settings()->clear_cull_mode(); },
                  "INVALID_ARGUMENT (METADATA_INCOMPLETE): settings has no cull_mode"},
        WrongCase{
            "WrongCompare",
            [](Wire& wire) { wire.mutable_settings()->set_depth_compare_operation("lesser"); },
            "INVALID_ARGUMENT (METADATA_INVALID): depth_compare_operation of settings is 'lesser', "
            "which is not known"},
        WrongCase{"WrongClass",
                  [](Wire& wire) {
                    wire.mutable_attribute_sources(0)->mutable_attributes(1)->set_class_("vector5");
                  },
                  "INVALID_ARGUMENT (METADATA_INVALID): class of attribute 'normal_sway' is "
                  "'vector5', which is not known"},
        WrongCase{"WrongLocationCount",
                  [](Wire& wire) {
                    wire.mutable_attribute_sources(1)->mutable_attributes(0)->set_location_count(3);
                  },
                  "INVALID_ARGUMENT (METADATA_INVALID): attribute 'world_from_leaf' takes 3 "
                  "locations, its class takes 4"},
        WrongCase{
            "ImageArrayOfNone",
            [](Wire& wire) {
              wire.mutable_sets()->mutable_material()->mutable_images(0)->set_image_array_size(0);
            },
            "INVALID_ARGUMENT (METADATA_INVALID): image_array_size of image 'leaf_albedo' is "
            "0, it must be 1 to 65536"},
        WrongCase{
            "UnknownImage",
            [](Wire& wire) {
              wire.mutable_sets()->mutable_material()->mutable_images(0)->set_type(
                  "image_color_4d");
            },
            "INVALID_ARGUMENT (METADATA_INVALID): type of image 'leaf_albedo' is 'image_color_4d', "
            "which is not known"},
        WrongCase{
            "UnknownItem",
            [](Wire& wire) {
              wire.mutable_sets()->mutable_material()->mutable_images(0)->set_item("double");
            },
            "INVALID_ARGUMENT (METADATA_INVALID): item of image 'leaf_albedo' is 'double', which "
            "is not known"},
        WrongCase{
            "SamplerOfAStorageImage",
            [](Wire& wire) {
              v1::PipelineMetadata::Image& image =
                  *wire.mutable_sets()->mutable_material()->mutable_images(0);
              image.set_type("storage_image_2d");
              image.set_sampler("smooth");
            },
            "INVALID_ARGUMENT (METADATA_INVALID): image 'leaf_albedo' is a storage_image_2d and "
            "has sampler 'smooth'"},
        WrongCase{
            "TooManyBuffers",
            [](Wire& wire) {
              wire.mutable_sets()->mutable_material()->mutable_buffers(0)->set_array_size(65'537);
            },
            "INVALID_ARGUMENT (METADATA_INVALID): array_size of buffer 'wind' is 65537, it must be "
            "at most 65536"},
        WrongCase{"TooManySamplers",
                  [](Wire& wire) {
                    wire.mutable_sets()->mutable_material()->mutable_samplers(0)->set_array_size(
                        65'537);
                  },
                  "INVALID_ARGUMENT (METADATA_INVALID): array_size of sampler 'leaf_sampler' is "
                  "65537, it "
                  "must be at most 65536"},
        WrongCase{"FiveComponents",
                  [](Wire& wire) { wire.mutable_color_outputs(0)->set_components_count(5); },
                  "INVALID_ARGUMENT (METADATA_INVALID): components_count of color output "
                  "'radiance' is 5, it must be 1 to 4"},
        WrongCase{"LocationOfNoDevice",
                  [](Wire& wire) { wire.mutable_color_outputs(0)->set_location(32); },
                  "INVALID_ARGUMENT (METADATA_INVALID): location of color output 'radiance' is "
                  "32, it must be below 32"},
        WrongCase{"ShortHash", [](Wire& wire) { wire.set_layout_hash("abc"); },
                  "INVALID_ARGUMENT (METADATA_INVALID): layout_hash has 3 bytes instead of 16"},
        WrongCase{"TooManyTags",
                  [](Wire& wire) {
                    for (int i = 0; i <= 65'536; ++i) {
                      wire.mutable_color_outputs(0)->add_tags("");
                    }
                  },
                  "RESOURCE_EXHAUSTED (LIMIT): metadata has 65537 tags, at most 65536 are read"}),
    [](const auto& info) { return info.param.name; });

// Every type of images is read back as it was written, arrays with their count and texels with
// their item.
TEST(DecodeMetadata, TypesArraysAndItems_AreRead) {
  for (const std::string_view name : NamesOf<ImageType>()) {
    Wire wire = Leaf();
    v1::PipelineMetadata::Set& set = *wire.mutable_sets()->mutable_material();
    set.mutable_images(0)->set_type(std::string(name));
    set.mutable_images(0)->set_item("sint");
    set.mutable_buffers(0)->set_array_size(3);
    set.mutable_samplers(0)->set_array_size(65'536);
    const auto metadata = DecodeMetadata(AsBytes(wire.SerializeAsString()));
    ASSERT_TRUE(metadata.ok()) << ErrorText(metadata.error());
    const Set& read = metadata->sets[1];
    EXPECT_EQ(NameOf(read.images[0].type), name);
    EXPECT_EQ(read.images[0].item, OutputItem::kSint);
    EXPECT_EQ(read.buffers[0].array_size, 3u);
    EXPECT_EQ(read.samplers[0].array_size, 65'536u);
    const std::string text = MetadataText(*metadata);
    EXPECT_THAT(text, ::testing::HasSubstr(" " + std::string(name) + " sint stages={fragment}"));
    EXPECT_THAT(text, ::testing::HasSubstr("buffer wind binding=0 uniform [3] main_size=144"));
    EXPECT_THAT(text, ::testing::HasSubstr("sampler leaf_sampler binding=1 [65536] stages"));
  }
}

TEST(DecodeMetadata, CombinedSampler_IsPartOfItsImage) {
  Wire wire = Leaf();
  v1::PipelineMetadata::Image& image = *wire.mutable_sets()->mutable_material()->mutable_images(0);
  image.set_sampler("smooth");
  image.set_comparison(true);
  const auto metadata = DecodeMetadata(AsBytes(wire.SerializeAsString()));
  ASSERT_TRUE(metadata.ok()) << ErrorText(metadata.error());
  EXPECT_EQ(metadata->sets[1].images[0].sampler, "smooth");
  EXPECT_TRUE(metadata->sets[1].images[0].comparison);
  EXPECT_THAT(MetadataText(*metadata),
              ::testing::HasSubstr("image_color_2d sampler=smooth comparison stages={fragment}"));
}

TEST(DecodeMetadata, CutAnywhere_NeverCrashesAndNeverEqualsTheWhole) {
  const std::string whole = Leaf().SerializeAsString();
  const std::string text = MetadataText(*DecodeMetadata(AsBytes(whole)));
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto metadata = DecodeMetadata(AsBytes(std::string_view(whole).substr(0, size)));
    EXPECT_TRUE(!metadata.ok() || MetadataText(*metadata) != text) << size;
  }
}

TEST(DecodeMetadata, EveryByteFlipped_NeverCrashes) {
  const std::string whole = Leaf().SerializeAsString();
  size_t refused = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
    const auto metadata = DecodeMetadata(AsBytes(damaged));
    refused += metadata.ok() ? 0 : 1;
  }
  EXPECT_GT(refused, whole.size() / 4);
}

TEST(DecodeMetadata, FiveMebibytes_AreRefusedUnread) {
  const auto metadata = DecodeMetadata(Bytes(size_t{5} << 20));
  ASSERT_FALSE(metadata.ok());
  EXPECT_EQ(metadata.error().reason, "LIMIT");
}

}  // namespace
}  // namespace kiln::artifact
