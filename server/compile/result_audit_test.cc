// SPDX-License-Identifier: MIT
// What is looked at behind an answer: a sample that keys choose, without a word to the asker.
#include "server/compile/result_audit.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"
#include "server/jobs/memory_queue.h"

namespace kiln::compile {
namespace {

// Reads `shade` only: two results, whose code differs in nothing.
constexpr const char* kText =
    "global shade: flag false;\n"
    "global idle: flag false;\n"
    "void v (void) { vertex_stage_output_position (f4 {0.0, 0.0, 0.0, 1.0}); }\n"
    "conditional (shade) setting cull_mode = \"back\";\n";

class Validator final : public worker::Runner {
 public:
  Result<worker::Answer> Run(const worker::Job& job, std::stop_token, Duration) override {
    EXPECT_TRUE(job.background);
    EXPECT_EQ(job.recipe, "val;env=vulkan1.1");
    ++runs;
    return worker::Answer{.kind = kind,
                          .bytes = {job.input.begin(), job.input.end()},
                          .report = kind == worker::AnswerKind::kMade ? "" : "id 7 is wrong"};
  }
  worker::AnswerKind kind = worker::AnswerKind::kMade;
  int runs = 0;
};

class Lines final : public LogSink {
 public:
  void Take(const LogEntry& entry) override { lines.push_back(FormatLogLine(entry)); }
  std::vector<std::string> lines;
};

class SecondLookTest : public testing::Test {
 protected:
  void Watch(ResultAudit::Options options) {
    look = std::make_unique<ResultAudit>(recipes, queue, clock, log, std::move(options));
    builder.OnBuilt([this](const FreshResult& built) { look->Note(built); });
  }

  std::shared_ptr<const PreparedProgram> Prepare() {
    const std::string text = kText;
    ProgramRequest request;
    request.name = "p";
    request.sources.push_back({.path = "p.rpl",
                               .digest = DigestOf(std::string_view(text)),
                               .text = std::make_shared<const std::string>(text)});
    request.entries.push_back({.stage = ir::Stage::kVertex, .function = "v"});
    const auto prepared = builder.Prepare(
        request, {.name = "vk", .target = target::MakeTarget(target::Environment::kVulkan11)}, {});
    EXPECT_TRUE(prepared.ok() && (*prepared)->ok());
    return *prepared;
  }

  Outcome Build(bool shade) {
    const resolve::OptionSetting setting{.name = "shade",
                                         .scope = {},
                                         .kind = ir::OptionKind::kFlag,
                                         .bits = shade ? 1u : 0u,
                                         .text = {}};
    return *builder.Build(*Prepare(), std::span(&setting, 1), {}, {});
  }

  // Runs what waits in the lane of batches.
  void Work() {
    while (queue.Status().waiting[static_cast<size_t>(jobs::Lane::kBatch)] != 0) {
      const std::optional<jobs::DispatchedJob> job = queue.Claim(jobs::LaneChoice::kBoth);
      job->job.run({});
      queue.Complete(job->id);
    }
  }

