// SPDX-License-Identifier: MIT
// Batches after an edit: what equal programs of an earlier batch came to stands, the rest is built.
// Chunks run when the test says so.
#include "server/compile/batch/former_results.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"
#include "server/compile/batch/batch.h"
#include "server/compile/batch/test_batch.h"
#include "server/jobs/memory_queue.h"

namespace kiln::compile {
namespace {

// A program of two flags: four variants, four results.
BatchProgram ProgramOf(const std::string& name, const std::string& mode) {
  BatchProgram program;
  for (const char* const flag : {"a", "b"}) {
    program.space.axes.push_back({.name = flag, .all = true, .values = {}});
  }
  FromText(program, name,
           "// " + name + "\nglobal " + name + ": flag false;\n" +
               "global a: flag false;\nglobal b: flag false;\n" +
               "conditional (a) setting cull_mode = \"" + mode + "\";\n" +
               "conditional (b) setting polygon_mode = \"wireframe\";\n",
           "meta");
  return program;
}

// Two programs that differ in what `one` and `two` say.
BatchRequest TwoOf(const std::string& one, const std::string& two) {
  BatchRequest request = BatchOf(ProgramOf("one", one));
  request.programs.push_back(ProgramOf("two", two));
  return request;
}

BatchRequest Usual() { return TwoOf("back", "front"); }

class FormerResultsTest : public testing::Test {
 protected:
  ~FormerResultsTest() override {
    batches.Halt();
    RunChunks();
  }

  void RunChunks() {
    while (queue.Status().waiting[static_cast<size_t>(jobs::Lane::kBatch)] != 0) {
      std::optional<jobs::DispatchedJob> job = queue.Claim(jobs::LaneChoice::kBoth);
      job->job.run({.stop = job->job.stop, .deadline = job->job.deadline});
      queue.Complete(job->id);
    }
  }

  // As StartBatch does it.
  BatchSummary Build(const BatchRequest& request, const std::function<void()>& meanwhile = {}) {
    id = HashBytes(AsBytes("batch " + std::to_string(++batch_count)));
    Batches::StartHow how;
    how.former = batches.FormerOf(request);
    if (meanwhile) {
      meanwhile();
    }
    EXPECT_TRUE(batches.Start(id, request, std::move(how)).ok());
    RunChunks();
    return *batches.Get(id);
  }

  uint64_t Lookups() const {
    const BuildCounters& counters = builder.counters();
    return counters.hits + counters.shared + counters.compiled;
  }

