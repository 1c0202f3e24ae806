// SPDX-License-Identifier: MIT
// Previews on lavapipe with the validation layer silent.
#include "runtime/preview/preview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/pipeline/sample_metadata.h"
#include "runtime/pipeline/sample_shaders.h"

namespace kiln::preview {
namespace {

class PreviewTest : public ::testing::Test {
 protected:
  PreviewTest() {
    auto created = runtime::Device::Create(
        {.prefer = "software", .validation = true, .messages = [this](const vk::Message& message) {
           messages.push_back(message.text);
         }});
    EXPECT_TRUE(created.ok()) << ErrorText(created.error());
    device.emplace(std::move(created).value());
    metadata = runtime::SampleMetadata();
    metadata.sets[1].buffers[0].main_parameters = {
        {.name = "tint", .type = artifact::ParameterType::kF4, .tags = {"base_color"}}};
    metadata.push_constant = {.name = "push",
                              .members = {{.name = "add", .type = artifact::ParameterType::kF4}}};
  }
  ~PreviewTest() override {
    device.reset();
    EXPECT_THAT(messages, ::testing::IsEmpty());
  }

  Result<Preview> Draw(const PreviewRequest& request) {
    const std::vector<uint32_t> vertex = runtime::Assemble(runtime::kSampleVertex);
    const std::vector<uint32_t> fragment = runtime::Assemble(runtime::kSampleFragment);
    const runtime::ModuleWords modules[] = {{artifact::Stage::kVertex, vertex},
                                            {artifact::Stage::kFragment, fragment}};
    return Render(*device, "sample", metadata, modules, request);
  }
  static std::array<int, 3> Pixel(const Picture& picture, uint32_t x, uint32_t y) {
    const uint8_t* const at = &picture.rgba[(size_t{y} * picture.width + x) * 4];
    return {at[0], at[1], at[2]};
  }

  std::vector<std::string> messages;
  std::optional<runtime::Device> device;
  artifact::PipelineMetadata metadata;
};

TEST_F(PreviewTest, EveryMesh_CoversTheMiddleAndNotTheCorners) {
  for (const char* const mesh : {"sphere", "quad", "cube"}) {
    const auto drawn = Draw({.mesh = mesh, .size = {64, 64}, .set = {{"push.add", {0, 0, 0, 0}}}});
    ASSERT_TRUE(drawn.ok()) << ErrorText(drawn.error());
    EXPECT_EQ(Pixel(drawn->picture, 0, 0), (std::array<int, 3>{26, 26, 26})) << mesh;
    EXPECT_NE(Pixel(drawn->picture, 32, 32), (std::array<int, 3>{26, 26, 26})) << mesh;
    // A sphere of radius 0.8 in the distance 3, seen through 45°: a fifth to a third of a square.
    EXPECT_GT(drawn->covered, 64U * 64 / 6) << mesh;
    EXPECT_LT(drawn->covered, 64U * 64 * 3 / 4) << mesh;
    EXPECT_FALSE(drawn->key.zero());
  }
}

// color 1 × tint × layers[1] + add: the middle of the tinted checker is light or dark.
TEST_F(PreviewTest, SetValues_AreInThePicture) {
  const auto drawn = Draw({.mesh = "quad",
                           .size = {32, 32},
                           .set = {{"base_color", {0, 0, 0, 0}}, {"add", {0.2, 0.4, 0.6, 1}}}});
  ASSERT_TRUE(drawn.ok()) << ErrorText(drawn.error());
  EXPECT_EQ(Pixel(drawn->picture, 16, 16), (std::array<int, 3>{51, 102, 153}));
}

TEST_F(PreviewTest, Matches_NameTheirRule) {
  const auto drawn = Draw({.size = {16, 16}});
  ASSERT_TRUE(drawn.ok()) << ErrorText(drawn.error());
  const auto rule = [](const std::vector<Match>& matches, std::string_view name) {
    for (const Match& match : matches) {
      if (match.name == name) {
        return match.rule;
      }
    }
    return std::string("none");
  };
  EXPECT_EQ(rule(drawn->attributes, "mesh.position"), "tag position");
  EXPECT_EQ(rule(drawn->attributes, "placement.world_from_mesh"), "other matrix");
  EXPECT_EQ(rule(drawn->parameters, "view.clip_from_world"), "tag clip_transform");
  EXPECT_EQ(rule(drawn->parameters, "push.add"), "colour of the name");
}

// A warm-up draw leaves nothing behind.
TEST_F(PreviewTest, WarmedUp_HasTheSamePixels) {
  const auto cold = Draw({.size = {32, 32}});
  const auto warm = Draw({.size = {32, 32}, .warm_up = true});
  ASSERT_TRUE(cold.ok() && warm.ok());
  EXPECT_EQ(warm->picture.rgba, cold->picture.rgba);
  EXPECT_EQ(warm->key, cold->key);
}

TEST_F(PreviewTest, Report_TellsFormatsAndWhatIsOdd) {
  const auto plain = Draw({.size = {16, 16}});
  ASSERT_TRUE(plain.ok()) << ErrorText(plain.error());
  EXPECT_EQ(plain->signature, runtime::DefaultSignature(metadata));
  EXPECT_THAT(plain->lints, ::testing::IsEmpty());
  metadata.color_outputs[0].components_count = 3;
  const auto odd = Draw({.size = {16, 16}});
  ASSERT_TRUE(odd.ok()) << ErrorText(odd.error());
  EXPECT_THAT(odd->lints, ::testing::ElementsAre(::testing::HasSubstr("'a' of attachment 0")));
}

// Metadata that does not fit the words is found before the driver is.
TEST_F(PreviewTest, MetadataLacksAnAttribute_IsTheError) {
  metadata.attribute_sources[0].attributes.pop_back();
  EXPECT_EQ(Draw({.size = {16, 16}}).error().reason, "METADATA_INVALID");
}

TEST_F(PreviewTest, WrongNames_AreErrorsWithTheClosest) {
  EXPECT_EQ(Draw({.size = {16, 16}, .set = {{"material.tnt", {1, 1, 1, 1}}}}).error().context,
            "there is no parameter 'material.tnt'; is it 'material.tint'?");
  EXPECT_EQ(Draw({.size = {16, 16}, .set = {{"tnt", {1, 1, 1, 1}}}}).error().context,
            "there is no parameter 'tnt'; is it 'tint'?");
  PreviewRequest request{.size = {16, 16}};
  request.images["layer"] = {1, 1, {0, 0, 0, 0}};
  EXPECT_EQ(Draw(request).error().context, "there is no image 'layer'; is it 'layers'?");
  EXPECT_EQ(Draw({.mesh = "teapot", .size = {16, 16}}).error().reason, "USAGE");
}

TEST_F(PreviewTest, DeviceCannot_IsTheError) {
  metadata.settings.depth_bounds_test = true;
  EXPECT_EQ(Draw({.size = {16, 16}}).error().reason, "UNSUPPORTED");
}

TEST_F(PreviewTest, ReversedDepth_IsClearedToZero) {
  metadata.settings.depth_compare_operation = artifact::CompareOperation::kGreater;
  const auto drawn = Draw({.size = {32, 32}});
  ASSERT_TRUE(drawn.ok()) << ErrorText(drawn.error());
  EXPECT_GT(drawn->covered, 0U);
}

}  // namespace
}  // namespace kiln::preview