  SystemClock clock;
  Lines log;
  cache::MemoryStore store{nullptr, nullptr, {.max_bytes = uint64_t{1} << 20}};
  Validator validator;
  Recipes recipes{store, validator, clock};
  jobs::MemoryQueue queue{{.interactive = 4, .batch = 4}};
  ProgramPool pool{store, 1 << 20};
  CachedBuild builder{store, pool, clock, &recipes};
  std::unique_ptr<ResultAudit> look;
};

TEST(IsSampled, Percent_IsAShareThatTheIdAloneDecides) {
  std::vector<int> chosen(101);
  for (int i = 0; i < 10'000; ++i) {
    const std::string name = std::to_string(i);
    const Hash128 id = HashBytes(AsBytes(name));
    bool before = false;
    for (const uint32_t percent : {0u, 1u, 25u, 99u, 100u}) {
      const bool now = IsSampled(id, percent);
      EXPECT_TRUE(now || !before) << "a larger sample holds the smaller one";
      before = now;
      chosen[percent] += now ? 1 : 0;
    }
  }
  EXPECT_EQ(chosen[0], 0);
  EXPECT_NEAR(chosen[1], 100, 40);
  EXPECT_NEAR(chosen[25], 2500, 200);
  EXPECT_EQ(chosen[100], 10'000);
}

TEST_F(SecondLookTest, BuiltTwice_TheDirectPathMakesTheSame) {
  Watch({.twice_percent = 100});
  EXPECT_EQ(Build(false).kind, OutcomeKind::kOk);
  EXPECT_EQ(Build(true).kind, OutcomeKind::kOk);
  EXPECT_EQ(look->counters().rebuilt, 0u) << "not before the answer";
  Work();
  EXPECT_EQ(look->counters().rebuilt, 2u);
  EXPECT_EQ(look->counters().different, 0u);
  EXPECT_EQ(Build(true).artifact->origin, Origin::kMemory);
  Work();
  EXPECT_EQ(look->counters().rebuilt, 2u) << "a hit is not built";
  EXPECT_EQ(validator.runs, 0);
}

TEST_F(SecondLookTest, AnotherResult_IsToldAndChangesNoAnswer) {
  Watch({.twice_percent = 100});
  const auto prepared = Prepare();
  const auto values = resolve::CheckOptions(prepared->program(), {});
  const Outcome first = Build(false);
  Work();
  auto record = std::make_shared<cache::Record>();
  record->products = {{.name = "meta", .digest = DigestOf(std::string_view("other bytes"))}};
  const std::shared_ptr<const cache::Record> wrong = record;
  look->Note({.program = *prepared,
              .values = *values.value,
              .signature = first.artifact->signature,
              .record = wrong});
  Work();
  EXPECT_EQ(look->counters().different, 1u);
  ASSERT_EQ(log.lines.size(), 1u);
  EXPECT_NE(log.lines[0].find(first.artifact->signature.hex()), std::string::npos);
  EXPECT_NE(log.lines[0].find(wrong->products[0].digest.id.hex()), std::string::npos);
  EXPECT_NE(log.lines[0].find(first.artifact->metadata.id.hex()), std::string::npos);
  EXPECT_EQ(Build(false).artifact->metadata, first.artifact->metadata);
}

TEST_F(SecondLookTest, Modules_AreValidatedOncePerDigestAndRemembered) {
  Watch({.validate_percent = 100});
  const Outcome one = Build(false);
  const Outcome other = Build(true);
  ASSERT_EQ(one.artifact->code[0].digest, other.artifact->code[0].digest);
  Work();
  EXPECT_EQ(validator.runs, 1);
  EXPECT_EQ(look->counters().validated, 1u);
  Watch({.validate_percent = 100});  // another process: the record is there
  builder.Forget();
  (void)*builder.Build(*Prepare(), {}, {.known = KnownResult::kBuiltAgain}, {});
  Work();
  EXPECT_EQ(look->counters().validated, 1u);
  EXPECT_EQ(validator.runs, 1);
  EXPECT_EQ(look->counters().rebuilt, 0u);
}

TEST_F(SecondLookTest, InvalidModule_IsToldAndChangesNoAnswer) {
  for (const worker::AnswerKind kind :
       {worker::AnswerKind::kRejected, worker::AnswerKind::kPoison}) {
    validator.kind = kind;
    store.Clear();
    builder.Forget();
    log.lines.clear();
    int told = 0;
    Watch({.validate_percent = 100, .on_invalid = [&told] { ++told; }});
    const Outcome outcome = Build(false);
    EXPECT_EQ(outcome.kind, OutcomeKind::kOk);
    Work();
    EXPECT_EQ(look->counters().invalid, 1u);
    EXPECT_EQ(told, 1);
    ASSERT_EQ(log.lines.size(), 1u);
    EXPECT_NE(log.lines[0].find(outcome.artifact->code[0].digest.id.hex()), std::string::npos);
    EXPECT_NE(log.lines[0].find("id 7 is wrong"), std::string::npos);
  }
}

TEST_F(SecondLookTest, NoRoom_SkipsAndGoesOn) {
  Watch({.twice_percent = 100, .validate_percent = 100, .most_results = 1, .most_modules = 0});
  (void)Build(false);
  (void)Build(true);
  Work();
  EXPECT_EQ(look->counters().rebuilt, 1u);
  EXPECT_EQ(look->counters().validated, 0u);
  EXPECT_EQ(look->counters().skipped, 2u);  // a result, and the one module of both
  EXPECT_EQ(log.lines.size(), 1u);
  builder.Forget();
  (void)*builder.Build(*Prepare(), {}, {.known = KnownResult::kBuiltAgain}, {});
  Work();
  EXPECT_EQ(look->counters().rebuilt, 2u);
}

TEST_F(SecondLookTest, FullQueue_WaitsForTheNextResult) {
  Watch({.twice_percent = 100});
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(queue.Submit({.lane = jobs::Lane::kBatch, .run = [](const cache::Call&) {}}).ok());
  }
  (void)Build(false);
  Work();
  EXPECT_EQ(look->counters().rebuilt, 0u);
  (void)Build(true);
  Work();
  EXPECT_EQ(look->counters().rebuilt, 2u);
}

}  // namespace
}  // namespace kiln::compile
