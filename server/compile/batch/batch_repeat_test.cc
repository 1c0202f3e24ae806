// SPDX-License-Identifier: MIT
// Batches of which nothing changed: what is repeated from the run before, and what is looked up.
// Chunks run when the test says so.
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"
#include "cache/leases/leases.h"
#include "server/compile/batch/batch.h"
#include "server/compile/batch/test_batch.h"
#include "server/jobs/memory_queue.h"

namespace kiln::compile {
namespace {

const Hash128 kId = HashBytes(AsBytes("the batch"));

// A program of two flags: four variants, four results. A wrong one fails in two of them.
BatchRequest Request(bool wrong) {
  const std::string text = std::string(
                               "global a: flag false;\nglobal b: flag false;\n"
                               "conditional (a) setting cull_mode = \"back\";\n") +
                           (wrong ? "conditional (b) setting cull_mode = \"sideways\";\n"
                                  : "conditional (b) setting polygon_mode = \"wireframe\";\n");
  BatchProgram program;
  for (const char* const flag : {"a", "b"}) {
    program.space.axes.push_back({.name = flag, .all = true, .values = {}});
  }
  FromText(program, "small", text, "meta");
  return BatchOf(std::move(program));
}

class BatchRepeat : public testing::Test {
 protected:
  ~BatchRepeat() override {
    batches.Halt();
    RunChunks();
  }

  BatchSummary Build(BatchRequest request) {
    EXPECT_TRUE(batches.Start(kId, std::move(request)).ok());
    RunChunks();
    return *batches.Get(kId);
  }

  void RunChunks() {
    while (queue.Status().waiting[static_cast<size_t>(jobs::Lane::kBatch)] != 0) {
      std::optional<jobs::DispatchedJob> job = queue.Claim(jobs::LaneChoice::kBoth);
      job->job.run({.stop = job->job.stop, .deadline = job->job.deadline});
      queue.Complete(job->id);
    }
  }

  bool Repeats() { return batches.Repeat(kId, {}).has_value(); }

  cache::MemoryStore store{nullptr, nullptr, {.max_bytes = uint64_t{64} << 20}};
  SystemClock clock;
  ProgramPool pool{store, uint64_t{16} << 20};
  CachedBuild builder{store, pool, clock};
  jobs::MemoryQueue queue{{.interactive = 4, .batch = 64}};
  uint64_t losses = 0;
  Batches batches{builder, store, queue, clock, {.losses = [this] { return losses; }}};
};

TEST_F(BatchRepeat, NothingChanged_TheResultsAreHitsAndNothingIsLookedUp) {
  const BatchSummary first = Build(Request(false));
  ASSERT_EQ(first.state, BatchState::kDone);
  ASSERT_EQ(first.progress.compiled, 4u);
  const uint64_t hits = builder.counters().hits.load();
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(Repeats());
    const BatchSummary again = *batches.Get(kId);
    EXPECT_EQ(again.state, BatchState::kDone);
    EXPECT_EQ(again.progress.results_done, 4u);
    EXPECT_EQ(again.progress.hit_memory, 4u);
    EXPECT_EQ(again.progress.compiled, 0u);
    EXPECT_EQ(again.progress.cpu_us, 0u);
    EXPECT_EQ(again.progress.cpu_saved_us, first.progress.cpu_us);
    EXPECT_EQ(again.progress.variants_total, first.progress.variants_total);
    EXPECT_EQ(again.progress.variants_served, first.progress.variants_served);
    EXPECT_EQ(again.progress.bytes_out, first.progress.bytes_out);
    EXPECT_EQ(again.progress.programs_done, 1u);
  }
  EXPECT_EQ(builder.counters().hits.load(), hits);
  EXPECT_EQ(queue.Status().waiting[static_cast<size_t>(jobs::Lane::kBatch)], 0u);
}

// A counter that became smaller would be taken for a daemon that began anew.
TEST_F(BatchRepeat, Totals_OnlyGrow) {
  EXPECT_EQ(batches.Totals().compiled, 0u);
  Build(Request(false));
  EXPECT_EQ(batches.Totals().compiled, 4u);
  ASSERT_TRUE(Repeats());  // the run before is forgotten
  EXPECT_EQ(batches.Totals().compiled, 4u);
  EXPECT_EQ(batches.Totals().hit_memory, 4u);
  Build(Request(false));
  EXPECT_EQ(batches.Totals().compiled, 4u);
  EXPECT_EQ(batches.Totals().hit_memory, 8u);
}

TEST_F(BatchRepeat, Watcher_SeesTheProgramsAndTheEnd) {
  Build(Request(false));
  ASSERT_TRUE(Repeats());
  const std::vector<BatchEvent> events = *batches.Events(kId, 0);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].kind, BatchEvent::Kind::kProgramDone);
  EXPECT_EQ(events[0].text, "small");
  EXPECT_EQ(events[1].kind, BatchEvent::Kind::kProgress);
  EXPECT_EQ(events[2].kind, BatchEvent::Kind::kFinal);
  EXPECT_EQ(events[2].state, BatchState::kDone);
  EXPECT_EQ(events[2].progress.hit_memory, 4u);
}

