// SPDX-License-Identifier: MIT
#include "server/compile/rows/result_table.h"

#include <gtest/gtest.h>

namespace kiln::compile {
namespace {

Hash128 Id(uint32_t number) { return HashBytes(std::as_bytes(std::span(&number, 1))); }

// The result of `fog`, whose ids and numbers are all made of `number`.
Outcome ResultOf(uint32_t number) {
  Artifact artifact{.target = "vk",
                    .code = {{.stage = ir::Stage::kVertex, .digest = {Id(number), number}},
                             {.stage = ir::Stage::kFragment, .digest = {Id(number + 1), 7}}},
                    .metadata = {Id(number + 2), number + 1},
                    .live_options = {"fog"},
                    .layout_hash = Id(number + 3),
                    .state_id = Id(number + 4),
                    .signature = Id(number + 5),
                    .origin = Origin::kCompiled,
                    .stored = true,
                    .cpu_us = number,
                    .build_id = "0123"};
  return {.kind = OutcomeKind::kOk, .artifact = std::move(artifact)};
}

std::vector<resolve::OptionSetting> Fog(uint32_t value) {
  return {{.name = "fog", .scope = {}, .kind = ir::OptionKind::kUint, .bits = value, .text = {}}};
}

void ExpectEqual(const Outcome& a, const Outcome& b) {
  const Artifact& x = *a.artifact;
  const Artifact& y = *b.artifact;
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.diagnostics, b.diagnostics);
  EXPECT_EQ(a.from_negative_cache, b.from_negative_cache);
  EXPECT_EQ(std::tie(a.validated, a.optimised), std::tie(b.validated, b.optimised));
  EXPECT_EQ(x.target, y.target);
  EXPECT_TRUE(std::ranges::equal(x.code, y.code, [](const auto& c, const auto& d) {
    return c.stage == d.stage && c.digest == d.digest;
  }));
  EXPECT_EQ(x.metadata, y.metadata);
  EXPECT_EQ(x.live_options, y.live_options);
  EXPECT_EQ(std::tie(x.layout_hash, x.state_id, x.signature),
            std::tie(y.layout_hash, y.state_id, y.signature));
  EXPECT_EQ(std::tie(x.origin, x.stored, x.cpu_us, x.build_id),
            std::tie(y.origin, y.stored, y.cpu_us, y.build_id));
}

// Each differs from the first in one thing that is not a number.
std::vector<Outcome> OtherOutcomes() {
  std::vector<Outcome> all(11, ResultOf(100));
  all[1].artifact->target = "web";
  all[2].artifact->code.pop_back();
  all[3].artifact->code[0].stage = std::nullopt;
  all[4].artifact->live_options = {};
  all[5].artifact->build_id = "4567";
  all[6].validated = true;
  all[7].optimised = true;
  all[8].diagnostics = {{.code = "RPL1", .message = "careful"}};
  all[9].artifact->origin = Origin::kUpstream;
  all[10].artifact->stored = false;
  return all;
}

TEST(ResultTable, EveryResult_ComesBackAsItWas) {
  const std::vector<Outcome> outcomes = OtherOutcomes();
  ResultTable table("rock");
  for (uint32_t round = 0; round < 3; ++round) {
    for (uint32_t i = 0; i < outcomes.size(); ++i) {
      table.Add(Fog(i), outcomes[i], i + round);
    }
  }
  table.Shrink();
  ASSERT_EQ(table.size(), 3 * outcomes.size());
  for (uint32_t row = 0; row < table.size(); ++row) {
    const auto i = static_cast<uint32_t>(row % outcomes.size());
    const BatchItem item = table.At(row);
    EXPECT_EQ(item.program, "rock");
    EXPECT_EQ(item.options, Fog(i));
    EXPECT_EQ(item.served, i + row / outcomes.size());
    ExpectEqual(item.outcome, outcomes[i]);
  }
}

TEST(ResultTable, ManyWarningsOfTheirOwn_AreAllKept) {
  ResultTable table("rock");
  for (uint32_t i = 0; i < 100; ++i) {
    Outcome outcome = ResultOf(i);
    outcome.diagnostics = {{.code = "RPL1", .message = std::to_string(i % 50)}};
    table.Add(Fog(i), outcome, 1);
  }
  for (uint32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(table.At(i).outcome.diagnostics[0].message, std::to_string(i % 50));
    EXPECT_EQ(table.CodeOf(i)[0].id, Id(i));
  }
}

TEST(ResultTable, FreshContent_IsNotKept) {
  ResultTable table("rock");
  Outcome outcome = ResultOf(1);
  outcome.fresh.push_back({.digest = {}, .blob = cache::CopiedBlob(AsBytes("words"))});
  table.Add({}, outcome, 1);
  EXPECT_TRUE(table.At(0).outcome.fresh.empty());
}

TEST(BatchResults, SeveralTables_AreNumberedOneBehindTheOther) {
  const auto one = std::make_shared<ResultTable>("one");
  const auto none = std::make_shared<ResultTable>("none");
  const auto two = std::make_shared<ResultTable>("two");
  one->Add({}, ResultOf(1), 1);
  two->Add({}, ResultOf(2), 1);
  two->Add({}, ResultOf(3), 1);
  BatchResults results;
  EXPECT_TRUE(results.empty());
  results.Add(one, false);
  results.Add(none, false);
  results.Add(two, true);
  ASSERT_EQ(results.size(), 3u);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(results.Row(i).cpu_us, i + 1);
    EXPECT_EQ(results.At(i).program, i == 0 ? "one" : "two");
    EXPECT_EQ(results.At(i).outcome.artifact->origin, i == 0 ? Origin::kCompiled : Origin::kMemory);
  }
}

TEST(BatchResults, Copy_StaysWhenTheTableGoesOn) {
  const auto table = std::make_shared<ResultTable>("one");
  table->Add({}, ResultOf(1), 1);
  BatchResults results;
  results.Add(table, false);
  const BatchResults copy = results.Copied();
  table->AddServed(0, 5);
  table->Add({}, ResultOf(2), 1);
  EXPECT_EQ(copy.size(), 1u);
  EXPECT_EQ(copy.Row(0).served, 1u);
  EXPECT_EQ(results.Row(0).served, 6u);
}

}  // namespace
}  // namespace kiln::compile
