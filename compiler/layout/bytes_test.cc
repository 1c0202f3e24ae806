// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/layout/ir_types.h"

namespace kiln::layout {
namespace {

using ir::Scalar;
using ir::TypeId;
using testing::ElementsAre;

class Bytes : public testing::Test {
 protected:
  TypeId Struct(const std::vector<TypeId>& types) {
    std::vector<ir::ShapeMember> members;
    members.reserve(types.size());
    for (const TypeId type : types) {
      members.push_back({pool.InternText("m" + std::to_string(members.size())), type});
    }
    return pool.InternStruct("s" + std::to_string(next_name++), members);
  }
  TypeId Array(TypeId item, uint32_t count) { return pool.Intern(ir::ArrayType(item, count)); }
  TypeId F(uint32_t rows) { return pool.Vector(Scalar::kF32, rows); }

  ir::Pool pool;
  TypeLayouts layouts{pool};
  int next_name = 0;
};

TEST_F(Bytes, VectorsAndMatrices_FollowTheTable) {
  EXPECT_EQ(layouts.Of(F(3), Rules::kStd430).size, 12u);
  EXPECT_EQ(layouts.Of(F(3), Rules::kStd430).alignment, 16u);
  const TypeId f3x3 = pool.Matrix(Scalar::kF32, 3, 3);
  EXPECT_EQ(layouts.Of(f3x3, Rules::kStd430).size, 48u);
  EXPECT_EQ(layouts.Of(f3x3, Rules::kStd430).matrix_stride, 16u);
}

TEST_F(Bytes, ArraysOfScalars_HaveStride16OnlyInStd140) {
  EXPECT_EQ(layouts.Of(Array(F(1), 5), Rules::kStd140).stride, 16u);
  EXPECT_EQ(layouts.Of(Array(F(1), 5), Rules::kStd430).stride, 4u);
  EXPECT_EQ(layouts.Of(Array(F(3), 2), Rules::kStd430).stride, 16u);
}

TEST_F(Bytes, ScalarBehindVector3_FitsAt12) {
  const TypeLayout& layout = layouts.Of(Struct({F(3), F(1), F(2)}), Rules::kStd430);
  EXPECT_THAT(layout.offsets, ElementsAre(0u, 12u, 16u));
  EXPECT_EQ(layout.size, 32u);
}

TEST_F(Bytes, NestedStruct_StartsAt16InStd140) {
  const TypeId outer = Struct({F(1), Struct({F(1)})});
  EXPECT_THAT(layouts.Of(outer, Rules::kStd140).offsets, ElementsAre(0u, 16u));
  EXPECT_THAT(layouts.Of(outer, Rules::kStd430).offsets, ElementsAre(0u, 4u));
}

TEST_F(Bytes, RuntimeTail_StartsWhereTheMainPartEnds) {
  const TypeId tail = pool.Intern({ir::TypeKind::kRuntimeArray, {}, 0, 0, F(1).value, 0, 0});
  const TypeLayout& layout = layouts.Of(Struct({F(3), F(1), F(2), tail}), Rules::kStd430);
  EXPECT_THAT(layout.offsets, ElementsAre(0u, 12u, 16u, 24u));
  EXPECT_EQ(layout.size, 24u);
  EXPECT_TRUE(layout.unsized);
}

}  // namespace
}  // namespace kiln::layout
