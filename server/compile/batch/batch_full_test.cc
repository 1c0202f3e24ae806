// SPDX-License-Identifier: MIT
// What is asked of batches while their rows find no room.
#include <atomic>
#include <optional>

#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"
#include "cache/kept_batch_rows.h"
#include "compiler/base/test_wait.h"
#include "server/compile/batch/batch.h"
#include "server/compile/batch/test_batch.h"
#include "server/jobs/memory_queue.h"

namespace kiln::compile {
namespace {

const Hash128 kId = HashBytes(AsBytes("the batch"));

// Rows of a disk that may be full.
class Disk final : public cache::BatchRows {
 public:
  Result<void> Put(const cache::BatchRow& row) override {
    if (full) {
      return Error{.code = ErrorCode::kFull, .context = "no space left", .reason = "CACHE_FULL"};
    }
    return rows.Put(row);
  }
  Result<cache::BatchRow> Get(const Hash128& id) override { return rows.Get(id); }
  Result<std::vector<cache::BatchRow>> List(const std::optional<Hash128>& after,
                                            uint32_t limit) override {
    return rows.List(after, limit);
  }
  Result<void> Remove(const Hash128& id) override { return rows.Remove(id); }
  BatchState State(const Hash128& id) { return static_cast<BatchState>(rows.Get(id)->state); }

  cache::MemoryBatchRows rows;
  std::atomic<bool> full = false;
};

class FullDisk : public testing::Test {
 protected:
  ~FullDisk() override {
    batches.Halt();
    RunChunks();
  }

  Result<Batches::StartResult> Start(bool detach) {
    BatchProgram program;
    FromText(program, "one", "void v (void) {}\n", "meta");
    const ByteView spec = AsBytes("spec");
    return batches.Start(kId, BatchOf(std::move(program)),
                         {.detach = detach, .spec = {spec.begin(), spec.end()}, .starter = {}});
  }
  void RunChunks() {
    while (queue.Status().waiting[static_cast<size_t>(jobs::Lane::kBatch)] != 0) {
      std::optional<jobs::DispatchedJob> job = queue.Claim(jobs::LaneChoice::kBoth);
      job->job.run({.stop = job->job.stop, .deadline = job->job.deadline});
      queue.Complete(job->id);
    }
  }
  template <class T>
  static void ExpectFull(const Result<T>& result) {
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kFull);
    EXPECT_EQ(result.error().reason, "CACHE_FULL");
  }

  Disk disk;
  cache::KeptBatchRows rows{disk, std::chrono::milliseconds(2)};
  cache::MemoryStore store{nullptr, nullptr, {.max_bytes = uint64_t{64} << 20}};
  SystemClock clock;
  ProgramPool pool{store, uint64_t{16} << 20};
  CachedBuild builder{store, pool, clock};
  jobs::MemoryQueue queue{{.interactive = 4, .batch = 64}};
  Batches batches{builder, store, queue, clock, {.workers = 2, .rows = &rows}};
};

TEST_F(FullDisk, WhatIsAskedOfABatch_IsDoneAndSaidNotToBeStored) {
  ASSERT_TRUE(Start(true).ok());
  disk.full = true;
  ExpectFull(batches.Pause(kId));
  EXPECT_EQ(batches.Get(kId)->state, BatchState::kPaused);
  ExpectFull(batches.Pause(kId));  // it is said as long as it is so
  ExpectFull(batches.Resume(kId));
  EXPECT_NE(batches.Get(kId)->state, BatchState::kPaused);
  ExpectFull(batches.Pause(kId));
  ExpectFull(batches.Cancel(kId));
  RunChunks();
  EXPECT_EQ(batches.Get(kId)->state, BatchState::kCancelled);
  EXPECT_NE(disk.State(kId), BatchState::kCancelled);
  disk.full = false;
  ASSERT_TRUE(WaitUntil([&] { return !rows.Waits(kId); }));
  EXPECT_EQ(disk.State(kId), BatchState::kCancelled) << "what the next process goes on with";
  EXPECT_TRUE(batches.Cancel(kId).ok());
}

TEST_F(FullDisk, DetachedBatch_IsRefusedAndOneThatIsWatchedIsNot) {
  disk.full = true;
  ExpectFull(Start(true));
  EXPECT_EQ(batches.Get(kId)->state, BatchState::kFailed);
  EXPECT_EQ(queue.Status().waiting[static_cast<size_t>(jobs::Lane::kBatch)], 0U);
  ASSERT_TRUE(Start(false).ok());
  RunChunks();
  EXPECT_NE(batches.Get(kId)->state, BatchState::kQueued);
}

}  // namespace
}  // namespace kiln::compile