TEST_F(BatchRepeat, Results_AreThoseOfTheRunBeforeFromMemory) {
  Build(Request(false));
  const BatchResults before = *batches.Results(kId);
  ASSERT_TRUE(Repeats());
  const BatchResults after = *batches.Results(kId);
  ASSERT_EQ(after.size(), before.size());
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after.At(i).options, before.At(i).options);
    EXPECT_EQ(after.At(i).outcome.artifact->signature, before.At(i).outcome.artifact->signature);
    EXPECT_EQ(before.At(i).outcome.artifact->origin, Origin::kCompiled);
    EXPECT_EQ(after.At(i).outcome.artifact->origin, Origin::kMemory);
  }
  EXPECT_EQ(batches.Items(kId, {}, 0, 100)->items.size(), 4u);
  EXPECT_EQ(batches.Misses(kId)->causes.size(), 0u);
}

TEST_F(BatchRepeat, WhatMayHaveChanged_IsLookedUp) {
  EXPECT_FALSE(Repeats());  // nobody built it
  Build(Request(false));
  ++losses;
  EXPECT_FALSE(Repeats());  // the store lost something
  EXPECT_EQ(Build(Request(false)).progress.hit_memory, 4u);
  EXPECT_TRUE(Repeats());  // nothing since it was looked up
}

TEST_F(BatchRepeat, LossDuringTheBuild_IsLookedUp) {
  ASSERT_TRUE(batches.Start(kId, Request(false)).ok());
  ++losses;
  RunChunks();
  EXPECT_FALSE(Repeats());
}

TEST_F(BatchRepeat, BatchThatIsNotOver_IsNotRepeated) {
  ASSERT_TRUE(batches.Start(kId, Request(false)).ok());
  EXPECT_FALSE(Repeats());
  RunChunks();
  EXPECT_TRUE(Repeats());
}

TEST_F(BatchRepeat, FailuresPinsAndQuorum_AreLookedUp) {
  const BatchSummary failed = Build(Request(true));
  EXPECT_NE(failed.progress.failed, 0u);
  EXPECT_FALSE(Repeats());
  BatchRequest pinned = Request(false);
  pinned.pin = "release";
  Build(std::move(pinned));
  EXPECT_FALSE(Repeats());
  BatchRequest quorum = Request(false);
  quorum.quorum = true;
  Build(std::move(quorum));
  EXPECT_FALSE(Repeats());
}

// A database without rows.
class NoRows final : public cache::Pins {
 public:
  Result<uint64_t> Add(const cache::Pin& /*pin*/, std::span<const cache::Key> /*keys*/) override {
    return uint64_t{0};
  }
  Result<void> Remove(std::string_view /*name*/) override { return {}; }
  Result<void> RemoveOf(std::string_view /*name*/, std::string_view /*owner*/) override {
    return {};
  }
  Result<std::vector<cache::Pin>> List() override { return std::vector<cache::Pin>(); }
};

