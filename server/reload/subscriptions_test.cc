// SPDX-License-Identifier: MIT
// What pushes cost, and who waits for them; nothing is built here. What sessions do is tested over
// the real socket (tests/integration/server_watch_*).
#include "server/reload/subscriptions.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"
#include "compiler/base/test_cpu_time.h"
#include "server/jobs/memory_queue.h"

namespace kiln::reload {
namespace {

class SubscriptionsTest : public testing::Test {
 protected:
  static OpenRequest Source(size_t programs, size_t sources_of_each) {
    OpenRequest request{.principal = "owner", .project = "p", .workspace = "w"};
    request.wish.role = Role::kSource;
    request.programs.emplace();
    for (size_t i = 0; i < programs; ++i) {
      WatchedProgram program;
      program.program.program.name = "program" + std::to_string(i);
      for (size_t k = 0; k < sources_of_each; ++k) {
        program.program.program.sources.push_back(SourceOf(k, 1));
      }
      request.programs->push_back(std::move(program));
    }
    return request;
  }
  static compile::Source SourceOf(size_t number, uint64_t size) {
    return {.path = "materials/shared/source" + std::to_string(number),
            .digest = {.id = HashBytes({}), .size = size},
            .text = nullptr};
  }

  SystemClock clock;
  cache::MemoryStore store{nullptr, nullptr, {}};
  compile::ProgramPool pool{store, 1 << 20, {}, nullptr};
  compile::CachedBuild builder{store, pool, clock, nullptr, nullptr};
  cache::ExplainRing explains{nullptr, clock, {}};
  jobs::MemoryQueue queue{{}};
  Subscriptions all{builder, explains, queue, clock, {}};
};

// Of eight places a tenant finds four, all tenants six, the owner the rest: each hears which of
// these is at its end.
TEST_F(SubscriptionsTest, WithoutAPlace_SaysWhoseShareItIs) {
  Subscriptions few{builder, explains, queue, clock, {.max_sessions = 8, .max_subscribers = 1}};
  const struct {
    const char* tenant;
    size_t places;
    const char* says;  // then
  } rows[] = {
      {"a", 4, "watch sessions: tenant 'a' has its share, half of the 8 that the daemon allows"},
      {"b", 2, "watch sessions: tenants have their share together, three quarters of the 8 that"},
      {"", 2, "watch sessions: all 8 are taken that the daemon allows"},
  };
  std::vector<std::unique_ptr<Subscriptions::Stream>> held;
  for (const auto& row : rows) {
    OpenRequest request = Source(1, 1);
    request.tenant = request.principal = row.tenant;
    for (size_t i = 0; i < row.places; ++i) {
      request.project = std::to_string(i);
      auto stream = few.Open(request, [] {});
      ASSERT_TRUE(stream.ok()) << row.tenant << i << stream.error().context;
      held.push_back(std::move(*stream));
    }
    auto again = few.Open(request, [] {});  // the session is known
    ASSERT_FALSE(again.ok());
    EXPECT_TRUE(again.error().context.starts_with("watch subscribers: 1 clients watch"))
        << again.error().context;
    request.project = "one more";
    auto refused = few.Open(request, [] {});
    ASSERT_FALSE(refused.ok()) << row.tenant;
    EXPECT_TRUE(refused.error().context.starts_with(row.says)) << refused.error().context;
    EXPECT_NE(refused.error().context.find("(limits.watch_sessions)"), std::string::npos);
    EXPECT_EQ(refused.error().reason, "LIMIT_EXCEEDED");
  }
}

// Whoever asks for numbers must not wait for whoever holds the sessions: `wake` is called while
// they are held.
TEST_F(SubscriptionsTest, Status_IsToldInTheMiddleOfAPush) {
  Subscriptions::Status seen;
  auto stream = all.Open(Source(1, 1), [&] { seen = all.GetStatus(); });
  ASSERT_TRUE(stream.ok());
  EXPECT_EQ(all.GetStatus().sessions, 1u);
  EXPECT_EQ(all.GetStatus().subscribers, 1u);
  ASSERT_TRUE((*stream)->Push({.changed = {SourceOf(0, 2)}}).ok());
  EXPECT_EQ(seen.sessions, 1u);
  stream->reset();
  EXPECT_EQ(all.GetStatus().subscribers, 0u);
}

// 160,000 mentions of sources and 40,000 paths: a search for each pair takes a minute.
TEST_F(SubscriptionsTest, LargePush_CostsWhatItNames) {
  auto stream = all.Open(Source(20'000, 8), [] {});
  ASSERT_TRUE(stream.ok()) << stream.error().context;
  PushedChange change;
  for (size_t i = 0; i < 10'000; ++i) {
    change.changed.push_back(SourceOf(100 + i, 3));
    change.removed.push_back(SourceOf(50'000 + i, 3).path);
  }
  change.changed.resize(9'000);
  const Duration from = CpuOfThisThread();
  ASSERT_TRUE((*stream)->Push(std::move(change)).ok());
  EXPECT_LT(CpuOfThisThread() - from, std::chrono::seconds(5));
}

}  // namespace
}  // namespace kiln::reload
