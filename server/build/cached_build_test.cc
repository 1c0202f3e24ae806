// SPDX-License-Identifier: MIT
// What is known by its signature is not built again, whoever asks and whatever was lost.
#include "server/build/cached_build.h"

#include <set>

#include <gtest/gtest.h>

#include "cache/hiding_store.h"
#include "cache/memory_store.h"

namespace kiln::build {
namespace {

// Wrong if `wrong` is on; reads `shade` only.
constexpr const char* kText =
    "global shade: flag false;\n"
    "global wrong: flag false;\n"
    "global idle: flag false;\n"
    "void v (void) { vertex_stage_output_position (f4 {0.0, 0.0, 0.0, 1.0}); }\n"
    "conditional (shade) setting cull_mode = \"back\";\n"
    "conditional (wrong) setting cull_mode = 7;\n";

class CachedBuildTest : public testing::Test {
 protected:
  // A process: everything that is not in the store.
  struct Process {
    explicit Process(CachedBuildTest& test)
        : pool(test.store, 1 << 20), builder(test.store, pool, test.clock) {}
    ProgramPool pool;
    CachedBuild builder;
  };

  static ProgramRequest Request() {
    ProgramRequest request;
    request.name = "p";
    request.sources.push_back({.path = "p.rpl",
                               .digest = DigestOf(std::string_view(kText)),
                               .text = std::make_shared<const std::string>(kText)});
    request.entries.push_back({.stage = ir::Stage::kVertex, .function = "v"});
    return request;
  }

  Result<Outcome> Build(Process& process, const char* option, bool value,
                        const BuildOptions& how = {}) {
    const auto prepared = process.builder.Prepare(
        Request(), {.name = "vk", .target = target::MakeTarget(target::Environment::kVulkan11)},
        {});
    EXPECT_TRUE(prepared.ok() && (*prepared)->ok());
    const resolve::OptionSetting setting{.name = option,
                                         .scope = {},
                                         .kind = ir::OptionKind::kFlag,
                                         .bits = value ? 1u : 0u,
                                         .text = {}};
    return process.builder.Build(**prepared, std::span(&setting, 1), how, {});
  }

  SystemClock clock;
  cache::MemoryStore memory{nullptr, nullptr, {}};
  cache::HidingStore store{memory};
};

TEST_F(CachedBuildTest, KeysAndMasksLost_SignatureIsNotBuiltAgain) {
  Process first(*this);
  const Result<Outcome> made = Build(first, "shade", true);
  ASSERT_TRUE(made.ok() && made->artifact.has_value());
  store.levels = {cache::Level::kAlias, cache::Level::kMask};
  Process second(*this);
  const Result<Outcome> found = Build(second, "shade", true);
  ASSERT_TRUE(found.ok() && found->artifact.has_value());
  EXPECT_EQ(found->artifact->origin, Origin::kShared);
  EXPECT_EQ(found->artifact->signature, made->artifact->signature);
  EXPECT_EQ(found->artifact->metadata, made->artifact->metadata);
  EXPECT_EQ(second.builder.counters().compiled, 0u);
  EXPECT_EQ(second.builder.counters().shared, 1u);
  EXPECT_EQ(second.builder.counters().segments_lowered, 0u);
  EXPECT_EQ(second.builder.counters().modules_written, 0u);
  EXPECT_EQ(Build(second, "shade", true)->artifact->origin, Origin::kMemory);
}

TEST_F(CachedBuildTest, KeysFoundByAWalk_AreWritten) {
  Process first(*this);
  (void)Build(first, "shade", true);
  store.levels = {cache::Level::kAlias, cache::Level::kMask};
  Process second(*this);
  BuildOptions skip{.may_compile = false};
  ASSERT_TRUE(Build(second, "shade", true, skip).ok()) << "a walk needs no permission to compile";
  store.levels.clear();
  Process third(*this);
  EXPECT_EQ(Build(third, "shade", true)->artifact->origin, Origin::kLocal);
  EXPECT_EQ(third.builder.counters().walked, 0u);
}

TEST_F(CachedBuildTest, UnknownVariantThatMayNotBeCompiled_IsAMiss) {
  Process process(*this);
  BuildOptions skip{.may_compile = false};
  const Result<Outcome> outcome = Build(process, "shade", true, skip);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().reason, "NOT_CACHED");
  EXPECT_EQ(process.builder.counters().segments_lowered, 0u);
}

TEST_F(CachedBuildTest, AtOnce_OnlyWhatMemoryHasIsAnswered) {
  const cache::Call at_once{.deadline = cache::kAtOnce};
  const NamedTarget target{.name = "vk",
                           .target = target::MakeTarget(target::Environment::kVulkan11)};
  Process process(*this);
  EXPECT_EQ(process.builder.Prepare(Request(), target, at_once).error().code,
            ErrorCode::kDeadlineExceeded);
  const auto prepared = process.builder.Prepare(Request(), target, {});
  ASSERT_TRUE(prepared.ok() && process.builder.Prepare(Request(), target, at_once).ok());
  EXPECT_EQ(process.builder.Build(**prepared, {}, {}, at_once).error().code,
            ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(process.builder.counters().walked, 0u);
  ASSERT_TRUE(process.builder.Build(**prepared, {}, {}, {}).ok());
  const Result<Outcome> known = process.builder.Build(**prepared, {}, {}, at_once);
  ASSERT_TRUE(known.ok() && known->artifact.has_value());
  EXPECT_EQ(known->artifact->origin, Origin::kMemory);
}

TEST_F(CachedBuildTest, FailureKnownBySignature_IsReplayedAndTriedAgainOnDemand) {
  Process first(*this);
  const Result<Outcome> made = Build(first, "wrong", true);
  ASSERT_TRUE(made.ok());
  ASSERT_EQ(made->kind, OutcomeKind::kSourceError);
  store.levels = {cache::Level::kAlias, cache::Level::kMask};
  Process second(*this);
  const Result<Outcome> found = Build(second, "wrong", true);
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->from_negative_cache);
  ASSERT_EQ(found->diagnostics.size(), made->diagnostics.size());
  EXPECT_EQ(second.builder.counters().compiled, 0u);
  const Result<Outcome> again = Build(second, "wrong", true, {.retry_failed = true});
  EXPECT_FALSE(again->from_negative_cache);
  EXPECT_EQ(second.builder.counters().compiled, 1u);
}

TEST_F(CachedBuildTest, DiagnosticsLost_AreComputedAgain) {
  Process first(*this);
  const Result<Outcome> made = Build(first, "wrong", true);
  ASSERT_TRUE(made.ok());
  using enum cache::Level;
  // Found by its keys, then by its signature.
  for (const std::set<cache::Level>& lost :
       {std::set{kContent}, std::set{kContent, kAlias, kMask}}) {
    store.levels = lost;
    Process other(*this);
    const Result<Outcome> found = Build(other, "wrong", true);
    ASSERT_TRUE(found.ok()) << ErrorText(found.error());
    EXPECT_EQ(found->diagnostics.size(), made->diagnostics.size());
    EXPECT_EQ(other.builder.counters().compiled, 1u);
  }
}

}  // namespace
}  // namespace kiln::build
