// SPDX-License-Identifier: MIT
#include "server/compile/variant_cache.h"

#include <atomic>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "compiler/driver/stages.h"

namespace kiln::compile {
namespace {

using Use = VariantCache::Use;

Hash128 Id(std::string_view text) { return HashBytes(AsBytes(text)); }

class VariantCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<SourceFile> files = {
        {"p.rpl",
         "global a: flag false;\nglobal b: flag false;\nglobal c: uint 0;\n"
         "void v (void) { vertex_stage_output_position (f4 {0.0, 0.0, 0.0, 1.0}); }\n"}};
    linked = driver::LinkSources(files, ir::PipelineType::kGraphicsClassic);
    ASSERT_TRUE(linked.ok());
  }

  void Add(VariantCache& known, const char* entry, std::vector<uint32_t> values,
           const cache::NameList& live, const char* result) {
    known.Add(Id(entry), linked.value->program, {.bits = std::move(values)}, live, Id(result));
  }

  Diagnosed<driver::LinkedProgram> linked;
};

TEST_F(VariantCacheTest, Variants_AreFoundByAllValuesOrByThoseThatWereRead) {
  VariantCache known(1 << 20);
  Add(known, "e", {1, 0, 7}, {"a", "c"}, "r");
  Add(known, "e", {0, 0, 7}, {"a"}, "s");
  const struct {
    const char* what;
    const char* entry;
    std::vector<uint32_t> values;
    const char* result;  // null: none
    bool is_same;
  } rows[] = {
      {"the same", "e", {1, 0, 7}, "r", true},
      {"another value of what it did not read", "e", {1, 1, 7}, "r", false},
      {"another value of what it read", "e", {1, 0, 8}, nullptr, false},
      {"by another list", "e", {0, 1, 9}, "s", false},
      {"another entry", "f", {1, 0, 7}, nullptr, false},
  };
  for (const auto& row : rows) {
    const auto found = known.Find(Id(row.entry), {.bits = row.values}, Use::kUnseen);
    ASSERT_EQ(found.has_value(), row.result != nullptr) << row.what;
    if (found.has_value()) {
      EXPECT_EQ(found->signature, Id(row.result)) << row.what;
      EXPECT_EQ(found->is_same, row.is_same) << row.what;
    }
  }
}

TEST_F(VariantCacheTest, FirstResult_Stays) {
  VariantCache known(1 << 20);
  Add(known, "e", {1, 0, 7}, {"a"}, "r");
  Add(known, "e", {1, 0, 7}, {"a"}, "s");
  EXPECT_EQ(known.Find(Id("e"), {.bits = {1, 0, 7}}, Use::kUnseen)->signature, Id("r"));
}

TEST_F(VariantCacheTest, EntryUsedLeast_MakesRoomAndIsKnownToHaveLost) {
  VariantCache known(4096);
  Add(known, "old", {1, 0, 0}, {"a"}, "r");
  Add(known, "used", {1, 0, 0}, {"a"}, "s");
  ASSERT_TRUE(known.Find(Id("old"), {.bits = {1, 0, 0}}, Use::kUnseen).has_value());
  ASSERT_TRUE(known.Find(Id("used"), {.bits = {1, 0, 0}}, Use::kNoted).has_value());
  for (uint32_t i = 0; known.Find(Id("old"), {.bits = {1, 0, 0}}, Use::kUnseen).has_value(); ++i) {
    ASSERT_LT(i, 1000u);
    Add(known, "new", {1, 0, i}, {"a", "c"}, "t");
  }
  EXPECT_TRUE(known.HasLost(Id("old")));
  EXPECT_FALSE(known.HasLost(Id("used")));
  EXPECT_TRUE(known.Find(Id("used"), {.bits = {1, 0, 0}}, Use::kUnseen).has_value());
  EXPECT_LE(known.Usage().bytes, 4096u);
}

TEST_F(VariantCacheTest, EntryAsLargeAsAllMayBe_TakesNoMore) {
  VariantCache known(4096);
  for (uint32_t i = 0; i < 1000; ++i) {
    Add(known, "e", {1, 0, i}, {"a", "c"}, "r");
  }
  EXPECT_LE(known.Usage().bytes, 4096u);
  EXPECT_TRUE(known.HasLost(Id("e")));
  EXPECT_TRUE(known.Find(Id("e"), {.bits = {1, 0, 0}}, Use::kUnseen).has_value());
  EXPECT_FALSE(known.Find(Id("e"), {.bits = {1, 0, 999}}, Use::kUnseen).has_value());
}

// Records come from peers, too.
TEST_F(VariantCacheTest, OptionThatTheProgramHasNot_IsNoGroup) {
  VariantCache known(1 << 20);
  Add(known, "e", {1, 0, 7}, {"a", "of another program"}, "r");
  EXPECT_EQ(known.Find(Id("e"), {.bits = {1, 0, 7}}, Use::kUnseen)->signature, Id("r"));
  EXPECT_FALSE(known.Find(Id("e"), {.bits = {1, 1, 7}}, Use::kUnseen).has_value());
}

TEST_F(VariantCacheTest, Cleared_KnowsNothing) {
  VariantCache known(4096);
  Add(known, "e", {1, 0, 7}, {"a"}, "r");
  known.Clear();
  EXPECT_FALSE(known.Find(Id("e"), {.bits = {1, 0, 7}}, Use::kUnseen).has_value());
  EXPECT_EQ(known.Usage().bytes, 0u);
  EXPECT_EQ(known.Usage().entries, 0u);
}

// Entries make room for each other all the time, and two threads add to each of them.
TEST_F(VariantCacheTest, ManyThreads_FindTheRightResultOrLearnThatItWasLost) {
  constexpr uint32_t kThreads = 8, kEntries = 16, kRows = 64;
  VariantCache known(16 << 10);
  const auto result_of = [](uint32_t entry, uint32_t row) {
    return Id(std::to_string(entry) + ":" + std::to_string(row));
  };
  const auto entry_of = [](uint32_t entry) { return Id("entry " + std::to_string(entry)); };
  std::atomic<uint32_t> wrong = 0;
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint32_t row = 0; row < kRows; ++row) {
        for (uint32_t entry = thread % 2; entry < kEntries; entry += 2) {
          const resolve::OptionValues values = {.bits = {1, 0, row}};
          known.Add(entry_of(entry), linked.value->program, values, {"a", "c"},
                    result_of(entry, row));
          const auto found = known.Find(entry_of(entry), values, Use::kNoted);
          wrong += found.has_value() ? found->signature != result_of(entry, row)
                                     : !known.HasLost(entry_of(entry));
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0u);
  const CacheUsage usage = known.Usage();
  EXPECT_LE(usage.bytes, usage.max_bytes);
  EXPECT_EQ(usage.hits + usage.misses, kThreads * kRows * kEntries / 2);
  known.Clear();
  EXPECT_EQ(known.Usage().bytes, 0u) << "what was counted is taken off again";
  EXPECT_EQ(known.Usage().entries, 0u);
}

}  // namespace
}  // namespace kiln::compile
