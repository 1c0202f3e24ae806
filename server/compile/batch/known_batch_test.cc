// SPDX-License-Identifier: MIT
// What a batch costs of which every result is known, in counts: a time would not tell on a busy
// machine that 16,384 results are walked by the compiler again because memory lost the first of
// them before it had the last.
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"
#include "server/compile/batch/batch.h"
#include "server/compile/batch/test_batch.h"
#include "server/jobs/memory_queue.h"

namespace kiln::compile {
namespace {

constexpr uint32_t kFlags = 14;
constexpr uint64_t kResults = uint64_t{1} << kFlags;

// Counts what it is asked.
class CountingStore final : public cache::BlobStore {
 public:
  explicit CountingStore(cache::BlobStore& below) : below_(below) {}

  Result<cache::Blob> Get(const cache::Key& key, const cache::Call& call) override {
    ++asked;
    return below_.Get(key, call);
  }
  Result<cache::PutResult> Put(std::span<const cache::Item> items, cache::Durability durability,
                               const cache::Call& call) override {
    ++asked;
    return below_.Put(items, durability, call);
  }
  Result<std::vector<cache::Key>> FindMissing(std::span<const cache::Key> keys,
                                              const cache::Call& call) override {
    ++asked;
    return below_.FindMissing(keys, call);
  }
  void Touch(std::span<const cache::Key> keys) override { below_.Touch(keys); }

  uint64_t asked = 0;

 private:
  cache::BlobStore& below_;
};

// A program whose every combination of flags is a result of its own.
BatchRequest Request() {
  std::string text;
  std::string body;
  BatchProgram program;
  for (uint32_t i = 0; i < kFlags; ++i) {
    const std::string flag = fmt::format("flag_{}", i);
    text += fmt::format("global {}: flag false;\n", flag);
    body += fmt::format("conditional ({}) {{ x = x + {}.0; }}\n", flag, i);
    program.space.axes.push_back({.name = flag, .all = true, .values = {}});
  }
  text += "void v (void) {\nf1 x = 0.0;\n" + body +
          "vertex_stage_output_position (f4 {x, 0.0, 0.0, 1.0});\n}\n";
  program.program.entries.push_back({.stage = ir::Stage::kVertex, .function = "v"});
  FromText(program, "large", text, "meta");
  return BatchOf(std::move(program));
}

class KnownBatch : public testing::Test {
 protected:
  BatchProgress Build(std::string_view name) {
    const Hash128 id = HashBytes(AsBytes(name));
    EXPECT_TRUE(batches.Start(id, Request()).ok());
    while (queue.Status().waiting[static_cast<size_t>(jobs::Lane::kBatch)] != 0) {
      std::optional<jobs::DispatchedJob> job = queue.Claim(jobs::LaneChoice::kBoth);
      job->job.run({.stop = job->job.stop, .deadline = job->job.deadline});
      queue.Complete(job->id);
    }
    EXPECT_EQ(batches.Get(id)->state, BatchState::kDone);
    return batches.Get(id)->progress;
  }

  cache::MemoryStore memory{nullptr, nullptr, {.max_bytes = uint64_t{256} << 20}};
  CountingStore store{memory};
  SystemClock clock;
  ProgramPool pool{store, uint64_t{16} << 20};
  CachedBuild builder{store, pool, clock};
  jobs::MemoryQueue queue{{.interactive = 4, .batch = 64}};
  Batches batches{builder, store, queue, clock, {}};
};

TEST_F(KnownBatch, AnotherBatchOfTheSame_AsksNeitherStoreNorCompilerForAnyResult) {
  ASSERT_EQ(Build("first").compiled, kResults);
  const uint64_t asked = store.asked;
  const uint64_t walked = builder.counters().walked.load();
  const BatchProgress again = Build("second");
  EXPECT_EQ(again.hit_memory, kResults);
  EXPECT_EQ(again.compiled, 0u);
  EXPECT_EQ(builder.counters().walked.load(), walked);
  EXPECT_EQ(store.asked, asked);
}

// A new process finds each by one mask: its record is one read, and one look for what it names.
TEST_F(KnownBatch, OfAnEarlierProcess_CostsTwoQuestionsAResult) {
  ASSERT_EQ(Build("first").compiled, kResults);
  builder.Forget();
  const uint64_t asked = store.asked;
  const uint64_t walked = builder.counters().walked.load();
  const BatchProgress again = Build("second");
  EXPECT_EQ(again.hit_local, kResults);
  EXPECT_EQ(again.compiled, 0u);
  EXPECT_EQ(builder.counters().walked.load(), walked);
  constexpr uint64_t kOfTheProgram = 16;  // its module and masks
  EXPECT_LE(store.asked - asked, 2 * kResults + kOfTheProgram);
}

}  // namespace
}  // namespace kiln::compile
