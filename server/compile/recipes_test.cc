// SPDX-License-Identifier: MIT
// Recipes of targets: once per module, kept under keys of their own, refusals and deaths included.
#include "server/compile/recipes.h"

#include <atomic>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"

namespace kiln::compile {
namespace {

// Appends the recipe to what it gets.
class FakeRunner final : public worker::Runner {
 public:
  Result<worker::Answer> Run(const worker::Job& job, std::stop_token, Duration) override {
    ++runs;
    if (job.recipe.find("poison") != std::string::npos) {
      return worker::Answer{
          .kind = worker::AnswerKind::kPoison, .bytes = {}, .report = "three died"};
    }
    if (job.recipe.find("quote") != std::string::npos) {
      return worker::Answer{.kind = worker::AnswerKind::kRejected,
                            .bytes = {},
                            .report = "bad name \xff\nof \xc3(, \xc3\xbc"};
    }
    if (job.recipe.find("refuse") != std::string::npos) {
      return worker::Answer{
          .kind = worker::AnswerKind::kRejected, .bytes = {}, .report = "bad id 7\nmore"};
    }
    std::string made = std::string(AsText(job.input)) + "+" + job.recipe;
    made.resize(size.value_or(made.size()));
    const ByteView bytes = AsBytes(made);
    return worker::Answer{.kind = worker::AnswerKind::kMade,
                          .bytes = {bytes.begin(), bytes.end()},
                          .report = {},
                          .cpu = std::chrono::milliseconds(7)};
  }
  std::atomic<int> runs{0};
  std::optional<size_t> size;  // of what it makes
};

class RecipesTest : public testing::Test {
 protected:
  // An outcome with one module per text, fresh.
  static Outcome OutcomeOf(const std::vector<std::string>& modules) {
    Outcome outcome;
    Artifact artifact;
    artifact.target = "vk";
    artifact.signature = HashBytes(AsBytes(modules[0]));
    const auto add = [&](const std::string& text) {
      const Digest digest = DigestOf(text);
      outcome.fresh.push_back({.digest = digest, .blob = cache::CopiedBlob(AsBytes(text))});
      return digest;
    };
    artifact.metadata = add("meta");
    const ir::Stage stages[] = {ir::Stage::kVertex, ir::Stage::kFragment};
    for (size_t i = 0; i < modules.size(); ++i) {
      artifact.code.push_back({.stage = stages[i], .digest = add(modules[i])});
    }
    outcome.artifact = std::move(artifact);
    return outcome;
  }

  static NamedTarget Target(std::vector<std::string> recipes) {
    return {.name = "vk",
            .target = target::MakeTarget(target::Environment::kVulkan11),
            .recipes = std::move(recipes)};
  }

  std::string TextOf(const Digest& digest) {
    return std::string(AsText(
        store.Get({.level = cache::Level::kContent, .space = 0, .id = digest.id}, {})->bytes));
  }

