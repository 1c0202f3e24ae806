// SPDX-License-Identifier: MIT
#include "compiler/ir/types.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kiln::ir {
namespace {

using testing::ElementsAre;

TEST(Pool, EqualTypes_EqualIds) {
  Pool pool;
  const TypeId f3 = pool.Vector(Scalar::kF32, 3);
  EXPECT_EQ(f3, pool.Intern(VectorType(Scalar::kF32, 3)));
  EXPECT_EQ(pool.Intern(ArrayType(f3, 4)), pool.Intern(ArrayType(f3, 4)));
  EXPECT_FALSE(pool.Intern(ArrayType(f3, 4)) == pool.Intern(ArrayType(f3, 5)));
}

TEST(Pool, EveryVector_HasItsFixedRow) {
  Pool pool;
  for (const Scalar scalar :
       {Scalar::kF32, Scalar::kU32, Scalar::kS32, Scalar::kBool, Scalar::kF16}) {
    for (uint8_t rows = 1; rows <= 4; ++rows) {
      EXPECT_EQ(pool[pool.Vector(scalar, rows)], VectorType(scalar, rows));
    }
  }
  EXPECT_EQ(pool[pool.void_type()].kind, TypeKind::kVoid);
}

TEST(Pool, Structs_AreNameAndMembers) {
  Pool pool;
  const ShapeMember x{pool.InternText("x"), pool.Vector(Scalar::kF32, 1)};
  const ShapeMember y{pool.InternText("y"), pool.Vector(Scalar::kF32, 1)};
  const TypeId xy = pool.InternStruct("point_t", std::vector{x, y});
  EXPECT_EQ(xy, pool.InternStruct("point_t", std::vector{x, y}));
  EXPECT_FALSE(xy == pool.InternStruct("other_t", std::vector{x, y}));
  EXPECT_FALSE(xy == pool.InternStruct("point_t", std::vector{y, x}));
  EXPECT_FALSE(xy == pool.InternStruct("point_t", std::vector{x}));
  EXPECT_THAT(pool.Members(xy), ElementsAre(x, y));
}

TEST(Pool, Constants_AreTypeAndBits) {
  Pool pool;
  const TypeId f1 = pool.Vector(Scalar::kF32, 1);
  const TypeId f2 = pool.Vector(Scalar::kF32, 2);
  const ConstId zero = pool.InternScalar(f1, 0);
  const ConstId minus_zero = pool.InternScalar(f1, 0x80000000u);
  EXPECT_EQ(zero, pool.InternScalar(f1, 0));
  EXPECT_FALSE(zero == minus_zero);
  EXPECT_FALSE(zero == pool.InternScalar(pool.Vector(Scalar::kU32, 1), 0));
  const ConstId both = pool.InternComposite(f2, std::vector{zero, minus_zero});
  EXPECT_EQ(both, pool.InternComposite(f2, std::vector{zero, minus_zero}));
  EXPECT_FALSE(both == pool.InternComposite(f2, std::vector{minus_zero, zero}));
  EXPECT_THAT(pool.Parts(both), ElementsAre(zero, minus_zero));
}

TEST(TypeText, EveryKind_SpelledAsInRpl) {
  Pool pool;
  const TypeId f4 = pool.Vector(Scalar::kF32, 4);
  const TypeId array = pool.Intern(ArrayType(f4, 3));
  const TypeId image = pool.Intern({.kind = TypeKind::kImage,
                                    .scalar = Scalar::kF32,
                                    .extent = PackImage({.arrayed = true, .depth = true})});
  const TypeId storage =
      pool.Intern({.kind = TypeKind::kImage,
                   .scalar = Scalar::kF32,
                   .extent = PackImage({.storage = true, .format = ImageFormat::kRgba8Unorm})});
  const struct {
    TypeId type;
    std::string text;
  } rows[] = {
      {pool.void_type(), "void"},
      {pool.bool_type(), "bool"},
      {pool.Vector(Scalar::kBool, 2), "b2"},
      {pool.Vector(Scalar::kU32, 1), "u1"},
      {pool.Vector(Scalar::kS32, 2), "s2"},
      {pool.Vector(Scalar::kF16, 3), "h3"},
      {f4, "f4"},
      {pool.Matrix(Scalar::kF32, 3, 3), "f3x3"},
      {array, "f4[3]"},
      {pool.Intern(ArrayType(array, 2)), "f4[2][3]"},
      {pool.Intern({.kind = TypeKind::kRuntimeArray, .element = array.value}), "f4[3]..."},
      {pool.InternStruct("gust_t", {}), "gust_t"},
      {pool.Intern({.kind = TypeKind::kSampler}), "sampler"},
      {image, "image_depth_2d_array"},
      {pool.Intern(ArrayType(image, 4)), "image_depth_2d_array[4]"},
      {storage, "storage_image_2d<rgba8_unorm>"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(TypeText(pool, row.type), row.text);
  }
}

TEST(PackImage, EveryTrait_ComesBack) {
  for (const ImageDim dim : {ImageDim::k2d, ImageDim::k3d, ImageDim::kCube}) {
    for (uint32_t bits = 0; bits < 8; ++bits) {
      const ImageTraits traits{.dim = dim,
                               .arrayed = (bits & 1) != 0,
                               .depth = (bits & 2) != 0,
                               .storage = (bits & 4) != 0,
                               .format = ImageFormat::kR32Uint};
      EXPECT_EQ(UnpackImage(PackImage(traits)), traits);
    }
  }
}

}  // namespace
}  // namespace kiln::ir
