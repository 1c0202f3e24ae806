// SPDX-License-Identifier: MIT
// Batches that are paused, cancelled and halted, and their bounds; what the next process makes of
// them is in batch_restart_test.cc.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "server/compile/batch/test_batch_life.h"
#include "server/compile/calling_store.h"

namespace kiln::compile {
namespace {

TEST_F(BatchLife, Paused_BuildsNothingUntilItIsResumed) {
  Process process(store, rows);
  ASSERT_TRUE(process.Start(false).ok());
  EXPECT_EQ(process.batches.Pause(kId)->state, BatchState::kPaused);
  process.RunChunks(100);
  EXPECT_EQ(process.Now().progress.results_done, 0u);
  EXPECT_EQ(process.Now().state, BatchState::kPaused);
  EXPECT_EQ(process.batches.Pause(kId)->state, BatchState::kPaused);  // again: the same
  EXPECT_NE(process.batches.Resume(kId)->state, BatchState::kPaused);
  process.RunChunks(100);
  EXPECT_EQ(process.Now().state, BatchState::kDone);
  EXPECT_EQ(process.Now().progress.results_done, uint64_t{kResults});
  EXPECT_EQ(process.Events().back().kind, BatchEvent::Kind::kFinal);
  EXPECT_EQ(process.batches.Pause(kId)->state, BatchState::kDone);
  EXPECT_EQ(process.batches.Resume(kId)->state, BatchState::kDone);
}

// Who joins needs no room, and what is over makes room: RoomForBatch has the rest.
TEST_F(BatchLife, WhatIsStoredOfBatches_IsBounded) {
  Process process(store, rows);
  Batches batches(process.builder, store, process.queue, process.clock, {.spec_bytes = 1000});
  struct Row {
    const char* name;
    const char* starter;
    size_t bytes;
    const char* reason;
  };
  const auto start = [&](const Row& row) {
    const auto started = batches.Start(HashBytes(AsBytes(row.name)), Request(),
                                       {.spec = Bytes(row.bytes), .starter = row.starter});
    EXPECT_EQ(started.ok() ? "" : started.error().reason, row.reason) << row.name;
  };
  for (const Row& row : {Row{"a1", "tenant:a", 500, ""}, Row{"a2", "tenant:a", 1, "QUOTA"},
                         Row{"b1", "tenant:b", 250, ""}, Row{"b2", "tenant:b", 1, "QUOTA"},
                         Row{"a1", "tenant:b", 500, ""}, Row{"o1", "owner", 250, ""},
                         Row{"o2", "owner", 1, "QUOTA"}}) {
    start(row);
  }
  process.RunChunks(1000);
  start({"a3", "tenant:a", 400, ""});
  EXPECT_FALSE(batches.Get(HashBytes(AsBytes("a1"))).ok()) << "it was over";
  EXPECT_TRUE(batches.Get(HashBytes(AsBytes("b1"))).ok()) << "nobody needs its room";
  batches.Halt();
  process.RunChunks(1000);
}

// Results stay in memory until their batch is forgotten, whatever its state.
TEST_F(BatchLife, ResultsInMemoryOfOnePrincipal_AreBounded) {
  Process process(store, rows);
  Batches batches(process.builder, store, process.queue, process.clock, {.held_results = kResults});
  const auto build = [&](const std::string& name) {
    const Hash128 id = HashBytes(AsBytes(name));
    EXPECT_TRUE(batches.Start(id, Request(), {.starter = "tenant:b"}).ok());
    process.RunChunks(1000);
    EXPECT_EQ(batches.Get(id)->state, BatchState::kDone) << name;
    return id;
  };
  // What is over makes room for the next one: it has more than half of all that is kept.
  const Hash128 first = build("first"), second = build("second");
  EXPECT_FALSE(batches.Get(first).ok());
  EXPECT_TRUE(batches.Get(second).ok());
  Batches fewer(process.builder, store, process.queue, process.clock,
                {.held_results = kResults - 1});
  const Hash128 id = HashBytes(AsBytes("c"));
  for (const char* const starter : {"owner", "tenant:c"}) {
    ASSERT_TRUE(fewer.Start(id, Request(), {.starter = starter}).ok());
    process.RunChunks(1000);
    const bool is_owner = std::string(starter) == "owner";
    EXPECT_EQ(fewer.Get(id)->state, is_owner ? BatchState::kDone : BatchState::kFailed);
    const std::vector<BatchEvent> events = *fewer.Events(id, 0);
    EXPECT_EQ(std::ranges::any_of(events,
                                  [](const BatchEvent& event) {
                                    return event.text.starts_with("the batches of tenant:c hold");
                                  }),
              !is_owner);
  }
  for (Batches* const all : {&batches, &fewer}) {
    all->Halt();
  }
  process.RunChunks(1000);
}

TEST_F(BatchLife, OfAnother_IsNotStopped) {
  const cache::Actor mine{.id = "tenant:a", .any = false}, other{.id = "tenant:b", .any = false};
  Process process(store, rows);
  ASSERT_TRUE(process.Start(false, false, mine.id).ok());
  for (const auto change : {&Batches::Pause, &Batches::Resume, &Batches::Cancel}) {
    const Result<BatchSummary> refused = (process.batches.*change)(kId, other);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kPermissionDenied);
    EXPECT_EQ(refused.error().reason, cache::kNotYours);
    EXPECT_NE(refused.error().context.find("tenant:a"), std::string::npos);
  }
  EXPECT_EQ(process.batches.Pause(kId, mine)->state, BatchState::kPaused);
  EXPECT_NE(MessagesOf(process).find("paused by tenant:a"), std::string::npos);
  EXPECT_EQ(process.Now().paused_by, mine.id);
  EXPECT_NE(process.batches.Resume(kId, mine)->state, BatchState::kPaused);
  EXPECT_NE(MessagesOf(process).find("resumed by tenant:a"), std::string::npos);
  EXPECT_EQ(process.Now().paused_by, "");
  process.RunChunks(100);
  EXPECT_EQ(process.Now().state, BatchState::kDone);
}

// Who starts what somebody else has paused waits for nobody, and nobody stops it under him.
TEST_F(BatchLife, JoinedWhilePaused_GoesOnAndBelongsToBoth) {
  const cache::Actor mine{.id = "tenant:a", .any = false}, other{.id = "tenant:b", .any = false};
  {
    Process process(store, rows);
    ASSERT_TRUE(process.Start(true, false, mine.id).ok());
    (void)process.batches.Pause(kId, mine);
    process.RunChunks(100);
    EXPECT_EQ(process.Now().state, BatchState::kPaused);
    ASSERT_TRUE(process.Start(true, false, other.id)->attached);
    EXPECT_NE(process.Now().state, BatchState::kPaused);
    EXPECT_NE(MessagesOf(process).find("resumed by tenant:b"), std::string::npos);
  }
  Process process(store, rows);  // both are in the row
  process.Restore();
  for (const cache::Actor& actor : {mine, other}) {
    EXPECT_EQ(process.batches.Pause(kId, actor).error().code, ErrorCode::kPermissionDenied);
    EXPECT_EQ(process.batches.Cancel(kId, actor).error().code, ErrorCode::kPermissionDenied);
    EXPECT_TRUE(process.batches.Resume(kId, actor).ok());
  }
  EXPECT_EQ(process.batches.Pause(kId)->state, BatchState::kPaused) << "the owner of the daemon";
  ASSERT_TRUE(process.Start(true, false, mine.id)->attached);
  process.RunChunks(100);
  EXPECT_EQ(process.Now().state, BatchState::kDone);
}

// A daemon that drains does not wait for a batch that counts: the next one counts.
TEST_F(BatchLife, HaltWhileItScans_StopsTheScanAndKeepsTheRow) {
  {
    CallingStore calling(store);
    Process process(calling, rows);
    calling.on_get = [&](const cache::Key&) { process.batches.Halt(); };  // it scans
    ASSERT_TRUE(process.Start(true).ok());
    EXPECT_EQ(process.RunChunks(100), 1);
    EXPECT_EQ(process.Now().progress.variants_total, 0u) << "it was not scanned";
    EXPECT_NE(process.Now().state, BatchState::kCancelled);
  }
  Process process(store, rows);
  process.Restore();
  process.RunChunks(100);
  EXPECT_EQ(process.Now().state, BatchState::kDone);
}

// Nor does CancelBatch.
TEST_F(BatchLife, CancelWhileItScans_EndsTheBatchThere) {
  CallingStore calling(store);
  Process process(calling, rows);
  calling.on_get = [&](const cache::Key&) { (void)process.batches.Cancel(kId); };
  ASSERT_TRUE(process.Start(true).ok());
  EXPECT_EQ(process.RunChunks(100), 1);
  EXPECT_EQ(process.Now().progress.variants_total, 0u) << "it was not scanned";
  EXPECT_EQ(process.Now().state, BatchState::kCancelled);
}

// A store with a fault of ours in it.
class FaultyStore final : public cache::BlobStore {
 public:
  Result<cache::Blob> Get(const cache::Key&, const cache::Call&) override { Break(); }
  Result<cache::PutResult> Put(std::span<const cache::Item>, cache::Durability,
                               const cache::Call&) override {
    Break();
  }
  Result<std::vector<cache::Key>> FindMissing(std::span<const cache::Key>,
                                              const cache::Call&) override {
    Break();
  }
  void Touch(std::span<const cache::Key>) override {}

