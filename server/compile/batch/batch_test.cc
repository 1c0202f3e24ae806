// SPDX-License-Identifier: MIT
// Batches over large spaces, from the request to the last event.
#include "server/compile/batch/batch.h"

#include <functional>
#include <map>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"
#include "compiler/base/log.h"
#include "server/compile/batch/batch_check.h"
#include "server/compile/batch/test_batch.h"
#include "server/jobs/memory_queue.h"
#include "server/jobs/worker.h"

namespace kiln::compile {
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
    FromText(program, "wide", text, "vk");
    return BatchOf(std::move(program));
  }

  // `flags` axes beside 'deep', of which each is consulted only where those before it are on: no
  // static look tells that, but there are no more than flags + 2 results.
  static BatchRequest Chain(int flags, uint64_t explore) {
    std::string text = "global deep: flag false;\n";
    std::string body = "x = 1.0;";
    for (int i = flags; i-- > 0;) {
      text += fmt::format("global f{}: flag false;\n", i);
      body = fmt::format("conditional (f{0}) {{ x = x + {0}.0; {1} }}", i, body);
    }
    std::vector<std::string> axes = {"deep"};
    for (int i = 0; i < flags; ++i) {
      axes.push_back("f" + std::to_string(i));
    }
    return Explored(text, "conditional (deep) { " + body + " }", axes, explore);
  }

  static BatchRequest Explored(const std::string& declarations, const std::string& body,
                               const std::vector<std::string>& axes, uint64_t explore) {
    const std::string text = declarations + "void main (void) { f1 x = 0.0; " + body + " }\n";
    BatchRequest request;
    request.project = "explored " + std::to_string(explore);
    request.budget.results = 10;
    request.explore = explore;
    BatchProgram& program = request.programs.emplace_back();
    for (const std::string& axis : axes) {
      program.space.axes.push_back({.name = axis, .all = true, .values = {}});
    }
    program.program.name = "explored";
    program.program.entries.push_back({.stage = ir::Stage::kFragment, .function = "main"});
    program.program.sources.push_back({.path = "explored.rpl",
                                       .digest = DigestOf(text),
                                       .text = std::make_shared<const std::string>(text)});
    program.targets.push_back(
        {.name = "vk", .target = target::MakeTarget(target::Environment::kVulkan11)});
    return request;
  }

  static std::string Told(const std::vector<BatchEvent>& events) {
    std::string told;
    for (const BatchEvent& event : events) {
      told += event.text;
    }
    return told;
  }

  // The signatures of all results of a batch and how many variants each serves.
  std::map<Hash128, uint64_t> Served(const BatchRequest& request) {
    std::map<Hash128, uint64_t> served;
    const Result<Batches::ItemPage> page =
        batches.Items(HashBytes(AsBytes(request.project)), {}, 0, SIZE_MAX);
    for (const std::shared_ptr<const BatchItem>& item : page.ok() ? page->items : BatchItems()) {
      if (item->outcome.artifact.has_value()) {
        served[item->outcome.artifact->signature] += item->served;
      }
    }
    return served;
  }

  // The events of a batch, when it is over.
  std::vector<BatchEvent> Run(const BatchRequest& request) {
    const Hash128 id = HashBytes(AsBytes(request.project));
    EXPECT_TRUE(batches.Start(id, request).ok());
    const Result<std::shared_ptr<void>> subscription =
        batches.Subscribe(id, Batches::Wakes::kYes, [this] {
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

constexpr int kChain = 20;  // 2^21 combinations, 22 results

TEST_F(BatchTest, OptionsThatOnlyBuildingStrips_AreRefusedUnlessExplored) {
  const BatchRequest refused = Chain(kChain, 0);
  const std::vector<BatchEvent> events = Run(refused);
  EXPECT_EQ(events.back().progress.results_done, 0u);
  EXPECT_NE(Told(events).find("2097152 distinct results"), std::string::npos) << Told(events);
  const Result<void> checked = CheckBatch(builder, store, refused, clock, {});
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().reason, "LIMIT_VARIANTS");
  EXPECT_TRUE(CheckBatch(builder, store, Chain(kChain, 100), clock, {}).ok());
}

TEST_F(BatchTest, Explored_ServesEveryVariantWithFewResults) {
  const BatchRequest request = Chain(kChain, kChain + 2);
  const BatchEvent last = Run(request).back();
  EXPECT_EQ(last.state, BatchState::kDone);
  EXPECT_EQ(last.progress.results_done, uint64_t{kChain} + 2);
  EXPECT_EQ(last.progress.compiled, uint64_t{kChain} + 2);
  EXPECT_EQ(last.progress.results_upper, uint64_t{1} << (kChain + 1));
  EXPECT_EQ(last.progress.variants_total, uint64_t{1} << (kChain + 1));
  EXPECT_EQ(last.progress.variants_served, uint64_t{1} << (kChain + 1));
  EXPECT_EQ(last.progress.programs_done, 1u);
  EXPECT_FALSE(last.progress.over_budget);
}

TEST_F(BatchTest, MoreResultsThanMayBeExplored_FailAndCanBeGoneOnWith) {
  const std::vector<BatchEvent> events = Run(Chain(kChain, kChain + 1));
  EXPECT_EQ(events.back().state, BatchState::kFailed);
  EXPECT_TRUE(events.back().progress.over_budget);
  EXPECT_NE(Told(events).find("more than 21 distinct results were found"), std::string::npos)
      << Told(events);
  const uint64_t before = events.back().progress.results_done;
  EXPECT_EQ(before, uint64_t{kChain} + 2);
  const BatchEvent last = Run(Chain(kChain, 100)).back();
  EXPECT_EQ(last.state, BatchState::kDone);
  EXPECT_EQ(last.progress.results_done, uint64_t{kChain} + 2);
  EXPECT_EQ(last.progress.compiled, 0u) << "what was built is found";
}

TEST_F(BatchTest, WithinTheBudget_NothingIsExplored) {
  const BatchEvent last = Run(Chain(2, 1)).back();  // 8 points, 4 results
  EXPECT_EQ(last.state, BatchState::kDone);
  EXPECT_EQ(last.progress.results_done, 4u);
  EXPECT_EQ(last.progress.results_upper, 8u);
}

// Random nests of conditions over seven flags, some of them excluded: exploring gives the results
// that building every point gives, each with as many variants.
TEST_F(BatchTest, RandomPrograms_ExploredAreAsListed) {
  constexpr int kSeeds = 40;
  constexpr uint32_t kRandomFlags = 7;
  uint64_t results = 0;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 random(seed);
    std::string declarations;
    std::vector<std::string> axes;
    for (uint32_t i = 0; i < kRandomFlags; ++i) {
      axes.push_back("f" + std::to_string(i));
      declarations += "global " + axes.back() + ": flag false;\n";
    }
    const std::function<std::string(int)> nest = [&](int depth) {
      std::string text = "x = x + " + std::to_string(random() % 3) + ".0; ";
      for (uint32_t i = random() % 3; depth > 0 && i > 0; --i) {
        const std::string flag = axes[random() % kRandomFlags];
        text += std::string("conditional (") + (random() % 2 == 0 ? "!" : "") + flag + ") { " +
                nest(depth - 1) + "} ";
      }
      return text;
    };
    BatchRequest listed = Explored(declarations, nest(4), axes, 0);
    listed.programs[0].space.exclude = {"f0 && f" + std::to_string(1 + random() % 6)};
    listed.project = "listed " + std::to_string(seed);
    listed.budget.results = 1000;
    BatchRequest explored = listed;
    explored.project = "explored " + std::to_string(seed);
    explored.budget.results = 1;
    explored.explore = 1000;
    ASSERT_EQ(Run(listed).back().state, BatchState::kDone) << seed;
    const BatchEvent last = Run(explored).back();
    ASSERT_EQ(last.state, BatchState::kDone) << seed;
    EXPECT_EQ(last.progress.variants_served, 96u) << seed;
    EXPECT_EQ(Served(explored), Served(listed)) << seed;
    EXPECT_EQ(last.progress.failed, 0u) << seed;
    results += last.progress.results_done;
  }
  EXPECT_GT(results, uint64_t{kSeeds} * 4);
}

TEST_F(BatchTest, Programs_AreBuiltInTheirOrder) {
  BatchRequest request = Chain(1, 0);
  request.programs.push_back(request.programs[0]);
  request.programs[1].program.name = "second";
  std::vector<std::string> done;
  for (const BatchEvent& event : Run(request)) {
    if (event.kind == BatchEvent::Kind::kProgramDone) {
      done.push_back(event.text);
    }
  }
  EXPECT_EQ(done, (std::vector<std::string>{"explored", "second"}));
}

}  // namespace
}  // namespace kiln::compile