TEST_F(BatchRepeat, PinOfResultsThatOnlyMemoryHas_IsNotKept) {
  NoRows rows;
  Batches emptied(builder, store, queue, clock, {.pins = &rows});
  BatchRequest request = Request(false);
  request.pin = "release";
  ASSERT_TRUE(emptied.Start(kId, std::move(request)).ok());
  RunChunks();
  const BatchSummary batch = *emptied.Get(kId);
  EXPECT_EQ(batch.state, BatchState::kDone);
  EXPECT_EQ(batch.progress.unstored, batch.progress.results_done);
  EXPECT_NE(batch.progress.problem.find("pin 'release'"), std::string::npos);
  EXPECT_NE(batch.progress.problem.find("not in its cache any more"), std::string::npos);
}

// A database that is full until somebody makes room.
class FullStore final : public cache::BlobStore {
 public:
  Result<cache::Blob> Get(const cache::Key& key, const cache::Call& call) override {
    return rows.Get(key, call);
  }
  Result<cache::PutResult> Put(std::span<const cache::Item> items, cache::Durability durability,
                               const cache::Call& call) override {
    if (full) {
      return Error{
          .code = ErrorCode::kFull, .context = "the cache is full", .reason = "CACHE_FULL"};
    }
    return rows.Put(items, durability, call);
  }
  Result<std::vector<cache::Key>> FindMissing(std::span<const cache::Key> keys,
                                              const cache::Call& call) override {
    return rows.FindMissing(keys, call);
  }
  void Touch(std::span<const cache::Key> keys) override { rows.Touch(keys); }

  cache::MemoryStore rows{nullptr, nullptr, {.max_bytes = uint64_t{64} << 20}};
  bool full = true;
};

// What a full database does not have is told by every build that finds it in memory, and stored by
// the first one for which there is room.
TEST_F(BatchRepeat, ResultsThatOnlyMemoryHas_AreToldUntilTheyAreStored) {
  FullStore database;
  cache::MemoryStore memory{&database, nullptr, {.max_bytes = uint64_t{64} << 20}};
  ProgramPool programs{memory, uint64_t{16} << 20};
  CachedBuild cached{memory, programs, clock};
  Batches full(cached, memory, queue, clock, {.losses = [this] { return losses; }});
  const auto build = [&] {
    EXPECT_FALSE(full.Repeat(kId, {}).has_value());
    EXPECT_TRUE(full.Start(kId, Request(false)).ok());
    RunChunks();
    return full.Get(kId)->progress;
  };
  for (int round = 0; round < 3; ++round) {
    const BatchProgress progress = build();
    EXPECT_EQ(progress.results_done, 4u);
    EXPECT_EQ(progress.compiled, round == 0 ? 4u : 0u);
    EXPECT_EQ(progress.unstored, 4u) << round;
    EXPECT_EQ(progress.problem,
              "the cache is full; raise cache.max_size, or wait until leases end");
  }
  database.full = false;
  const BatchProgress progress = build();
  EXPECT_EQ(progress.compiled, 0u);
  EXPECT_EQ(progress.unstored, 0u);
  EXPECT_EQ(progress.problem, "");
  const BatchResults results = *full.Results(kId);
  for (size_t i = 0; i < results.size(); ++i) {
    const cache::Key key{
        .level = cache::Level::kSignature, .space = 0, .id = results.Row(i).signature};
    EXPECT_TRUE(database.rows.Get(key, {}).ok());
  }
  EXPECT_TRUE(full.Repeat(kId, {}).has_value());
}

TEST_F(BatchRepeat, CancelledBatch_IsLookedUp) {
  ASSERT_TRUE(batches.Start(kId, Request(false)).ok());
  ASSERT_TRUE(batches.Cancel(kId).ok());
  RunChunks();
  EXPECT_EQ(batches.Get(kId)->state, BatchState::kCancelled);
  EXPECT_FALSE(Repeats());
}

TEST_F(BatchRepeat, StoreThatCountsNoLosses_RepeatsNothing) {
  Batches uncounted(builder, store, queue, clock, {});
  ASSERT_TRUE(uncounted.Start(kId, Request(false)).ok());
  RunChunks();
  EXPECT_EQ(uncounted.Get(kId)->state, BatchState::kDone);
  EXPECT_FALSE(uncounted.Repeat(kId, {}).has_value());
}

}  // namespace
}  // namespace kiln::compile