 private:
  [[noreturn]] static void Break() { throw InternalError("planted"); }
};

TEST_F(BatchLife, InternalErrorOfAChunk_EndsTheBatch) {
  FaultyStore faulty;
  Process process(faulty, rows);
  ASSERT_TRUE(process.Start(false).ok());
  EXPECT_THROW(process.RunChunks(100), InternalError);
  EXPECT_EQ(process.Now().state, BatchState::kFailed);
  EXPECT_EQ(process.Events().back().kind, BatchEvent::Kind::kFinal);
}

// Says how often it was asked to wait for an upstream, which may not answer.
class QuorumStore final : public cache::BlobStore {
 public:
  QuorumStore(cache::BlobStore& below, bool answers) : below_(below), answers_(answers) {}
  Result<cache::Blob> Get(const cache::Key& key, const cache::Call& call) override {
    return below_.Get(key, call);
  }
  Result<cache::PutResult> Put(std::span<const cache::Item> items, cache::Durability durability,
                               const cache::Call& call) override {
    Result<cache::PutResult> stored = below_.Put(items, durability, call);
    durable += durability == cache::Durability::kDurable ? 1 : 0;
    if (durability != cache::Durability::kQuorum) {
      return stored;
    }
    ++waited;
    return answers_ ? stored
                    : Error{.code = ErrorCode::kUnavailable,
                            .context = "nobody is there",
                            .reason = std::string(cache::kUpstreamDown)};
  }
  Result<std::vector<cache::Key>> FindMissing(std::span<const cache::Key> keys,
                                              const cache::Call& call) override {
    return below_.FindMissing(keys, call);
  }
  void Touch(std::span<const cache::Key>) override {}

