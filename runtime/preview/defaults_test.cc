// SPDX-License-Identifier: MIT
#include "runtime/preview/defaults.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "runtime/preview/contact_sheet.h"

namespace kiln::preview {
namespace {

using artifact::Parameter;
using artifact::ParameterType;

std::vector<float> Floats(const Bytes& bytes) {
  std::vector<float> out(bytes.size() / 4);
  std::memcpy(out.data(), bytes.data(), out.size() * 4);
  return out;
}

struct Filled {
  std::vector<float> values;
  std::string rule;
};
Filled Fill(const Parameter& parameter, uint32_t size, const SetValues& set = {}) {
  std::vector<Match> matches;
  std::vector<std::string> used;
  const auto bytes = FillDefaults("block", std::span(&parameter, 1), size,
                                  MakeView("sphere", 1, false, 30), set, matches, used);
  EXPECT_TRUE(bytes.ok()) << ErrorText(bytes.error());
  return {Floats(*bytes), matches.at(0).rule};
}

TEST(PreviewDefaults, Parameters_GoByTagThenNameThenType) {
  struct Row {
    Parameter parameter;
    const char* rule;
    std::vector<float> values;
  };
  const std::vector<float> clip_w_row = {0, 0, -1, 3};  // of P · V: w = 3 − z
  for (const Row& row : std::vector<Row>{
           {{.name = "a", .type = ParameterType::kF4, .tags = {"camera_position"}},
            "tag camera_position",
            {0, 0, 3, 1}},
           {{.name = "scene.Eye", .type = ParameterType::kF3}, "name eye", {0, 0, 3}},
           {{.name = "clock", .type = ParameterType::kF1}, "name clock", {0.5F}},
           {{.name = "gain", .type = ParameterType::kF2}, "other float", {1, 1}},
       }) {
    const Filled filled = Fill(row.parameter, static_cast<uint32_t>(row.values.size() * 4));
    EXPECT_EQ(filled.rule, row.rule);
    EXPECT_EQ(filled.values, row.values) << row.rule;
  }
  const Filled clip = Fill(
      {.name = "m", .type = ParameterType::kF4x4, .tags = {"clip_transform"}, .matrix_stride = 16},
      64);
  EXPECT_EQ(clip.rule, "tag clip_transform");
  for (size_t column = 0; column < 4; ++column) {
    EXPECT_EQ(clip.values[column * 4 + 3], clip_w_row[column]);
  }
  const Filled world =
      Fill({.name = "world", .type = ParameterType::kF4x4, .matrix_stride = 16}, 64);
  EXPECT_EQ(world.rule, "name world");
  EXPECT_EQ(world.values[0], 1.0F);
}

// An unlit shader that mixes two colours shows both.
TEST(PreviewDefaults, Colours_AreTheirNamesAndOpaque) {
  const Filled shallow = Fill({.name = "shallow", .type = ParameterType::kF4}, 16);
  const Filled deep = Fill({.name = "deep", .type = ParameterType::kF4}, 16);
  EXPECT_EQ(shallow.rule, "colour of the name");
  EXPECT_NE(shallow.values, deep.values);
  for (const Filled& one : {shallow, deep}) {
    EXPECT_EQ(one.values[3], 1.0F);
    EXPECT_GT(*std::max_element(one.values.begin(), one.values.begin() + 3),
              *std::min_element(one.values.begin(), one.values.begin() + 3) + 0.3F);
  }
  EXPECT_EQ(Fill({.name = "water.Shallow", .type = ParameterType::kF3}, 12).values,
            std::vector<float>(shallow.values.begin(), shallow.values.begin() + 3));
}

TEST(PreviewDefaults, VectorsThatAreNoColours_AreOnes) {
  const std::vector<float> ones(4, 1.0F);
  EXPECT_EQ(Fill({.name = "fog.range", .type = ParameterType::kF4}, 16).values, ones);
  EXPECT_EQ(Fill({.name = "deep", .type = ParameterType::kF4, .tags = {"depth_curve"}}, 16).values,
            ones);
}

TEST(PreviewDefaults, Set_WinsAndMustFit) {
  const Parameter parameter{.name = "tint", .type = ParameterType::kF3, .tags = {"base_color"}};
  EXPECT_EQ(Fill(parameter, 12, {{"base_color", {1, 2, 3}}}).values, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(Fill(parameter, 12, {{"block.tint", {4, 5, 6}}}).rule, "set");
  std::vector<Match> matches;
  std::vector<std::string> used;
  const auto wrong = FillDefaults("block", std::span(&parameter, 1), 12,
                                  MakeView("sphere", 1, false, 0), {{"tint", {1}}}, matches, used);
  EXPECT_EQ(ErrorText(wrong.error()), "INVALID_ARGUMENT (USAGE): 'tint' is f3, 3 values, not 1");
}

TEST(PreviewDefaults, Depth_IsNearAtZeroUnlessReversed) {
  for (const bool reversed : {false, true}) {
    const Matrix p = MakeView("quad", 1, reversed, 0).projection;
    const auto depth = [&](float z) { return (p[10] * z + p[14]) / -z; };
    EXPECT_NEAR(depth(-0.1F), reversed ? 1 : 0, 1e-5);
    EXPECT_NEAR(depth(-10.0F), reversed ? 0 : 1, 1e-5);
  }
}

TEST(PreviewDefaults, Attributes_GoByTagNameOrAsPosition) {
  artifact::AttributeSource source{
      .name = "mesh",
      .block_size = 36,
      .attributes = {
          {.name = "where", .offset = 0, .kind = artifact::AttributeClass::kVector3},
          {.name = "texcoord0", .offset = 12, .kind = artifact::AttributeClass::kVector2},
          {.name = "n",
           .offset = 20,
           .kind = artifact::AttributeClass::kVector3,
           .tags = {"normal"}},
          {.name = "paint_color", .offset = 32, .kind = artifact::AttributeClass::kVector1}}};
  const auto shape = MakeShape("quad", Winding::kCounterClockwise);
  ASSERT_TRUE(shape.ok());
  std::vector<Match> matches;
  const auto bytes = PackDefaults(source, *shape, MakeView("quad", 1, false, 0), matches);
  ASSERT_TRUE(bytes.ok()) << ErrorText(bytes.error());
  EXPECT_EQ(matches[0].rule, "first of three components");
  EXPECT_EQ(matches[1].rule, "name texcoord0");
  EXPECT_EQ(matches[2].rule, "tag normal");
  const std::vector<float> values = Floats(*bytes);
  ASSERT_EQ(values.size(), 4U * 9);
  EXPECT_EQ((std::vector<float>(values.begin(), values.begin() + 8)),
            (std::vector<float>{-1, -1, 0, 0, 1, 0, 0, 1}));
}

TEST(PreviewShape, EveryTriangle_FacesOutwards) {
  for (const char* const name : {"quad", "cube", "sphere"}) {
    for (const Winding winding : {Winding::kClockwise, Winding::kCounterClockwise}) {
      const auto shape = MakeShape(name, winding);
      ASSERT_TRUE(shape.ok());
      for (size_t i = 0; i < shape->indices.size(); i += 3) {
        const auto& a = shape->vertices[shape->indices[i]];
        const auto& b = shape->vertices[shape->indices[i + 1]];
        const auto& c = shape->vertices[shape->indices[i + 2]];
        double dot = 0;  // of the face's own normal and the vertex normals
        for (size_t k = 0; k < 3; ++k) {
          const size_t m = (k + 1) % 3;
          const size_t n = (k + 2) % 3;
          const double cross = (b.position[m] - a.position[m]) * (c.position[n] - a.position[n]) -
                               (b.position[n] - a.position[n]) * (c.position[m] - a.position[m]);
          dot += cross * (a.normal[k] + b.normal[k] + c.normal[k]);
        }
        if (std::abs(dot) > 1e-6) {  // at the poles a triangle has no area
          EXPECT_EQ(dot > 0, winding == Winding::kCounterClockwise) << name << " " << i;
        }
      }
    }
  }
  EXPECT_EQ(MakeShape("teapot", Winding::kClockwise).error().context,
            "there is no mesh 'teapot'; there are quad, cube, sphere and FILE.obj");
}

TEST(ContactSheet, CellsLieInRowsAndMissingOnesAreCrossed) {
  Picture white{8, 8, std::vector<uint8_t>(size_t{8} * 8 * 4, 255)};
  const std::vector<std::vector<SheetCell>> rows = {{{white, "a=1"}, {std::nullopt, "a=2"}},
                                                    {{white, ""}}};
  const Picture sheet = MakeContactSheet(rows, 8, 8);
  EXPECT_EQ(sheet.width, 2U * 12 + 4);
  EXPECT_EQ(sheet.height, 2U * 24 + 4);
  const auto at = [&](uint32_t x, uint32_t y) {
    return sheet.rgba[(size_t{y} * sheet.width + x) * 4];
  };
  EXPECT_EQ(at(4, 4), 255);
  EXPECT_EQ(at(11, 11), 255);
  EXPECT_EQ(at(16, 4), 120);  // a corner of the cross
  EXPECT_EQ(at(17, 4), 24);
  EXPECT_EQ(at(4, 28), 255);
  EXPECT_EQ(at(16, 28), 24);  // no cell
}

TEST(ContactSheet, Text_IsDrawnAndCutAtTheEdge) {
  Picture picture{12, 8, std::vector<uint8_t>(size_t{12} * 8 * 4, 0)};
  DrawText(picture, 0, 0, "i-i");
  uint32_t lit = 0;
  for (size_t i = 0; i < picture.rgba.size(); i += 4) {
    lit += picture.rgba[i] != 0 ? 1 : 0;
  }
  EXPECT_EQ(lit, 11U + 3);  // the third letter is outside
}

TEST(Closest, NearNames_AreFound) {
  const std::vector<std::string> names = {"material.tint", "view.eye"};
  EXPECT_EQ(Closest("material.tnit", names), "material.tint");
  EXPECT_EQ(Closest("zzz", names), "");
}

}  // namespace
}  // namespace kiln::preview
