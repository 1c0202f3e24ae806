// SPDX-License-Identifier: MIT
// For tests of a batch's life: processes that have one store and its rows, one after another.
// Nothing runs by itself: chunks run when the test says so.
#pragma once

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

inline constexpr int kResults = 64;

// Six flags, all of them consulted: 64 variants, 64 results.
inline BatchRequest Request() {
  std::string text;
  std::string condition = "false";
  BatchProgram program;
  for (int i = 0; i < 6; ++i) {
    const std::string flag = "f" + std::to_string(i);
    text += "global " + flag + ": flag false;\n";
    condition += " || " + flag;
    program.space.axes.push_back({.name = flag, .all = true, .values = {}});
  }
  text += "conditional (" + condition + ") setting cull_mode = \"back\";\n";
  FromText(program, "wide", text, "meta");
  return BatchOf(std::move(program));
}

inline const Hash128 kId = HashBytes(AsBytes("the batch"));

// A daemon's life, as far as batches see it.
struct Process {
  Process(cache::BlobStore& store, cache::BatchRows& rows, jobs::CrashGuard* attempts = nullptr)
      : pool(store, uint64_t{16} << 20),
        builder(store, pool, clock),
        batches(builder, store, queue, clock, {.workers = 2, .rows = &rows, .attempts = attempts}) {
  }

  ~Process() {  // chunks that wait have to come back before the batches may go
    batches.Halt();
    RunChunks(100);
  }

  void Restore() {
    batches.Restore([](const Hash128& id, ByteView spec) -> Result<BatchRequest> {
      if (id != kId || AsText(spec) != "spec") {
        return Error{.code = ErrorCode::kDataLoss, .context = "another build", .reason = {}};
      }
      return Request();
    });
  }

  Result<Batches::StartResult> Start(bool detach, bool quorum = false,
                                     const std::string& starter = {}) {
    const ByteView spec = AsBytes("spec");
    BatchRequest request = Request();
    request.quorum = quorum;
    return batches.Start(
        kId, std::move(request),
        {.detach = detach, .spec = {spec.begin(), spec.end()}, .starter = starter});
  }

  // Runs up to so many chunks; how many there were.
  int RunChunks(int most) {
    int ran = 0;
    while (ran < most && queue.Status().waiting[static_cast<size_t>(jobs::Lane::kBatch)] != 0) {
      std::optional<jobs::DispatchedJob> job = queue.Claim(jobs::LaneChoice::kBoth);
      job->job.run({.stop = job->job.stop, .deadline = job->job.deadline});
      queue.Complete(job->id);
      ++ran;
    }
    return ran;
  }

  BatchSummary Now() { return *batches.Get(kId); }
  std::vector<BatchEvent> Events(uint64_t from = 0) { return *batches.Events(kId, from); }

  SystemClock clock;
  ProgramPool pool;
  CachedBuild builder;
  jobs::MemoryQueue queue{{.interactive = 4, .batch = 64}};
  Batches batches;
};

class BatchLife : public testing::Test {
 protected:
  cache::MemoryStore store{nullptr, nullptr, {.max_bytes = uint64_t{64} << 20}};
  cache::MemoryBatchRows rows;
};

inline std::string MessagesOf(Process& process) {
  std::string all;
  for (const BatchEvent& event : process.Events()) {
    all += event.kind == BatchEvent::Kind::kMessage ? event.text + "\n" : std::string();
  }
  return all;
}

}  // namespace kiln::compile