  int waited = 0;
  int durable = 0;

 private:
  cache::BlobStore& below_;
  const bool answers_;
};

TEST_F(BatchLife, Quorum_IsAskedForAndResultsWithoutItAreNotStored) {
  struct Row {
    bool quorum, answers;
    uint64_t unstored;
  };
  for (const Row& row :
       {Row{true, true, 0}, Row{true, false, uint64_t{kResults}}, Row{false, false, 0}}) {
    cache::MemoryStore below(nullptr, nullptr, {.max_bytes = uint64_t{64} << 20});
    QuorumStore upstream(below, row.answers);
    cache::MemoryBatchRows own_rows;
    Process process(upstream, own_rows);
    ASSERT_TRUE(process.Start(false, row.quorum).ok());
    process.RunChunks(100);
    EXPECT_EQ(process.Now().state, BatchState::kDone);
    EXPECT_EQ(process.Now().progress.results_done, uint64_t{kResults});
    EXPECT_EQ(process.Now().progress.unstored, row.unstored);
    EXPECT_EQ(upstream.waited > 0, row.quorum);
    EXPECT_EQ(upstream.durable > 0, !row.quorum);
  }
}

// What is known here the upstream may never have seen: it is asked for it as for what is new.
TEST_F(BatchLife, QuorumOfWhatIsKnown_IsAskedForToo) {
  for (const bool answers : {true, false}) {
    cache::MemoryStore below(nullptr, nullptr, {.max_bytes = uint64_t{64} << 20});
    QuorumStore upstream(below, answers);
    cache::MemoryBatchRows own_rows;
    Process process(upstream, own_rows);
    for (const bool quorum : {false, true, true}) {
      upstream.waited = 0;
      ASSERT_TRUE(process.Start(false, quorum).ok());
      process.RunChunks(100);
      EXPECT_EQ(process.Now().state, BatchState::kDone);
      EXPECT_EQ(process.Now().progress.unstored, quorum && !answers ? uint64_t{kResults} : 0u);
      EXPECT_EQ(upstream.waited > 0, quorum);
    }
  }
}

TEST_F(BatchLife, CancelledWhilePaused_Ends) {
  Process process(store, rows);
  ASSERT_TRUE(process.Start(false).ok());
  (void)process.batches.Pause(kId);
  process.RunChunks(100);
  EXPECT_EQ(process.batches.Cancel(kId)->state, BatchState::kCancelled);
  EXPECT_EQ(process.Events().back().state, BatchState::kCancelled);
  EXPECT_EQ(rows.Get(kId)->state, static_cast<uint32_t>(BatchState::kCancelled));
}

TEST_F(BatchLife, SeqThatIsGone_BeginsWithAFullProgress) {
  {
    Process first(store, rows);
    ASSERT_TRUE(first.Start(true).ok());
    first.batches.Halt();
    first.RunChunks(100);
  }
  Process second(store, rows);
  second.Restore();
  second.RunChunks(100);
  const std::vector<BatchEvent> events = second.Events(1);
  EXPECT_EQ(events.front().kind, BatchEvent::Kind::kProgress);
  EXPECT_EQ(events.front().progress.results_done, uint64_t{kResults});
  EXPECT_EQ(second.Events(~uint64_t{0}).size(), events.size());  // of nobody: from the start
}

TEST_F(BatchLife, Budget_EndsTheBatchWhereItIsUsedUp) {
  Process process(store, rows);
  BatchRequest request = Request();
  request.budget.output = 1;
  ASSERT_TRUE(process.batches.Start(kId, std::move(request)).ok());
  process.RunChunks(100);
  EXPECT_EQ(process.Now().state, BatchState::kFailed);
  EXPECT_TRUE(process.Now().progress.over_budget);
  EXPECT_LT(process.Now().progress.results_done, uint64_t{kResults});
}

TEST_F(BatchLife, Items_AreListedByKindWithWhatTheyServe) {
  Process process(store, rows);
  BatchRequest request = Request();
  request.programs[0].space.axes.resize(2);
  ASSERT_TRUE(process.batches.Start(kId, std::move(request)).ok());
  process.RunChunks(100);
  EXPECT_EQ(process.batches.Items(kId, {}, 0, 100)->items.size(), 4u);
  EXPECT_EQ(process.batches.Items(kId, {}, 3, 100)->items.size(), 1u);
  EXPECT_EQ(process.batches.Items(kId, {}, 1, 2)->items.size(), 2u);
  EXPECT_EQ(process.batches.Items(kId, {}, 1, 2)->in_all, 4u);
  EXPECT_EQ(process.batches.Items(kId, {}, 9, 2)->items.size(), 0u);
  EXPECT_EQ(process.batches.Items(kId, {.failed = true}, 0, 100)->items.size(), 0u);
  EXPECT_EQ(process.batches.Items(kId, {.slow = true}, 0, 100)->items.size(), 4u);
  EXPECT_EQ(process.batches.Items(kId, {.deduped = true}, 0, 100)->items.size(), 0u);
  EXPECT_FALSE(process.batches.Items(HashBytes(AsBytes("y")), {}, 0, 100).ok());
}

TEST_F(BatchLife, SumOfOrigins_IsTheNumberOfResults) {
  Process process(store, rows);
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(process.Start(true).ok());
    process.RunChunks(100);
    const BatchProgress progress = process.Now().progress;
    EXPECT_EQ(progress.hit_memory + progress.hit_local + progress.shared + progress.compiled,
              progress.results_done);
    EXPECT_EQ(progress.results_upper, uint64_t{kResults});
  }
}

}  // namespace
}  // namespace kiln::compile
