// SPDX-License-Identifier: MIT
// Who computes a variant may leave: the work ends with the last of those who want it.
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"
#include "compiler/base/test_directory.h"
#include "server/compile/cached_build.h"
#include "server/compile/calling_store.h"
#include "server/jobs/crash_guard.h"
#include "server/jobs/job.h"

namespace kiln::compile {
namespace {

class CachedFlight : public testing::Test {
 protected:
  CachedFlight() {
    const std::string text =
        "void v (void) { vertex_stage_output_position (f4 {0.0, 0.0, 0.0, 1.0}); }\n";
    ProgramRequest request;
    request.name = "p";
    request.sources.push_back({.path = "p.rpl",
                               .digest = DigestOf(text),
                               .text = std::make_shared<const std::string>(text)});
    request.entries.push_back({.stage = ir::Stage::kVertex, .function = "v"});
    program = *builder.Prepare(
        request, {.name = "vk", .target = target::MakeTarget(target::Environment::kVulkan11)}, {});
  }

  // Once the first caller has specialised the variant and is about to build it.
  void WhenItIsUnderWay(const std::function<void()>& act) {
    store.on_get = [this, act](const cache::Key& key) {
      if (key.level == cache::Level::kSignature && !began_.exchange(true)) {
        act();
      }
    };
  }

  Result<Outcome> Build(const cache::Call& call = {}) {
    return builder.Build(*program, {}, {}, call);
  }

  SystemClock clock;
  cache::MemoryStore memory{nullptr, nullptr, {}};
  CallingStore store{memory};
  ProgramPool pool{store, 1 << 20};
  CachedBuild builder{store, pool, clock};
  std::shared_ptr<const PreparedProgram> program;

 private:
  std::atomic<bool> began_ = false;
};

TEST_F(CachedFlight, OnlyCallerLeaves_NothingIsBuilt) {
  std::stop_source stop;
  WhenItIsUnderWay([&] { stop.request_stop(); });
  const Result<Outcome> outcome = Build({.stop = stop.get_token()});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(builder.counters().compiled, 0u);
  EXPECT_TRUE(Build().ok()) << "whoever comes later begins anew";
  EXPECT_EQ(builder.counters().compiled, 1u);
}

TEST_F(CachedFlight, FirstOfTwoLeaves_TheOtherGetsTheResult) {
  std::stop_source stop;
  std::optional<Result<Outcome>> of_other;
  std::thread other;
  WhenItIsUnderWay([&] {
    other = std::thread([&] { of_other.emplace(Build()); });
    while (builder.merged() == 0) {
      std::this_thread::yield();
    }
    stop.request_stop();
  });
  (void)Build({.stop = stop.get_token()});
  other.join();
  ASSERT_TRUE(of_other->ok()) << of_other->error().context;
  EXPECT_EQ((*of_other)->kind, OutcomeKind::kOk);
  EXPECT_EQ(builder.counters().compiled, 1u) << "and it was built once";
}

TEST_F(CachedFlight, CallerThatHasLeftBefore_StartsNothing) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(Build({.stop = stop.get_token()}).error().code, ErrorCode::kCancelled);
  const cache::Call late{.stop = {}, .deadline = clock.Monotonic()};
  EXPECT_EQ(Build(late).error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(builder.counters().walked, 0u);
}

// A program whose variant takes as much time as a test says, once it is about to be built.
class CachedSlowness : public testing::Test {
 protected:
  CachedSlowness() {
    std::string text =
        "void v (void) { vertex_stage_output_position (f4 {0.0, 0.0, 0.0, 1.0}); }\n";
    for (int i = 0; i < 64; ++i) {  // the clock is looked at now and then
      text += "set_pass sampler s" + std::to_string(i) + ";\n";
    }
    store.on_get = [this](const cache::Key& key) {
      if (key.level == cache::Level::kSignature) {
        clock.Work(takes);
      }
    };
    ProgramRequest request;
    request.name = "p";
    request.sources.push_back({.path = "p.rpl",
                               .digest = DigestOf(text),
                               .text = std::make_shared<const std::string>(text)});
    request.entries.push_back({.stage = ir::Stage::kVertex, .function = "v"});
    program = *builder.Prepare(
        request, {.name = "vk", .target = target::MakeTarget(target::Environment::kVulkan11)}, {});
  }

  Result<Outcome> Build(const BuildOptions& how = {}) {
    return builder.Build(*program, {}, how, {});
  }

  FakeClock clock;
  Duration takes = Duration::zero();
  TestDirectory folder;
  cache::MemoryStore memory{nullptr, nullptr, {}};
  CallingStore store{memory};
  ProgramPool pool{store, 1 << 20};
  std::unique_ptr<jobs::CrashGuard> attempts =
      *jobs::CrashGuard::Open(folder.path().string() + "/attempts", /*now_s=*/1, /*keep_s=*/100);
  CachedBuild builder{store, pool, clock, nullptr, attempts.get()};
  std::shared_ptr<const PreparedProgram> program;
};

TEST_F(CachedSlowness, AsMuchAsAJobMay_IsBuilt) {
  takes = jobs::kJobCpu;
  EXPECT_TRUE(Build().ok());
}

TEST_F(CachedSlowness, MoreThanAJobMay_IsRefusedTwiceAndThenPoison) {
  takes = jobs::kJobCpu + std::chrono::milliseconds(1);
  for (const char* time : {"first", "second"}) {
    const Result<Outcome> refused = Build();
    ASSERT_FALSE(refused.ok()) << time;
    EXPECT_EQ(refused.error().code, ErrorCode::kResourceExhausted);
    EXPECT_EQ(refused.error().context, "cpu of a job: 10001 exceeds the limit of 10000");
  }
  for (const char* time : {"third", "fourth"}) {
    const Result<Outcome> poison = Build();
    ASSERT_TRUE(poison.ok()) << time;
    EXPECT_EQ(poison->kind, OutcomeKind::kPoison);
    ASSERT_EQ(poison->diagnostics.size(), 1u);
    EXPECT_EQ(poison->diagnostics[0].code, "INPUT_POISON");
  }
  EXPECT_EQ(builder.counters().compiled, 0u);
  takes = Duration::zero();
  EXPECT_EQ(Build()->kind, OutcomeKind::kPoison) << "nobody tries it again";
  EXPECT_EQ(Build({.failed = KnownFailure::kTriedAgain})->kind, OutcomeKind::kOk);
  EXPECT_EQ(Build()->kind, OutcomeKind::kOk);
}

}  // namespace
}  // namespace kiln::compile
