// SPDX-License-Identifier: MIT
// Steps that work on finished modules: validation, optimisation, translation (spec/cache 2.4.6,
// 2.4.7). A step is known by digest of its input, text and tool, so it runs once for all variants
// whose module is the same, in this process or any before. Threads meet in `flights_`: one runs the
// step in a worker process, the others wait.
#include "server/compile/recipes.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "cache/key.h"
#include "compiler/base/language_limits.h"
#include "compiler/base/printable.h"
#include "compiler/diag/quoted.h"
#include "compiler/ir/enum_names.h"
#include "compiler/recipe/recipe.h"
#include "server/compile/product_list.h"

namespace kiln::compile {
namespace {

constexpr uint32_t kSpace = 0;
// The ranks of callers that wait for one run of a recipe.
constexpr uint8_t kBackground = 0;
constexpr uint8_t kWaitedFor = 1;
constexpr size_t kMaxReport = 4096;  // bytes of what a tool says that are shown
constexpr char kRefused[] = "RECIPE_REFUSED";
constexpr char kPoisoned[] = "RECIPE_POISON";

// Of what a recipe makes, SPIR-V or text. Nobody may choose another: it is in no key.
// See spec/daemon 10
constexpr size_t kMaxOutput = LanguageLimits{}.spirv_bytes;

// What is too large is refused like a module that the recipe does not take.
worker::Answer Bounded(worker::Answer answer) {
  if (answer.kind != worker::AnswerKind::kMade || answer.bytes.size() <= kMaxOutput) {
    return answer;
  }
  return {.kind = worker::AnswerKind::kRejected,
          .bytes = {},
          .report =
              fmt::format("output of {} bytes, the limit is {}", answer.bytes.size(), kMaxOutput)};
}

// Recipes of a target as one text, which is part of the signature of its results.
std::string Chain(const NamedTarget& target) {
  std::string chain;
  for (const std::string& recipe : target.recipes) {
    chain += recipe + "\n";
  }
  return chain;
}

// The outcome of a module that a recipe refuses, or that ended several worker processes.
Outcome Failed(const Outcome& from, const std::string& recipe, const std::string& stage,
               bool poison, const std::string& report) {
  Outcome outcome;
  outcome.kind = poison ? OutcomeKind::kPoison : OutcomeKind::kSourceError;
  outcome.diagnostics = from.diagnostics;
  PlacedDiagnostic diagnostic;
  diagnostic.code = poison ? kPoisoned : kRefused;
  diagnostic.name = poison ? "recipe-poison" : "recipe-refused";
  // Tools quote names of the module, which are any bytes; a reply has UTF-8 only.
  const std::string said = Shortened(WellFormed(report), kMaxReport);
  diagnostic.message = fmt::format("recipe '{}' of the {} module: {}", recipe, stage,
                                   said.substr(0, said.find('\n')));
  if (const size_t more = said.find('\n'); more != std::string::npos) {
    diagnostic.notes.push_back("note: " + said.substr(more + 1));
  }
  outcome.diagnostics.push_back(std::move(diagnostic));
  return outcome;
}

}  // namespace

// The fingerprint of the tools is in every key of a recipe, so an update of a tool makes its
// results anew (spec/cache 2.5.1).
Recipes::Recipes(cache::BlobStore& store, worker::Runner& runner, Clock& clock)
    : store_(store),
      runner_(runner),
      clock_(clock),
      tool_(recipe::ToolFingerprint()),
      flights_(clock) {}

// A module, with its words if a caller has them at hand.
Result<cache::Blob> Recipes::Input(const Digest& digest, const Outcome& outcome,
                                   const cache::Call& call) {
  for (const FreshBlob& fresh : outcome.fresh) {
    if (fresh.digest == digest) {
      return fresh.blob;
    }
  }
  return store_.Get(cache::ContentKey(digest), call);
}

// A step that is known by its key: from memory, else from its record. A record of a success is
// taken only while its module is there; a failure has its report as content.
Recipes::StepPtr Recipes::Known(const Hash128& key, const cache::Call& call) {
  if (const std::optional<StepPtr> found =
          recent_.Find(key, call.may_write ? Steps::Use::kNoted : Steps::Use::kUnseen)) {
    return *found;
  }
  const Result<cache::Blob> row =
      store_.Get({.level = cache::Level::kRecipe, .space = kSpace, .id = key}, call);
  if (!row.ok()) {
    return nullptr;
  }
  const Result<cache::Record> record = cache::DecodeRecord(row->bytes);
  if (!record.ok()) {
    return nullptr;
  }
  auto step = std::make_shared<Step>();
  step->kind = record->kind;
  step->cpu_us = record->cpu_us;
  step->known = true;
  const Digest* product = record->Find(step->kind == cache::RecordKind::kOk ? "code" : "report");
  if (product == nullptr) {
    return nullptr;
  }
  if (step->kind == cache::RecordKind::kOk) {
    // Only whether it is there is asked: the bytes may be megabytes, and the next recipe or the
    // reader fetches them.
    const std::array asked{cache::ContentKey(*product)};
    const Result<std::vector<cache::Key>> missing = store_.FindMissing(asked, call);
    if (!missing.ok() || !missing->empty()) {
      return nullptr;  // evicted: made again
    }
    step->output = *product;
  } else {
    const Result<cache::Blob> report = store_.Get(cache::ContentKey(*product), call);
    if (!report.ok()) {
      return nullptr;
    }
    step->report = std::string(AsText(report->bytes));
  }
  if (call.may_write) {
    Remember(key, step);
  }
  return step;
}

// By what it costs in memory, which is mostly the report.
void Recipes::Remember(const Hash128& key, const StepPtr& step) {
  recent_.Put(key, step, sizeof(Step) + step->report.size());
}

// By the beginning of the name: val, opt and cross are families of recipes with arguments behind
// them.
void Recipes::Count(const Step& step, const std::string& recipe) {
  counters_.validated += recipe.starts_with("val") ? 1 : 0;
  counters_.optimised += recipe.starts_with("opt") ? 1 : 0;
  counters_.translated += recipe.starts_with("cross") ? 1 : 0;
  counters_.refused += step.kind == cache::RecordKind::kSourceError ? 1 : 0;
  counters_.poisoned += step.kind == cache::RecordKind::kPoison ? 1 : 0;
}

// Runs in a worker process: these are tools that were not written for kiln, and a module may make
// them crash.
Result<Recipes::StepPtr> Recipes::Make(const RecipeRequest& asked, const Hash128& key,
                                       const Outcome& outcome, const RunOptions& how,
                                       const std::function<bool()>& urgent,
                                       const cache::Call& call) {
  KILN_TRY(const cache::Blob input, Input(asked.input, outcome, call));
  KILN_TRY(worker::Answer answer, runner_.Run({.environment = asked.environment,
                                               .recipe = asked.recipe,
                                               .input = input.bytes,
                                               .background = how.background,
                                               .urgent = urgent},
                                              call.stop, call.deadline));
  answer = Bounded(std::move(answer));
  auto step = std::make_shared<Step>();
  step->kind = answer.kind == worker::AnswerKind::kMade       ? cache::RecordKind::kOk
               : answer.kind == worker::AnswerKind::kRejected ? cache::RecordKind::kSourceError
                                                              : cache::RecordKind::kPoison;
  // Not the time that passed: a job waits for a free process, and one of a batch is stopped while
  // somebody else is in a hurry.
  step->cpu_us = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(answer.cpu).count());
  const bool ok = step->kind == cache::RecordKind::kOk;
  step->report = std::move(answer.report);
  // A refusal has its report as product, so whoever asks again is told the same without another
  // run.
  const ByteView product = ok ? ByteView(answer.bytes) : AsBytes(step->report);
  const Digest digest = DigestOf(product);
  const cache::Item content = cache::ContentItem(digest, cache::CopiedBlob(product));
  cache::Record record{.kind = step->kind,
                       .products = {{.name = ok ? "code" : "report", .digest = digest}},
                       .live_options = {},
                       .layout_hash = {},
                       .state_id = {},
                       .cpu_us = step->cpu_us,
                       .limits = {},
                       .build_id = {}};
  if (ok) {
    step->output = digest;
    step->fresh = FreshBlob{.digest = digest, .blob = content.value};
  }
  // Content is put at once, and the row with those of the batch if there is one. See spec/cache 4.4
  std::vector<cache::Item> items{content};
  std::vector<cache::Item>& rows = how.rows != nullptr ? *how.rows : items;
  rows.push_back(cache::RecordItem(cache::Level::kRecipe, kSpace, key, record));
  (void)store_.Put(items, how.durability, call);  // trouble of the store is a miss the next time
  Count(*step, asked.recipe);
  // What stays in memory has no bytes, and is known from now on.
  auto remembered = std::make_shared<Step>(*step);
  remembered->known = true;
  remembered->fresh.reset();
  Remember(key, remembered);
  return StepPtr(step);
}

