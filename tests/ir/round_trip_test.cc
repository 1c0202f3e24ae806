// SPDX-License-Identifier: MIT
// Properties of the generic form over random modules. A failing seed is printed.
#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "compiler/base/flat_map.h"
#include "compiler/ir/text/parse_generic.h"
#include "compiler/ir/text/print_generic.h"
#include "compiler/ir/verify/verify.h"
#include "tests/support/random_module.h"

namespace kiln::ir {
namespace {

constexpr uint32_t kSeeds = 200;

// Modules of every seed, untyped and typed.
Module ModuleOf(uint32_t seed) { return MakeRandomModule(seed / 2, {.typed = seed % 2 != 0}); }

bool IsTyped(uint32_t seed) { return seed % 2 != 0; }

TEST(RandomModules, EveryKind_Occurs) {
  std::array<std::array<uint32_t, std::size(kInstFacts)>, 2> counts{};
  for (uint32_t seed = 0; seed < kSeeds * 2; ++seed) {
    const Module module = ModuleOf(seed);
    for (const Inst& inst : module.view().insts) {
      ++counts[IsTyped(seed) ? 1 : 0][static_cast<size_t>(inst.kind)];
    }
  }
  for (size_t i = 0; i < std::size(kInstFacts); ++i) {
    const InstFacts& facts = kInstFacts[i];
    EXPECT_EQ(counts[0][i] != 0, Includes(facts.form, Form::kUntyped)) << facts.mnemonic;
    EXPECT_EQ(counts[1][i] != 0, Includes(facts.form, Form::kTypedGeneric)) << facts.mnemonic;
  }
}

TEST(RandomModules, WhatBuilderMakes_Verifies) {
  for (uint32_t seed = 0; seed < kSeeds * 2; ++seed) {
    const Module module = ModuleOf(seed);
    const Result<void> verdict = VerifyIds(module.view());
    ASSERT_TRUE(verdict.ok()) << "seed " << seed << ": " << verdict.error().context;
  }
}

TEST(RandomModules, PrintedAndParsed_PrintTheSame) {
  for (uint32_t seed = 0; seed < kSeeds * 2; ++seed) {
    const std::string text = Print(ModuleOf(seed).view());
    const Result<Module> parsed = ParseModule(text);
    ASSERT_TRUE(parsed.ok()) << "seed " << seed << ": " << parsed.error().context;
    ASSERT_EQ(Print(parsed->view()), text) << "seed " << seed;
  }
}

TEST(RandomModules, SavedAndOpened_AreTheSameRows) {
  for (uint32_t seed = 0; seed < kSeeds * 2; ++seed) {
    const Module module = ModuleOf(seed);
    const Module again = ModuleOf(seed);
    ASSERT_TRUE(std::ranges::equal(module.image(), again.image())) << "seed " << seed;
    const std::vector<std::byte> copy(module.image().begin(), module.image().end());
    const Result<ModuleView> opened = ModuleView::Open(copy, {});
    ASSERT_TRUE(opened.ok()) << "seed " << seed;
    ASSERT_EQ(Print(*opened), Print(module.view())) << "seed " << seed;
  }
}

// Whatever one damaged word does: an image is refused, or it can be walked to the end.
TEST(RandomModules, WithDamagedWords_AreRefusedOrPrint) {
  uint64_t state = 1;
  uint32_t refused = 0;
  for (uint32_t round = 0; round < 2000; ++round) {
    const Module module = ModuleOf(round % 20);
    std::vector<std::byte> image(module.image().begin(), module.image().end());
    state = Mix64(state + round);
    const size_t word = state % (image.size() / 4) * 4;
    const auto value = static_cast<uint32_t>(Mix64(state) % ((round & 1) != 0 ? 64 : UINT32_MAX));
    std::memcpy(image.data() + word, &value, sizeof(value));
    const Result<ModuleView> opened = ModuleView::Open(image, {});
    if (opened.ok() && VerifyIds(*opened).ok()) {
      EXPECT_FALSE(Print(*opened).empty());
    } else {
      ++refused;
    }
  }
  EXPECT_GT(refused, 500u);
}

}  // namespace
}  // namespace kiln::ir
