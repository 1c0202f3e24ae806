// SPDX-License-Identifier: MIT
// The test vectors of spec/cache 2.6, and what must and must not change a key.
#include "cache/key.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/base/bytes.h"
#include "compiler/base/check.h"

namespace kiln::cache {
namespace {

// Bytes first, first + 1, …
Hash128 Counting(uint8_t first) {
  Hash128 id;
  std::iota(id.bytes.begin(), id.bytes.end(), first);
  return id;
}

const Hash128 kFingerprint = Counting(0x00);
const Hash128 kLimits = Counting(0x10);
const Hash128 kSemanticId = Counting(0x20);
constexpr std::string_view kSource = "void main_vertex (void) {}\n";

Hash128 ModuleVector() {
  return ModuleKey({.language = "rpl",
                    .source = DigestOf(kSource),
                    .front_end = kFingerprint,
                    .limits = kLimits});
}

constexpr std::array<TextPair, 4> kTarget = {{
    {"version", "1.3"},  // in another order than the key has them
    {"env", "vulkan1.1"},
    {"form", "spirv"},
    {"debug", "names"},
}};

Hash128 ProgramVector() {
  return ProgramId({.modules = std::span(&kSemanticId, 1),
                    .pipeline = "graphics_classic",
                    .target = kTarget,
                    .back_end = kFingerprint,
                    .limits = kLimits});
}

Hash128 EntryVector() {
  const EntryPointName entry{.stage = "vertex", .function = "main_vertex"};
  return EntryId(ProgramVector(), std::span(&entry, 1));
}

Hash128 VariantVector() {
  const std::array<OptionSetting, 5> options = {{
      {"bias", TypedValue::Float(0.5f)},
      {"fog", TypedValue::Flag(true)},
      {"lights", TypedValue::Uint(4)},
      {"offset", TypedValue::Sint(-3)},
      {"quality", TypedValue::Text("high")},
  }};
  return VariantKey(EntryVector(), options);
}

Hash128 LiveVector() {
  const std::array<OptionSetting, 2> options = {{
      {"fog", TypedValue::Flag(true)},
      {"quality", TypedValue::Text("high")},
  }};
  return LiveKey(EntryVector(), options);
}

Hash128 SignatureVector() {
  const std::array<ConditionValue, 2> answers = {{
      {0, 3, TypedValue::Flag(true)},
      {0, 7, TypedValue::Flag(false)},
  }};
  return SignatureKey(EntryVector(), answers);
}

Hash128 RecipeVector() {
  return RecipeKey(DigestOf(kSource), "opt;level=O;val=after", kFingerprint);
}

struct Vector {
  std::string_view name;
  Hash128 id;
  std::string_view expected;
};

TEST(Key, TestVectorsOfTheSpecification_GiveTheirIds) {
  const std::array<Vector, 10> vectors = {{
      {"empty content", HashBytes({}), "e3b0c44298fc1c149afbf4c8996fb924"},
      {"source S", HashBytes(AsBytes(kSource)), "60737ed823fb7f517fe81ff69924d637"},
      {"module", ModuleVector(), "fc685d9cf3c87d21149786fc26f6163f"},
      {"program", ProgramVector(), "e5dd214be8eb9e7a73cc31a8b46d11f0"},
      {"entry", EntryVector(), "3cda7870347b21d9b71fb9d5b395eeca"},
      {"variant", VariantVector(), "ef48bd507fcef0a476870094be6f60d2"},
      {"live", LiveVector(), "aa2ec496026d453b2a935a94c7e4ebd1"},
      {"mask", MaskKey(EntryVector(), 0), "b8a370c249971d56165ff7b6790fb9f1"},
      {"signature", SignatureVector(), "76ee383257a93494f4c846b0fdcb92e1"},
      {"recipe", RecipeVector(), "5da41fdc5683c2a49a8da5ce3478c674"},
  }};
  for (const Vector& vector : vectors) {
    EXPECT_EQ(vector.id.hex(), vector.expected) << vector.name;
  }
}

TEST(Key, ValuesOfDifferentTypes_GiveDifferentKeys) {
  const std::array values = {
      TypedValue::Flag(true),  TypedValue::Flag(false),  TypedValue::Uint(0),
      TypedValue::Uint(1),     TypedValue::Sint(1),      TypedValue::Sint(-1),
      TypedValue::Float(0.0f), TypedValue::Float(-0.0f), TypedValue::Float(1.0f),
      TypedValue::Text(""),    TypedValue::Text("1"),    TypedValue::Failed(),
  };
  std::vector<Hash128> keys;
  for (const TypedValue& value : values) {
    const ConditionValue answer{.module = 0, .expression = 1, .value = value};
    keys.push_back(SignatureKey(kFingerprint, std::span(&answer, 1)));
  }
  std::ranges::sort(keys);
  EXPECT_EQ(std::ranges::adjacent_find(keys), keys.end());
}

TEST(Key, DependencyProbedAndAbsent_DiffersFromPresentAndFromUnasked) {
  ModuleInputs inputs{.language = "hlsl", .source = DigestOf(kSource)};
  const Hash128 unasked = ModuleKey(inputs);
  Dependency dependency{.path = "common.hlsli", .digest = std::nullopt};
  inputs.dependencies = std::span(&dependency, 1);
  const Hash128 absent = ModuleKey(inputs);
  dependency.digest = DigestOf("");
  const Hash128 present = ModuleKey(inputs);
  EXPECT_NE(unasked, absent);
  EXPECT_NE(absent, present);
}

TEST(Key, TargetPairsInAnyOrder_GiveOneKey) {
  std::array<TextPair, 4> reversed = kTarget;
  std::ranges::reverse(reversed);
  EXPECT_EQ(ProgramId({.target = kTarget}), ProgramId({.target = reversed}));
}

TEST(Key, ModulesInAnotherOrder_GiveAnotherKey) {
  const std::array forward = {kLimits, kSemanticId};
  const std::array backward = {kSemanticId, kLimits};
  EXPECT_NE(ProgramId({.modules = forward}), ProgramId({.modules = backward}));
}

TEST(Key, FullDebug_PathEntersTheProgram) {
  const DebugModule here{.spans = kFingerprint, .path = "a.rpl"};
  const DebugModule there{.spans = kFingerprint, .path = "b.rpl"};
  EXPECT_NE(ProgramId({.debug_modules = std::span(&here, 1)}),
            ProgramId({.debug_modules = std::span(&there, 1)}));
  EXPECT_NE(ProgramId({.debug_modules = std::span(&here, 1)}), ProgramId({}));
}

TEST(Key, LimitsInAnyOrder_GiveOneId) {
  const std::array<LimitValue, 2> forward = {{{"tokens", 1}, {"depth", 2}}};
  const std::array<LimitValue, 2> backward = {{{"depth", 2}, {"tokens", 1}}};
  EXPECT_EQ(LimitsId(forward), LimitsId(backward));
  const std::array<LimitValue, 2> other = {{{"depth", 1}, {"tokens", 2}}};
  EXPECT_NE(LimitsId(forward), LimitsId(other));
}

TEST(Key, RecipeSettings_AreSorted) {
  const std::array<TextPair, 2> settings = {{{"val", "after"}, {"level", "O"}}};
  EXPECT_EQ(RecipeText("opt", settings), "opt;level=O;val=after");
  EXPECT_EQ(RecipeText("val", {}), "val");
}

TEST(Key, StateId_DependsOnCodeStateAndLayout) {
  const NamedDigest code{.name = "code.vertex", .digest = DigestOf("words")};
  const NamedDigest other{.name = "code.vertex", .digest = DigestOf("other")};
  const Hash128 id = StateId(std::span(&code, 1), kLimits, kSemanticId);
  EXPECT_NE(id, StateId(std::span(&other, 1), kLimits, kSemanticId));
  EXPECT_NE(id, StateId(std::span(&code, 1), kFingerprint, kSemanticId));
  EXPECT_NE(id, StateId(std::span(&code, 1), kLimits, kFingerprint));
}

TEST(KeyDeathTest, OptionsOutOfOrder_AreABug) {
  const std::array<OptionSetting, 2> options = {
      {{"b", TypedValue::Flag(true)}, {"a", TypedValue::Flag(true)}}};
#ifdef NDEBUG
  EXPECT_THROW(VariantKey(kLimits, options), InternalError);
#else
  EXPECT_DEATH(VariantKey(kLimits, options), "out of order");
#endif
}

}  // namespace
}  // namespace kiln::cache
