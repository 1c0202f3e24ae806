// SPDX-License-Identifier: MIT
// Guaranteed properties of byte layouts over random blocks: P15 to P18 of layout.md 15.
#include <gtest/gtest.h>

#include "compiler/layout/ir_types.h"
#include "tests/layout/random_blocks.h"

namespace kiln::layout {
namespace {

constexpr uint32_t kBlocks = 2000;
constexpr Rules kAllRules[] = {Rules::kStd140, Rules::kStd430, Rules::kScalar, Rules::kC,
                               Rules::kD3dCbuffer};

class BytesProperty : public testing::Test {
 protected:
  template <class Check>
  void ForAllTypes(Check check) {
    RandomBlocks random(pool_, 7);
    for (uint32_t i = 0; i < kBlocks; ++i) {
      random.Block(i);
    }
    const uint32_t count = pool_.type_count();
    int checked = 0;
    for (uint32_t row = 0; row < count; ++row) {
      const ir::TypeKind kind = pool_[ir::TypeId{row}].kind;
      if (kind != ir::TypeKind::kVoid) {
        check(ir::TypeId{row});
        ++checked;
      }
      if (HasFatalFailure() || HasNonfatalFailure()) {
        FAIL() << ir::TypeText(pool_, ir::TypeId{row});
      }
    }
    EXPECT_GT(checked, static_cast<int>(kBlocks));
  }
  bool IsStruct(ir::TypeId type) const { return pool_[type].kind == ir::TypeKind::kStruct; }

  ir::Pool pool_;
  TypeLayouts types_{pool_};
};

TEST_F(BytesProperty, P15_MembersAreAlignedAndDisjoint) {
  ForAllTypes([this](ir::TypeId type) {
    if (!IsStruct(type)) {
      return;
    }
    for (const Rules rules : kAllRules) {
      const TypeLayout& layout = types_.Of(type, rules);
      const auto members = pool_.Members(type);
      uint64_t end = 0;
      for (size_t i = 0; i < members.size(); ++i) {
        const TypeLayout& member = types_.Of(members[i].type, rules);
        EXPECT_EQ(layout.offsets[i] % member.alignment, 0u);
        EXPECT_GE(layout.offsets[i], end);
        end = layout.offsets[i] + member.size;
        const bool vector = pool_[members[i].type].kind == ir::TypeKind::kVector;
        if (rules == Rules::kD3dCbuffer && vector) {
          EXPECT_EQ(layout.offsets[i] / 16, (end - 1) / 16);
        }
      }
      EXPECT_GE(layout.size, end);
    }
  });
}

TEST_F(BytesProperty, P16_StridesHoldTheirItems) {
  ForAllTypes([this](ir::TypeId type) {
    if (pool_[type].kind != ir::TypeKind::kArray) {
      return;
    }
    for (const Rules rules : kAllRules) {
      const TypeLayout& layout = types_.Of(type, rules);
      const TypeLayout& item = types_.Of(ir::TypeId{pool_[type].element}, rules);
      EXPECT_GE(layout.stride, item.size);
      EXPECT_EQ(layout.stride % item.alignment, 0u);
      if (rules == Rules::kStd140 || rules == Rules::kD3dCbuffer) {
        EXPECT_EQ(layout.stride % 16, 0u);
      }
    }
  });
}

TEST_F(BytesProperty, P17_TighterRulesNeverNeedMore) {
  constexpr std::pair<Rules, Rules> kTighter[] = {{Rules::kScalar, Rules::kC},
                                                  {Rules::kC, Rules::kStd430},
                                                  {Rules::kStd430, Rules::kStd140},
                                                  {Rules::kScalar, Rules::kD3dCbuffer},
                                                  {Rules::kD3dCbuffer, Rules::kStd140}};
  ForAllTypes([&](ir::TypeId type) {
    for (const auto& [tight, wide] : kTighter) {
      const TypeLayout& a = types_.Of(type, tight);
      const TypeLayout& b = types_.Of(type, wide);
      EXPECT_LE(a.size, b.size) << TraitsOf(tight).name << " " << TraitsOf(wide).name;
      for (size_t i = 0; i < a.offsets.size(); ++i) {
        EXPECT_LE(a.offsets[i], b.offsets[i]) << TraitsOf(tight).name << " " << TraitsOf(wide).name;
      }
    }
  });
}

TEST_F(BytesProperty, P18_AWrappedStructKeepsItsSize) {
  ForAllTypes([this](ir::TypeId type) {
    if (!IsStruct(type)) {
      return;
    }
    const std::vector<ir::ShapeMember> only = {{pool_.InternText("only"), type}};
    const ir::TypeId wrapped = pool_.InternStruct("wrapped", only);
    for (const Rules rules : kAllRules) {
      EXPECT_EQ(types_.Of(wrapped, rules).size, types_.Of(type, rules).size)
          << TraitsOf(rules).name;
    }
  });
}

}  // namespace
}  // namespace kiln::layout
