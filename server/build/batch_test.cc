// SPDX-License-Identifier: MIT
// Batches over large spaces, from the request to the last event.
#include "server/build/batch.h"

#include <string>

#include <gtest/gtest.h>

#include "cache/memory_store.h"
#include "compiler/base/log.h"
#include "server/jobs/memory_queue.h"
#include "server/jobs/worker.h"

namespace kiln::build {
namespace {

constexpr int kFlags = 30;  // a thousand million combinations

class SilentLog final : public LogSink {
  void Take(const LogEntry&) override {}
};

class BatchTest : public testing::Test {
 protected:
  ~BatchTest() override {
    batches.CancelAll();
    queue.Close();
  }

  // Flags f0 to f29, all of them axes, of which the program consults the first `live`.
  static BatchRequest Request(int live) {
    std::string text;
    std::string condition = "false";
    BatchProgram program;
    for (int i = 0; i < kFlags; ++i) {
      const std::string flag = "f" + std::to_string(i);
      text += "global " + flag + ": flag false;\n";
      condition += i < live ? " || " + flag : "";
      program.space.axes.push_back({.name = flag, .all = true, .values = {}});
    }
    text += "conditional (" + condition + ") setting cull_mode = \"back\";\n";
    program.program.name = "wide";
    program.program.sources.push_back({.path = "wide.rpl",
                                       .digest = DigestOf(text),
                                       .text = std::make_shared<const std::string>(text)});
    program.targets.push_back({.name = "vk",
                               .target = target::MakeTarget(target::Environment::kVulkan11),
                               .metadata_only = true});
    BatchRequest request;
    request.project = "test";
    request.programs.push_back(std::move(program));
    return request;
  }

  // The events of a batch, when it is over.
  std::vector<BatchEvent> Run(const BatchRequest& request) {
    const Hash128 id = HashBytes(AsBytes(request.project));
    EXPECT_TRUE(batches.Start(id, request).ok());
    const Result<std::shared_ptr<void>> subscription = batches.Subscribe(id, [this] {
      const MutexLock lock(mutex);
      news = true;
      changed.NotifyAll();
    });
    for (;;) {
      const BatchState state = batches.Get(id)->state;
      if (state != BatchState::kQueued && state != BatchState::kRunning) {
        return *batches.Events(id, 0);
      }
      const MutexLock lock(mutex);
      while (!news) {
        changed.Wait(mutex);
      }
      news = false;
    }
  }

  SystemClock clock;
  SilentLog log;
  cache::MemoryStore store{nullptr, nullptr, {.max_bytes = uint64_t{64} << 20}};
  ProgramPool pool{store, uint64_t{64} << 20};
  CachedBuild builder{store, pool, clock};
  jobs::MemoryQueue queue{{.interactive = 4, .batch = 16}};
  jobs::Workers workers{{.both = 1, .express = 0}, queue, log};
  Batches batches{builder, store, queue, clock, {}};
  Mutex mutex;
  CondVar changed;
  bool news KILN_GUARDED_BY(mutex) = false;
};

TEST_F(BatchTest, ThousandMillionCombinationsOfTwelveLiveFlags_BuildsFourThousandResults) {
  const std::vector<BatchEvent> events = Run(Request(12));
  const BatchEvent& last = events.back();
  ASSERT_EQ(last.kind, BatchEvent::Kind::kFinal);
  EXPECT_EQ(last.state, BatchState::kDone);
  EXPECT_EQ(last.progress.results_done, 4096u);
  EXPECT_EQ(last.progress.compiled, 4096u);
  EXPECT_EQ(last.progress.variants_total, uint64_t{1} << kFlags);
  EXPECT_EQ(last.progress.variants_served, uint64_t{1} << kFlags);
  EXPECT_EQ(last.progress.unstored, 0u);
}

TEST_F(BatchTest, ThirtyLiveFlags_IsRefusedWithAxesToCut) {
  const std::vector<BatchEvent> events = Run(Request(kFlags));
  EXPECT_EQ(events.back().progress.results_done, 0u);
  std::string told;
  for (const BatchEvent& event : events) {
    told += event.text;
  }
  EXPECT_NE(told.find("1073741824 distinct results"), std::string::npos) << told;
  EXPECT_NE(told.find("cut axes, first 'f0' (2 values)"), std::string::npos) << told;
}

}  // namespace
}  // namespace kiln::build
