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
  TypeId Struct(std::vector<TypeId> types) {
    std::vector<ir::ShapeMember> members;
    for (const TypeId type : types) {
      members.push_back({pool_.InternText("m" + std::to_string(members.size())), type});
    }
    return pool_.InternStruct("s" + std::to_string(next_name_++), members);
  }
  TypeId Array(TypeId item, uint32_t count) { return pool_.Intern(ir::ArrayType(item, count)); }
  TypeId F(uint32_t rows) { return pool_.Vector(Scalar::kF32, rows); }

  ir::Pool pool_;
  TypeLayouts layouts_{pool_};
  int next_name_ = 0;
};

TEST_F(Bytes, VectorsAndMatrices_FollowTheTable) {
  EXPECT_EQ(layouts_.Of(F(3), Rules::kStd430).size, 12u);
  EXPECT_EQ(layouts_.Of(F(3), Rules::kStd430).alignment, 16u);
  const TypeId f3x3 = pool_.Matrix(Scalar::kF32, 3, 3);
  EXPECT_EQ(layouts_.Of(f3x3, Rules::kStd430).size, 48u);
  EXPECT_EQ(layouts_.Of(f3x3, Rules::kStd430).matrix_stride, 16u);
}

TEST_F(Bytes, ArraysOfScalars_HaveStride16OnlyInStd140) {
  EXPECT_EQ(layouts_.Of(Array(F(1), 5), Rules::kStd140).stride, 16u);
  EXPECT_EQ(layouts_.Of(Array(F(1), 5), Rules::kStd430).stride, 4u);
  EXPECT_EQ(layouts_.Of(Array(F(3), 2), Rules::kStd430).stride, 16u);
}

TEST_F(Bytes, ScalarBehindVector3_FitsAt12) {
  const TypeLayout& layout = layouts_.Of(Struct({F(3), F(1), F(2)}), Rules::kStd430);
  EXPECT_THAT(layout.offsets, ElementsAre(0u, 12u, 16u));
  EXPECT_EQ(layout.size, 32u);
}

TEST_F(Bytes, NestedStruct_StartsAt16InStd140) {
  const TypeId outer = Struct({F(1), Struct({F(1)})});
  EXPECT_THAT(layouts_.Of(outer, Rules::kStd140).offsets, ElementsAre(0u, 16u));
  EXPECT_THAT(layouts_.Of(outer, Rules::kStd430).offsets, ElementsAre(0u, 4u));
}

TEST_F(Bytes, RuntimeTail_StartsWhereTheMainPartEnds) {
  const TypeId tail = pool_.Intern({ir::TypeKind::kRuntimeArray, {}, 0, 0, F(1).value, 0, 0});
  const TypeLayout& layout = layouts_.Of(Struct({F(3), F(1), F(2), tail}), Rules::kStd430);
  EXPECT_THAT(layout.offsets, ElementsAre(0u, 12u, 16u, 24u));
  EXPECT_EQ(layout.size, 24u);
  EXPECT_TRUE(layout.unsized);
}

}  // namespace
}  // namespace kiln::layout
