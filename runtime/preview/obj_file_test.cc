// SPDX-License-Identifier: MIT
#include "runtime/preview/obj_file.h"

#include <cmath>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/base/test_directory.h"

namespace kiln::preview {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;

// A square in the plane z = 5, side 2, seen counter-clockwise from +z.
constexpr const char* kSquare = R"(# a comment
mtllib none.mtl
o square
v 1 1 5
v 3 1 5
v 3 3 5
v 1 3 5
vt 0 0
vt 1 0
vt 1 1
vt 0 1
vn 0 0 2
usemtl some
f 1/1/1 2/2/1 3/3/1 4/4/1
)";

TEST(ReadObj, Square_IsCentredScaledAndSplit) {
  const auto shape = ReadObj(kSquare);
  ASSERT_TRUE(shape.ok()) << ErrorText(shape.error());
  EXPECT_THAT(shape->indices, ElementsAre(0, 1, 2, 0, 2, 3));
  ASSERT_EQ(shape->vertices.size(), 4U);
  const float side = 0.8F / std::sqrt(2.0F);
  EXPECT_THAT(shape->vertices[0].position,
              ElementsAre(FloatNear(-side, 1e-6F), FloatNear(-side, 1e-6F), 0));
  EXPECT_THAT(shape->vertices[2].position,
              ElementsAre(FloatNear(side, 1e-6F), FloatNear(side, 1e-6F), 0));
  EXPECT_THAT(shape->vertices[0].normal, ElementsAre(0, 0, 1));
  EXPECT_THAT(shape->vertices[0].uv, ElementsAre(0, 1)) << "from the upper left";
  EXPECT_THAT(shape->vertices[0].tangent, ElementsAre(1, 0, 0, 1));
}

TEST(ReadObj, SameAsTheBuiltInQuad_ButForItsSize) {
  const auto shape = ReadObj(kSquare);
  const auto quad = MakeShape("quad", Winding::kCounterClockwise);
  ASSERT_TRUE(shape.ok() && quad.ok());
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(shape->vertices[i].uv, quad->vertices[i].uv) << i;
    EXPECT_EQ(shape->vertices[i].tangent, quad->vertices[i].tangent) << i;
    EXPECT_EQ(shape->vertices[i].normal, quad->vertices[i].normal) << i;
  }
  EXPECT_EQ(shape->indices, quad->indices);
}

TEST(ReadObj, FacesWithoutNormals_HaveTheirOwn) {
  const auto shape = ReadObj("v 0 0 0\nv 0 1 0\nv 0 0 1\nf -3 -2 -1\r\n");
  ASSERT_TRUE(shape.ok()) << ErrorText(shape.error());
  for (const Vertex& vertex : shape->vertices) {
    EXPECT_THAT(vertex.normal, ElementsAre(1, 0, 0));
    EXPECT_FLOAT_EQ(vertex.tangent[0], 0);
  }
}

TEST(ReadObj, TableOfWrongFiles) {
  struct Row {
    const char* text;
    const char* said;
  };
  for (const Row& row : {Row{"", "no face"},
                         {"v 0 0 0\n", "no face"},
                         {"v 0 0\n", "line 1: a number"},
                         {"v 0 0 x\n", "line 1: a number"},
                         {"v 0 0 inf\n", "line 1: a number"},
                         {"v 0 0 0\nf 1 1\n", "line 2: a face has three"},
                         {"v 0 0 0\nf 1 1 2\n", "line 2: a corner"},
                         {"v 0 0 0\nf 1 1 0\n", "line 2: a corner"},
                         {"v 0 0 0\nf 1 1 -2\n", "line 2: a corner"},
                         {"v 0 0 0\nf 1 1 1/1\n", "line 2: a corner"},
                         {"v 0 0 0\nf 1 1 1//1\n", "line 2: a corner"},
                         {"v 0 0 0\nf 1 1 1/x\n", "line 2: a corner"},
                         {"v 0 0 0\nf 1 1 99999999999999999999\n", "line 2: a corner"}}) {
    const auto shape = ReadObj(row.text);
    ASSERT_FALSE(shape.ok()) << row.text;
    EXPECT_THAT(shape.error().context, HasSubstr(row.said)) << row.text;
  }
}

TEST(ReadObj, EverythingInOnePlace_IsNoTrouble) {
  const auto shape = ReadObj("v 1 2 3\nf 1 1 1\n");
  ASSERT_TRUE(shape.ok());
  for (const Vertex& vertex : shape->vertices) {
    EXPECT_THAT(vertex.position, ElementsAre(0, 0, 0));
    EXPECT_THAT(vertex.normal, ElementsAre(0, 0, 1));
  }
}

TEST(MakeShape, FileName_IsRead) {
  const TestDirectory folder;
  const std::string path = (folder.path() / "square.obj").string();
  std::ofstream(path) << kSquare;
  const auto shape = MakeShape(path, Winding::kClockwise);
  ASSERT_TRUE(shape.ok()) << ErrorText(shape.error());
  EXPECT_THAT(shape->indices, ElementsAre(0, 2, 1, 0, 3, 2));
  const auto none = MakeShape((folder.path() / "none.obj").string(), Winding::kClockwise);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  std::ofstream(path) << "v 1\n";
  const auto wrong = MakeShape(path, Winding::kClockwise);
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().context, HasSubstr("square.obj: line 1"));
}

}  // namespace
}  // namespace kiln::preview