  cache::MemoryStore store{nullptr, nullptr, {.max_bytes = uint64_t{64} << 20}};
  SystemClock clock;
  ProgramPool pool{store, uint64_t{16} << 20};
  CachedBuild builder{store, pool, clock};
  jobs::MemoryQueue queue{{.interactive = 4, .batch = 64}};
  uint64_t losses = 0;
  Batches batches{builder, store, queue, clock, {.losses = [this] { return losses; }}};
  Hash128 id;
  int batch_count = 0;
};

TEST_F(FormerResultsTest, EditOfOneProgram_OnlyThatIsLookedUp) {
  const BatchSummary first = Build(Usual());
  ASSERT_EQ(first.progress.compiled, 8u);
  for (const char* const edit : {"none", "back"}) {
    const uint64_t before = Lookups();
    const BatchSummary edited = Build(TwoOf("back", edit));
    EXPECT_EQ(edited.state, BatchState::kDone);
    EXPECT_EQ(edited.progress.programs_done, 2u);
    EXPECT_EQ(edited.progress.results_done, 8u);
    EXPECT_EQ(edited.progress.variants_total, first.progress.variants_total);
    EXPECT_EQ(edited.progress.variants_served, first.progress.variants_served);
    EXPECT_EQ(edited.progress.results_upper, first.progress.results_upper);
    EXPECT_GE(edited.progress.hit_memory, 4u);
    EXPECT_EQ(Lookups() - before, 4u) << edit;
    EXPECT_EQ(batches.Misses(id)->results, 4u) << "no explain ring: the adopted ones alone";
  }
}

TEST_F(FormerResultsTest, WhatStands_IsToldAsAHitOfMemoryAndIsWhatItWas) {
  Build(Usual());
  const BatchResults before = *batches.Results(id);
  Build(TwoOf("back", "none"));
  const BatchResults after = *batches.Results(id);
  ASSERT_EQ(after.size(), 8u);
  for (size_t i = 0; i < 8; ++i) {
    const bool stands = after.At(i).program == "one";
    EXPECT_EQ(stands, i < 4) << "in the order of the programs";
    EXPECT_EQ(after.At(i).outcome.artifact->origin, stands ? Origin::kMemory : Origin::kCompiled);
    EXPECT_EQ(before.At(i).outcome.artifact->origin, Origin::kCompiled);
    EXPECT_EQ(after.At(i).options, before.At(i).options);
    EXPECT_EQ(after.At(i).outcome.artifact->signature == before.At(i).outcome.artifact->signature,
              stands);
  }
  EXPECT_EQ(batches.Items(id, {}, 0, 100)->items.size(), 8u);
}

TEST_F(FormerResultsTest, RepeatedBatch_StandsLikeTheOneThatWasBuilt) {
  Build(Usual());
  ASSERT_TRUE(batches.Repeat(id, {}).has_value());
  const uint64_t before = Lookups();
  EXPECT_EQ(Build(TwoOf("none", "front")).progress.hit_memory, 4u);
  EXPECT_EQ(Lookups() - before, 4u);
}

// Everything that is asked for is looked at.
TEST_F(FormerResultsTest, AnythingThatDiffers_IsLookedUp) {
  struct Case {
    const char* what;
    std::function<void(BatchRequest&)> change;
    uint64_t programs_looked_up;
  };
  const Case cases[] = {
      {"nothing", [](auto&) {}, 0},
      {"priority, which is order alone", [](auto& r) { r.programs[0].priority = 3; }, 0},
      {"name", [](auto& r) { r.programs[0].program.name = "other"; }, 1},
      {"a path", [](auto& r) { r.programs[0].program.sources[0].path = "x.rpl"; }, 1},
      {"a fixed option",
       [](auto& r) {
         r.programs[0].program.options = {
             {.name = "a", .scope = {}, .kind = ir::OptionKind::kFlag, .bits = 1, .text = {}}};
         r.programs[0].space.axes.erase(r.programs[0].space.axes.begin());
       },
       1},
      {"an axis", [](auto& r) { r.programs[0].space.axes.pop_back(); }, 1},
      {"an exclusion", [](auto& r) { r.programs[0].space.exclude = {"a && b"}; }, 1},
      {"a requirement", [](auto& r) { r.programs[0].space.require = {"a"}; }, 1},
      {"target", [](auto& r) { r.programs[0].targets[0].target.debug = target::Debug::kNone; }, 1},
      {"name of a target", [](auto& r) { r.programs[0].targets[0].name = "vk"; }, 1},
      {"budget of a program", [](auto& r) { r.programs[0].results = 50; }, 1},
      {"family", [](auto& r) { r.programs[0].family = "rock"; }, 1},
      {"budget of the batch", [](auto& r) { r.budget.results = 50; }, 2},
      {"budget of time", [](auto& r) { r.budget.cpu_us = 1'000'000'000; }, 2},
      {"project", [](auto& r) { r.project = "other"; }, 2},
      {"exploring", [](auto& r) { r.explore = 5; }, 2},
      {"failures tried again", [](auto& r) { r.retry_failed = true; }, 2},
      {"quorum", [](auto& r) { r.quorum = true; }, 2},
      {"pin", [](auto& r) { r.pin = "release"; }, 2},
  };
  for (const Case& one : cases) {
    Build(Usual());
    BatchRequest changed = Usual();
    one.change(changed);
    const FormerResults former = batches.FormerOf(changed);
    uint64_t looked_up = 0;
    for (size_t i = 0; i < 2; ++i) {
      looked_up += former.Of(i) == nullptr ? 1 : 0;
    }
    EXPECT_EQ(looked_up, one.programs_looked_up) << one.what;
  }
}

TEST_F(FormerResultsTest, FamilyOfWhichOneChanged_IsLookedUpWhole) {
  const auto with_family = [](BatchRequest request) {
    request.programs[0].family = request.programs[1].family = "rock";
    return request;
  };
  Build(with_family(Usual()));
  EXPECT_NE(batches.FormerOf(with_family(Usual())).Of(0), nullptr);
  EXPECT_EQ(batches.FormerOf(with_family(TwoOf("back", "none"))).Of(0), nullptr);
}

TEST_F(FormerResultsTest, LossOfTheStore_IsLookedUp) {
  Build(Usual());
  ++losses;
  EXPECT_TRUE(batches.FormerOf(Usual()).programs.empty());
  Build(Usual());
  const uint64_t before = Lookups();
  EXPECT_EQ(Build(Usual(), [&] { ++losses; }).progress.results_done, 8u);
  EXPECT_EQ(Lookups() - before, 8u) << "lost between asking and starting";
}

TEST_F(FormerResultsTest, ProgramThatFailed_IsLookedUpAndTheOtherIsNot) {
  const BatchSummary failed = Build(TwoOf("back", "sideways"));
  ASSERT_NE(failed.progress.failed, 0u);
  const FormerResults former = batches.FormerOf(TwoOf("back", "sideways"));
  EXPECT_NE(former.Of(0), nullptr);
  EXPECT_EQ(former.Of(1), nullptr);
  const BatchSummary again = Build(TwoOf("back", "sideways"));
  EXPECT_EQ(again.progress.failed, failed.progress.failed);
  EXPECT_EQ(again.progress.results_done, failed.progress.results_done);
}

// Two programs of one text have each result once: no one knows what the first alone would have.
TEST_F(FormerResultsTest, ProgramsThatShareResults_AreLookedUp) {
  BatchRequest request = BatchOf(ProgramOf("one", "back"));
  request.programs.push_back(request.programs[0]);
  request.programs[1].program.name = "two";
  const BatchSummary first = Build(request);
  EXPECT_EQ(first.progress.results_done, 4u);
  const FormerResults former = batches.FormerOf(request);
  EXPECT_EQ(former.Of(0), nullptr);
  EXPECT_EQ(former.Of(1), nullptr);
}

TEST_F(FormerResultsTest, BatchThatIsNotDone_StandsForNothing) {
  id = HashBytes(AsBytes("cancelled"));
  ASSERT_TRUE(batches.Start(id, Usual()).ok());
  EXPECT_TRUE(batches.FormerOf(Usual()).programs.empty());
  ASSERT_TRUE(batches.Cancel(id).ok());
  RunChunks();
  EXPECT_TRUE(batches.FormerOf(Usual()).programs.empty());
}

}  // namespace
}  // namespace kiln::compile
