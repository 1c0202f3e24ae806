// SPDX-License-Identifier: MIT
// The one way to a result: look it up, else walk to its signature and look that up, else build it
// (spec/cache 3.5), and turn what was found into an answer. Everything that is kept in memory is in
// the parts (lookup, recorder, flights); this file has the order, and what is done when a result
// turns out to be incomplete.
#include "server/compile/cached_build.h"

#include <utility>

#include "cache/call_bounds.h"
#include "cache/decorators/memory_store.h"
#include "compiler/base/check.h"
#include "server/compile/explainer.h"
#include "server/compile/programs/build_keys.h"
#include "server/compile/programs/macro_choices.h"

namespace kiln::compile {
namespace {

Error NotCached() {
  return {.code = ErrorCode::kNotFound,
          .context = "this variant is not in the cache",
          .reason = "NOT_CACHED"};
}

// As of options, and that macros have values that are listed.
Diagnosed<resolve::OptionValues> CheckValues(const PreparedProgram& program,
                                             std::span<const resolve::OptionSetting> settings) {
  Diagnosed<resolve::OptionValues> values = resolve::CheckOptions(program.program(), settings);
  if (values.ok()) {
    values.diagnostics = CheckMacros(program.request.hlsl.macros, program.program(), *values.value);
    if (!values.diagnostics.empty()) {
      values.value.reset();
    }
  }
  return values;
}

Error NoRecipes() {
  return {.code = ErrorCode::kUnimplemented,
          .context = "this process runs no recipes",
          .reason = "NOT_BUILT_IN"};
}

}  // namespace

Result<Outcome> CachedBuild::Build(const PreparedProgram& program,
                                   std::span<const resolve::OptionSetting> options,
                                   const BuildOptions& how, const cache::Call& call) {
  KILN_CHECK(how.rows == ResultRows::kPut);  // nobody would put those that are kept back
  return std::move(Report(program, options, how, call).outcome);
}

BuildReport CachedBuild::Report(const PreparedProgram& program,
                                std::span<const resolve::OptionSetting> options,
                                const BuildOptions& how, const cache::Call& call,
                                BuildTrace begun) {
  BuildReport report{.outcome = NotCached(), .trace = std::move(begun), .rows = {}};
  report.outcome = BuildWhole(program, options, how, call, report);
  return report;
}

Result<Outcome> CachedBuild::BuildWhole(const PreparedProgram& program,
                                        std::span<const resolve::OptionSetting> options,
                                        const BuildOptions& how, const cache::Call& call,
                                        BuildReport& report) {
  // A call at once is answered from memory alone, in gRPC's thread. Steps of recipes are not kept
  // there with all that they need, so such a target waits for a job.
  if (call.deadline != cache::kAtOnce) {
    KILN_TRY_VOID(cache::StillWanted(call, clock_));
  } else if (!program.target.recipes.empty()) {
    return cache::NotAtOnce();
  }
  // A list of defines that is not the program's own makes other modules of its sources.
  KILN_TRY(const std::shared_ptr<const PreparedProgram> chosen,
           preparer_.Choose(program, options, call));
  Result<Outcome> outcome =
      BuildPlain(chosen != nullptr ? *chosen : program, options, how, call, report);
  if (!outcome.ok() || program.target.recipes.empty()) {
    return outcome;
  }
  if (recipes_ == nullptr) {
    return NoRecipes();
  }
  // Recipes come last and know no variants: they work on the modules of the plain result, whichever
  // variant it came from. See spec/cache 2.4.7
  return recipes_->Apply(std::move(outcome).value(), program.target,
                         {.may_run = how.unknown == UnknownVariant::kCompiled,
                          .retry_failed = how.failed == KnownFailure::kTriedAgain,
                          .durability = how.durability,
                          .rows = how.rows == ResultRows::kKeptBack ? &report.rows : nullptr,
                          .background = how.urgency == Urgency::kBackground},
                         call);
}

// What is wrong with the program or the option values comes before any key (spec/cache 3.3).
Result<Outcome> CachedBuild::BuildPlain(const PreparedProgram& program,
                                        std::span<const resolve::OptionSetting> options,
                                        const BuildOptions& how, const cache::Call& call,
                                        BuildReport& report) {
  BuildTrace& trace = report.trace;
  std::vector<resolve::OptionSetting> with_fixed;
  if (!program.request.options.empty()) {
    with_fixed = program.request.options;
    with_fixed.insert(with_fixed.end(), options.begin(), options.end());
  }
  const std::span<const resolve::OptionSetting> settings =
      program.request.options.empty() ? options : std::span(with_fixed);
  // Nothing of a variant can be better than its program. There is no key either, as keys begin with
  // images of sources that could be read.
  if (!program.ok()) {
    ++counters_.failed;
    trace.level = "module";
    trace.result =
        program.parsed_now ? cache::ExplainResult::kMiss : cache::ExplainResult::kHitMemory;
    if (how.trace != TraceDetail::kNone) {
      trace.options = OptionTexts(settings);
    }
    return Outcome{.kind = program.poison ? OutcomeKind::kPoison : OutcomeKind::kSourceError,
                   .diagnostics = program.diagnostics,
                   .from_negative_cache = program.poison};
  }
  Diagnosed<resolve::OptionValues> values = CheckValues(program, settings);
  if (!values.ok()) {  // cheap to find again: not stored
    ++counters_.failed;
    trace.level = "options";
    if (how.trace != TraceDetail::kNone) {
      trace.options = OptionTexts(settings);
    }
    Outcome outcome{.kind = OutcomeKind::kSourceError};
    KILN_TRY(outcome.diagnostics, PlaceAll(pool_, program, values.diagnostics, call));
    return outcome;
  }
  return BuildChecked(program, *values.value, how, call, report);
}

// The look-up may be wrong about what it found: a record stays longer than what it names, and an
// upstream may have told of content that it lost. Then the result is built again, once, whatever is
// known of it (kBuiltAgain); the same holds for what the walk found. A failure that is to be tried
// again is as good as unknown.
Result<Outcome> CachedBuild::BuildChecked(const PreparedProgram& program,
                                          const resolve::OptionValues& values,
                                          const BuildOptions& how, const cache::Call& call,
                                          BuildReport& report) {
  BuildTrace& trace = report.trace;
  StageWatch watch(clock_, how.trace == TraceDetail::kNone ? nullptr : &trace);
  CachedResultPtr found = how.known == KnownResult::kBuiltAgain
                              ? nullptr
                              : lookup_.LookUp(program, values, trace, call);
  watch.Lap("lookup");
  if (found != nullptr && how.failed == KnownFailure::kTriedAgain &&
      found->record->kind != cache::RecordKind::kOk) {
    found = nullptr;
    trace.cause = cache::Cause::kForced;
    trace.detail = "--retry-failed";
  }
  const bool is_hit = found != nullptr;
  if (how.trace == TraceDetail::kAll || (how.trace == TraceDetail::kMisses && !is_hit)) {
    trace.options = OptionTexts(program.program(), values);
  }
  // `now` is what the build may do after the look-up. kBuiltAgain makes it distrust what is stored.
  BuildOptions now = how;
  if (is_hit) {
    Result<Outcome> outcome = reader_.OutcomeOf(program, *found, call);
    if (outcome.ok()) {
      ++(found->origin == Origin::kShared ? counters_.shared : counters_.hits);
      counters_.saved_us += found->record->cpu_us;
      Describe(*found, trace);
      return outcome;
    }
    now.known =
        KnownResult::kBuiltAgain;  // the record is there, what it names is not (spec/cache 8.5)
  }
  if (call.deadline == cache::kAtOnce) {
    return cache::NotAtOnce();
  }
  trace.result = cache::ExplainResult::kMiss;
  trace.level = "signature";
  trace.mask.reset();
  // The key has all options, also those that nothing reads: it names the flight, and the attempts
  // that end the process.
  const Hash128 variant = VariantKeyOf(program.entry, program.program(), values);
  const ResultRequest wanted{.program = program,
                             .values = values,
                             .variant = variant,
                             .how = now,
                             .trace = trace,
                             .rows = report.rows};
  // Who may only read gets what is known, and the walk that finds it is still his: it changes
  // nothing that others see. See spec/daemon 11.4
  const bool may_compile = how.unknown == UnknownVariant::kCompiled && call.may_write;
  if (may_compile) {
    // Single flight: of all callers who want this variant one builds (spec/cache 5.5).
    KILN_TRY(found, flights_.Compile(wanted, call));
  } else {
    KILN_TRY(found, now.known == KnownResult::kBuiltAgain ? Result<CachedResultPtr>(nullptr)
                                                          : builder_.Walk(wanted, call));
  }
  watch.Lap("build");
  Result<Outcome> outcome =
      found == nullptr ? NotCached() : reader_.OutcomeOf(program, *found, call);
  if (found != nullptr && found->walked && outcome.ok()) {
    ++counters_.shared;
    counters_.saved_us += found->record->cpu_us;
    trace.result =
        found->was_kept ? cache::ExplainResult::kHitLocal : cache::ExplainResult::kHitMemory;
  }
  // A signature that the walk found may name lost content, too. This is tried once: what was built
  // anew has its content at hand.
  if (!outcome.ok() && outcome.error().code == ErrorCode::kNotFound && may_compile &&
      now.known == KnownResult::kUsed) {
    now.known = KnownResult::kBuiltAgain;
    KILN_TRY(found, flights_.Compile(wanted, call));
    outcome = reader_.OutcomeOf(program, *found, call);
  }
  if (found != nullptr) {
    Describe(*found, trace);
  }
  return outcome;
}

// Does what Build does up to the look in memory, for callers that answer from what they have if
// nothing has changed.
std::optional<RecentResult> CachedBuild::Recall(const PreparedProgram& program,
                                                std::span<const resolve::OptionSetting> options,
                                                const cache::Call& call) {
  if (!program.ok() || !program.target.recipes.empty()) {
    return std::nullopt;
  }
  const auto chosen = preparer_.Choose(program, options, call.Until(cache::kAtOnce));
  if (!chosen.ok() || (*chosen != nullptr && !(*chosen)->ok())) {
    return std::nullopt;
  }
  const PreparedProgram& own = *chosen != nullptr ? **chosen : program;
  std::vector<resolve::OptionSetting> settings = own.request.options;
  settings.insert(settings.end(), options.begin(), options.end());
  Diagnosed<resolve::OptionValues> values = CheckValues(own, settings);
  if (!values.ok()) {
    return std::nullopt;
  }
  CachedResultPtr found = lookup_.RecentOf(own.entry, *values.value, call);
  return RecentResult{
      .entry = own.entry, .values = *std::move(values.value), .found = std::move(found)};
}

bool CachedBuild::StillFinds(const RecentResult& recalled, const cache::Call& call) {
  // The pointer is compared and not what it points to: a result never changes, so the same pointer
  // means the same answer.
  if (recalled.found == nullptr ||
      lookup_.RecentOf(recalled.entry, recalled.values, call) != recalled.found) {
    return false;
  }
  ++counters_.hits;
  counters_.saved_us += recalled.found->record->cpu_us;
  return true;
}

// For the explain record, which costs little enough to be filled in at each call (spec/cache 11.5).
void CachedBuild::Describe(const CachedResult& found, BuildTrace& trace) {
  trace.signature = found.signature;
  trace.live_options = found.record->live_options;
  for (const cache::Product& product : found.record->products) {
    trace.bytes += product.digest.size;
  }
}

// By signature alone there is no program, so no diagnostics and no places.
std::optional<Outcome> CachedBuild::Find(const std::string& target, const Hash128& signature,
                                         const cache::Call& call) {
  const CachedResultPtr found = lookup_.AnyRecordOf(signature, call);
  return found == nullptr ? std::nullopt : reader_.BareOutcomeOf(*found, target, call);
}

// After the store lost something as a whole, or was emptied. Batches compare the count before they
// take over earlier results (spec/daemon 7.1).
void CachedBuild::Forget() {
  ++distrusted_;
  if (recipes_ != nullptr) {
    recipes_->Forget();
  }
  preparer_.Clear();
  lookup_.Forget();
  recorder_.Distrust();
}

Result<Bytes> CachedBuild::Show(const std::string& recipe, ByteView module,
                                const cache::Call& call) {
  return recipes_ == nullptr ? NoRecipes() : recipes_->Show(recipe, module, call);
}

}  // namespace kiln::compile