Result<Recipes::StepPtr> Recipes::Run(const RecipeRequest& asked, const Outcome& outcome,
                                      const RunOptions& how, const cache::Call& call) {
  const Hash128 key = cache::RecipeKey(asked.input, asked.recipe, tool_);
  // With `retry_failed` only successes count as known (spec/cache 4.3).
  const auto usable = [&](const StepPtr& step) {
    return step != nullptr && !(how.retry_failed && step->kind != cache::RecordKind::kOk);
  };
  if (StepPtr known = Known(key, call); usable(known)) {
    return known;
  }
  if (!how.may_run || !call.may_write) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = "no result of the recipe is in the cache",
                 .reason = "NOT_CACHED"};
  }
  // Equal modules of many variants meet here, and one of them runs. The rank of a flight is the
  // highest of those who wait, so background work that somebody begins to wait for is not stopped
  // any more.
  auto joined = flights_.Join(key, how.background ? kBackground : kWaitedFor, call.deadline);
  if (!joined.flight.has_value()) {
    return joined.ticket.Wait(call);
  }
  // Asked by the pool while the job runs: a process that somebody waits for is not paused
  // (spec/daemon 5.4).
  const auto urgent = [&flight = *joined.flight] { return flight.lane() != kBackground; };
  Result<StepPtr> made = Make(asked, key, outcome, how, urgent, call);
  joined.flight->Complete(made);
  return made;
}