  SystemClock clock;
  cache::MemoryStore store{nullptr, nullptr, {.max_bytes = uint64_t{1} << 20}};
  FakeRunner runner;
  Recipes recipes{store, runner, clock};
};

TEST_F(RecipesTest, Chain_RunsInOrderPerModule) {
  const Result<Outcome> made =
      recipes.Apply(OutcomeOf({"v", "f"}), Target({"opt", "cross;to=x"}), {}, {});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(runner.runs, 4);
  EXPECT_EQ(TextOf(made->artifact->code[0].digest), "v+opt+cross;to=x");
  EXPECT_EQ(TextOf(made->artifact->code[1].digest), "f+opt+cross;to=x");
  EXPECT_TRUE(made->optimised);
  EXPECT_FALSE(made->validated);
  EXPECT_EQ(made->artifact->origin, Origin::kCompiled);
}

TEST_F(RecipesTest, EqualModules_RunOnceWhateverTheirVariant) {
  ASSERT_TRUE(recipes.Apply(OutcomeOf({"v", "f"}), Target({"opt"}), {}, {}).ok());
  ASSERT_TRUE(recipes.Apply(OutcomeOf({"v", "g"}), Target({"opt"}), {}, {}).ok());
  EXPECT_EQ(runner.runs, 3);
}

// What a run waits for is no cost of its result: a batch has a budget of it, and what was dear
// stays in the cache for longer.
TEST_F(RecipesTest, Cost_IsWhatTheProcessUsed) {
  const Result<Outcome> added = recipes.Apply(OutcomeOf({"v", "f"}), Target({"opt"}), {}, {});
  ASSERT_TRUE(added.ok());
  EXPECT_EQ(added->artifact->cpu_us, 14000u);
}

TEST_F(RecipesTest, NextProcess_FindsResultsInTheStore) {
  const Result<Outcome> first = recipes.Apply(OutcomeOf({"v"}), Target({"opt"}), {}, {});
  Recipes next(store, runner, clock);
  const Result<Outcome> again =
      next.Apply(OutcomeOf({"v"}), Target({"opt"}), {.may_run = false}, {});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(runner.runs, 1);
  EXPECT_EQ(again->artifact->signature, first->artifact->signature);
  EXPECT_EQ(again->artifact->code[0].digest, first->artifact->code[0].digest);
}

TEST_F(RecipesTest, Signature_TellsChainsApartAndIsARecord) {
  const Outcome plain = OutcomeOf({"v"});
  const Result<Outcome> opt = recipes.Apply(plain, Target({"opt"}), {}, {});
  const Result<Outcome> val = recipes.Apply(plain, Target({"val"}), {}, {});
  EXPECT_NE(opt->artifact->signature, plain.artifact->signature);
  EXPECT_NE(opt->artifact->signature, val->artifact->signature);
  const auto row = store.Get(
      {.level = cache::Level::kSignature, .space = 0, .id = opt->artifact->signature}, {});
  EXPECT_TRUE(row.ok());
}

TEST_F(RecipesTest, ResultOfKnownStepsOrWithoutModules_IsARecordToo) {
  ASSERT_TRUE(recipes.Apply(OutcomeOf({"v"}), Target({"opt"}), {}, {}).ok());
  Outcome same_module = OutcomeOf({"v"}), no_module = OutcomeOf({"v"});
  same_module.artifact->signature = HashBytes(AsBytes("another"));
  no_module.artifact->signature = HashBytes(AsBytes("a third"));
  no_module.artifact->code.clear();
  for (const Outcome& plain : {same_module, no_module}) {
    const Result<Outcome> made = recipes.Apply(plain, Target({"opt"}), {}, {});
    ASSERT_TRUE(made.ok());
    EXPECT_EQ(runner.runs, 1);
    EXPECT_TRUE(
        store
            .Get({.level = cache::Level::kSignature, .space = 0, .id = made->artifact->signature},
                 {})
            .ok());
  }
}

TEST_F(RecipesTest, NoRecipes_LeaveTheOutcomeAlone) {
  const Outcome plain = OutcomeOf({"v"});
  const Result<Outcome> same = recipes.Apply(plain, Target({}), {}, {});
  EXPECT_EQ(same->artifact->signature, plain.artifact->signature);
  EXPECT_EQ(runner.runs, 0);
}

TEST_F(RecipesTest, Refusal_IsASourceErrorThatIsRemembered) {
  for (const bool remembered : {false, true}) {
    const Result<Outcome> made = recipes.Apply(OutcomeOf({"v"}), Target({"val;refuse"}), {}, {});
    ASSERT_TRUE(made.ok());
    EXPECT_EQ(made->kind, OutcomeKind::kSourceError);
    ASSERT_EQ(made->diagnostics.size(), 1u);
    EXPECT_EQ(made->diagnostics[0].message, "recipe 'val;refuse' of the vertex module: bad id 7");
    EXPECT_EQ(made->from_negative_cache, remembered);
  }
  EXPECT_EQ(runner.runs, 1);
  (void)recipes.Apply(OutcomeOf({"v"}), Target({"val;refuse"}), {.retry_failed = true}, {});
  EXPECT_EQ(runner.runs, 2);
}

TEST_F(RecipesTest, ReportThatIsNoUtf8_IsSpelledInMessageAndNotes) {
  for (int round = 0; round < 2; ++round) {  // then from what is remembered
    const Result<Outcome> made = recipes.Apply(OutcomeOf({"v"}), Target({"val;quote"}), {}, {});
    ASSERT_TRUE(made.ok());
    ASSERT_EQ(made->diagnostics.size(), 1u);
    EXPECT_EQ(made->diagnostics[0].message,
              "recipe 'val;quote' of the vertex module: bad name \\xff");
    ASSERT_EQ(made->diagnostics[0].notes.size(), 1u);
    EXPECT_EQ(made->diagnostics[0].notes[0], "note: of \\xc3(, \xc3\xbc");
  }
}

TEST_F(RecipesTest, OutputThatIsTooLarge_IsRefused) {
  constexpr size_t kMost = size_t{16} << 20;
  for (const size_t size : {kMost - 1, kMost}) {
    runner.size = size;
    const std::string input = "v" + std::to_string(size);
    const Result<Outcome> made = recipes.Apply(OutcomeOf({input}), Target({"opt"}), {}, {});
    ASSERT_TRUE(made.ok());
    EXPECT_EQ(made->kind, OutcomeKind::kOk) << size;
  }
  runner.size = kMost + 1;
  const Result<Outcome> made = recipes.Apply(OutcomeOf({"v"}), Target({"opt"}), {}, {});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->kind, OutcomeKind::kSourceError);
  ASSERT_EQ(made->diagnostics.size(), 1u);
  EXPECT_EQ(made->diagnostics[0].message,
            "recipe 'opt' of the vertex module: output of 16777217 bytes, the limit is 16777216");
}

TEST_F(RecipesTest, Poison_IsPoison) {
  const Result<Outcome> made = recipes.Apply(OutcomeOf({"v"}), Target({"opt;poison"}), {}, {});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->kind, OutcomeKind::kPoison);
  EXPECT_FALSE(made->artifact.has_value());
  EXPECT_EQ(recipes.counters().poisoned, 1u);
}

TEST_F(RecipesTest, UnknownResult_IsNotMadeWhereNothingMayRun) {
  const Result<Outcome> made =
      recipes.Apply(OutcomeOf({"v"}), Target({"opt"}), {.may_run = false}, {});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().reason, "NOT_CACHED");
}

}  // namespace
}  // namespace kiln::compile
