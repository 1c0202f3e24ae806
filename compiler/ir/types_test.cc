// SPDX-License-Identifier: MIT
#include "compiler/ir/types.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ir/enum_names.h"
#include "compiler/ir/text/spelling.h"

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
  for (uint32_t i = 1; i < CountOf<Scalar>(); ++i) {
    const auto scalar = static_cast<Scalar>(i);
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

TEST(Pool, EveryFloatMatrix_HasItsFixedRow) {
  Pool pool;
  for (const Scalar scalar : {Scalar::kF32, Scalar::kF16, Scalar::kF64}) {
    for (uint8_t columns = 2; columns <= 4; ++columns) {
      for (uint8_t rows = 2; rows <= 4; ++rows) {
        EXPECT_EQ(pool[pool.FloatMatrix(scalar, columns, rows)], MatrixType(scalar, columns, rows));
        EXPECT_EQ(pool.FloatMatrix(scalar, columns, rows), pool.Matrix(scalar, columns, rows));
      }
    }
  }
}

TEST(Pool, Members_DifferByTheirFormInMemory) {
  Pool pool;
  const ShapeMember plain{.name = pool.InternText("x"), .type = pool.Vector(Scalar::kF32, 1)};
  ShapeMember placed = plain;
  placed.offset = 0;
  ShapeMember by_row = plain;
  by_row.order = MatrixOrder::kRow;
  ShapeMember strided = plain;
  strided.stride = 16;
  const TypeId type = pool.InternStruct("point_t", std::vector{plain});
  for (const ShapeMember& other : {placed, by_row, strided}) {
    EXPECT_FALSE(type == pool.InternStruct("point_t", std::vector{other}));
  }
}

TEST(Pool, WideConstants_DifferInTheirUpperHalf) {
  Pool pool;
  const TypeId w1 = pool.Vector(Scalar::kU64, 1);
  const ConstId wide = pool.InternWide(w1, 0x1'0000'0002u);
  EXPECT_FALSE(wide == pool.InternWide(w1, 2));
  EXPECT_EQ(pool[wide].bits(), 0x1'0000'0002u);
}

TEST(LeafText, EveryLeafOfTypedModules_ComesBack) {
  for (const std::string_view text : {"d2",
                                      "l1",
                                      "w3",
                                      "i4",
                                      "v1",
                                      "d4x3",
                                      "u2x2",
                                      "image(1d) f1",
                                      "image(2d array ms) u1",
                                      "image(buffer storage r32_uint) u1",
                                      "image(2d ms depth) f1",
                                      "image(cube unknown) f1",
                                      "image(1d storage rg8_snorm) f1",
                                      "image(subpass) s1",
                                      "sampled image_color_2d",
                                      "sampled image(1d array) f1",
                                      "accel",
                                      "ray_query",
                                      "storage_image_2d<rgb10a2_uint>",
                                      "storage_image_3d<r64_sint>"}) {
    const std::optional<Type> type = ParseLeaf(text);
    ASSERT_TRUE(type.has_value()) << text;
    EXPECT_EQ(LeafText(*type), text);
  }
}

TEST(LeafText, WhatIsNoLeaf_IsNothing) {
  for (const std::string_view text :
       {"image()", "image(2d) f2", "image(4d) f1", "image(2d mystery) f1", "image(2d storage) f1",
        "image(2d storage no_format) f1", "sampled", "sampled f4", "sampled sampler",
        "sampled sampled image_color_2d", "image(2d f1", "x1", "d5", "image_color_1d",
        "storage_image_buffer<r32_uint>"}) {
    EXPECT_FALSE(ParseLeaf(text).has_value()) << text;
  }
}

TEST(ScalarText, EveryScalar_ComesBackAtItsEnds) {
  const struct {
    Scalar scalar;
    uint64_t bits;
    std::string_view text;
  } rows[] = {
      {Scalar::kF64, 0x3ff8000000000000u, "1.5"},
      {Scalar::kF64, 0x8000000000000000u, "-0.0"},
      {Scalar::kF64, 0x7ff8000000000001u, "0x7ff8000000000001"},
      {Scalar::kS64, 0x8000000000000000u, "-9223372036854775808"},
      {Scalar::kU64, 0xffffffffffffffffu, "18446744073709551615"},
      {Scalar::kS16, 0x8000u, "-32768"},
      {Scalar::kU16, 0xffffu, "65535"},
      {Scalar::kF16, 0x3c00u, "0x00003c00"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(ScalarText(row.scalar, row.bits), row.text);
    EXPECT_EQ(ParseBits(row.scalar, row.text), row.bits) << row.text;
  }
  EXPECT_FALSE(ParseBits(Scalar::kU16, "65536").has_value());
  EXPECT_FALSE(ParseBits(Scalar::kS16, "-32769").has_value());
  EXPECT_FALSE(ParseBits(Scalar::kU32, "0x100000000").has_value());
  EXPECT_FALSE(ParseScalar(Scalar::kU64, "4294967296").has_value());
}

TEST(PackImage, EveryTrait_ComesBack) {
  for (uint32_t dim = 0; dim < CountOf<ImageDim>(); ++dim) {
    for (uint32_t bits = 0; bits < 32; ++bits) {
      const ImageTraits traits{.dim = static_cast<ImageDim>(dim),
                               .arrayed = (bits & 1) != 0,
                               .depth = (bits & 2) != 0,
                               .storage = (bits & 4) != 0,
                               .format = ImageFormat::kR64Uint,
                               .unknown_depth = (bits & 8) != 0,
                               .multisampled = (bits & 16) != 0};
      EXPECT_EQ(UnpackImage(PackImage(traits)), traits);
    }
  }
}

}  // namespace
}  // namespace kiln::ir