// Validation behind an answer. It is a recipe like any other, so a module that was validated once
// is not validated again.
Result<Verdict> Recipes::Validate(target::Environment environment, const Digest& module,
                                  const cache::Call& call) {
  KILN_TRY(const recipe::Recipe recipe, recipe::ParseRecipe("val", environment));
  KILN_TRY(const StepPtr step,
           Run({.environment = environment, .recipe = recipe.text, .input = module}, Outcome{},
               {.background = true}, call));
  return Verdict{
      .valid = step->kind == cache::RecordKind::kOk, .known = step->known, .report = step->report};
}

// Not cached: somebody looks at one module once, and the text may be large.
Result<Bytes> Recipes::Show(const std::string& recipe, ByteView module, const cache::Call& call) {
  KILN_TRY(worker::Answer answer,
           runner_.Run({.recipe = recipe, .input = module}, call.stop, call.deadline));
  if (answer.kind != worker::AnswerKind::kMade) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = fmt::format("recipe '{}': {}", recipe, answer.report),
                 .reason = answer.kind == worker::AnswerKind::kRejected ? kRefused : kPoisoned};
  }
  return std::move(answer.bytes);
}

// A result without modules, or of modules whose steps are all known, is a row of its own as well.
bool Recipes::HasRow(const Hash128& signature, const cache::Call& call) {
  const cache::Key key{.level = cache::Level::kSignature, .space = kSpace, .id = signature};
  const Result<std::vector<cache::Key>> missing = store_.FindMissing({&key, 1}, call);
  return !missing.ok() || missing->empty();
}

Result<Outcome> Recipes::Apply(Outcome outcome, const NamedTarget& target, const RunOptions& how,
                               const cache::Call& call) {
  if (!outcome.artifact.has_value() || target.recipes.empty()) {
    return outcome;
  }
  Artifact& artifact = *outcome.artifact;
  bool ran = false;
  std::vector<cache::Product> products{{.name = "meta", .digest = artifact.metadata}};
  // Modules one by one, and for each the recipes in their order. Metadata does not change: recipes
  // keep the interface of a module.
  for (StageCodeDigest& code : artifact.code) {
    for (const std::string& recipe : target.recipes) {
      const RecipeRequest asked{
          .environment = target.environment, .recipe = recipe, .input = code.digest};
      // Each recipe works on the output of the one before it. The first that fails ends the chain,
      // and the diagnostic names it and the stage.
      KILN_TRY(const StepPtr step, Run(asked, outcome, how, call));
      if (step->kind != cache::RecordKind::kOk) {
        Outcome failed = Failed(
            outcome, recipe,
            code.stage.has_value() ? std::string(ir::NameOf(*code.stage)) : std::string("combined"),
            step->kind == cache::RecordKind::kPoison, step->report);
        failed.from_negative_cache = step->known;
        return failed;
      }
      ran = ran || !step->known;
      artifact.cpu_us += step->cpu_us;
      code.digest = step->output;
      outcome.validated = outcome.validated || recipe.starts_with("val");
      outcome.optimised = outcome.optimised || recipe.starts_with("opt");
      if (step->fresh.has_value()) {
        outcome.fresh.push_back(*step->fresh);
      }
    }
    products.push_back({.name = CodeName(code.stage), .digest = code.digest});
  }
  // The result with its recipes is another one, with a key of its own: the plain signature, the
  // recipes and the tools that run them.
  const Hash128 plain = artifact.signature;
  artifact.signature = cache::RecipeKey({.id = plain, .size = 0}, Chain(target), tool_);
  if (ran) {
    artifact.origin = Origin::kCompiled;
    artifact.stored = false;
  }
  // Also without a run: steps that other variants made have their rows, but this result has none
  // yet.
  if (ran || !HasRow(artifact.signature, call)) {
    std::ranges::sort(products, {}, &cache::Product::name);
    std::vector<cache::Item> items;
    std::vector<cache::Item>& rows = how.rows != nullptr ? *how.rows : items;
    rows.push_back(cache::RecordItem(cache::Level::kSignature, kSpace, artifact.signature,
                                     {.kind = cache::RecordKind::kOk,
                                      .products = std::move(products),
                                      .live_options = artifact.live_options,
                                      .layout_hash = artifact.layout_hash,
                                      .state_id = artifact.state_id,
                                      .cpu_us = artifact.cpu_us,
                                      .limits = {},
                                      .build_id = artifact.build_id}));
    if (!items.empty()) {
      (void)store_.Put(items, how.durability, call);
    }
  }
  return outcome;
}

}  // namespace kiln::compile
