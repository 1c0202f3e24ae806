// SPDX-License-Identifier: MIT
#include "server/compile/rows/option_rows.h"

#include <gtest/gtest.h>

namespace kiln::compile {
namespace {

using Settings = std::vector<resolve::OptionSetting>;

resolve::OptionSetting Number(const std::string& name, ir::OptionKind kind, uint32_t bits) {
  return {.name = name, .scope = {}, .kind = kind, .bits = bits, .text = {}};
}

resolve::OptionSetting Word(const std::string& name, const std::string& text) {
  return {.name = name, .scope = {}, .kind = ir::OptionKind::kEnum, .bits = 0, .text = text};
}

TEST(OptionRows, EveryList_ComesBackAsItWas) {
  resolve::OptionSetting scoped = Number("fog", ir::OptionKind::kFlag, 1);
  scoped.scope = ir::OptionScope::kGlobal;
  resolve::OptionSetting odd = Word("tone", "warm");
  odd.bits = 7;  // nobody asks for it, and nobody may lose it
  const std::vector<Settings> lists = {
      {},
      {Number("fog", ir::OptionKind::kFlag, 1), Word("tone", "warm")},
      {Number("fog", ir::OptionKind::kFlag, 0), Word("tone", "cold")},
      {Number("fog", ir::OptionKind::kFlag, 0), Word("tone", "")},
      {scoped, odd},
      {Word("tone", "warm"), Number("fog", ir::OptionKind::kFlag, 1)},
      {Number("bias", ir::OptionKind::kFloat, 0x80000000U)},
      {Number("bias", ir::OptionKind::kSint, 0xFFFFFFFFU)},
      {Number("fog", ir::OptionKind::kFlag, 1), Word("tone", "warm")},
      {},
  };
  OptionRows rows;
  for (const Settings& list : lists) {
    rows.Add(list);
  }
  rows.Shrink();
  ASSERT_EQ(rows.size(), lists.size());
  for (size_t i = 0; i < lists.size(); ++i) {
    EXPECT_EQ(rows.At(i), lists[i]) << i;
  }
}

TEST(OptionRows, ListsOfOneShape_TakeFewBytesEach) {
  OptionRows rows;
  rows.Add(Settings{Number("fog", ir::OptionKind::kFlag, 0), Word("tone", "warm")});
  resolve::OptionSetting cold = Word("tone", "cold");
  cold.bits = 1;
  rows.Add(Settings{Number("fog", ir::OptionKind::kFlag, 0), cold});
  const uint64_t first = rows.bytes();
  for (uint32_t i = 0; i < 1000; ++i) {
    resolve::OptionSetting tone = Word("tone", i % 3 == 0 ? "warm" : "cold");
    tone.bits = i % 3 == 0 ? 0 : 1;
    rows.Add(Settings{Number("fog", ir::OptionKind::kFlag, i % 2), tone});
  }
  EXPECT_EQ(rows.bytes() - first, 1000U * 16U);
}

TEST(OptionRows, ListsOfOtherOptionsEach_AreChargedWithTheirNames) {
  OptionRows rows;
  for (uint32_t i = 0; i < 100; ++i) {
    rows.Add(
        Settings{Number(std::string(1000, 'x') + std::to_string(i), ir::OptionKind::kFlag, 1)});
  }
  EXPECT_GT(rows.bytes(), 100U * 1000U);
}

}  // namespace
}  // namespace kiln::compile
