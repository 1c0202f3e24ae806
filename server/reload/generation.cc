// SPDX-License-Identifier: MIT
// The work on one program for one generation of a watch session (spec/daemon 8.3). It knows nothing
// of subscribers: each step returns what it made, and the session decides what of it is news. Work
// belongs to one chunk at a time; a newer generation cancels it by its stop token.
#include "server/reload/generation.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cache/call_bounds.h"
#include "compiler/artifact/state_hash.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/driver/option_text.h"
#include "server/compile/batch/batch_points.h"
#include "server/compile/explainer.h"
#include "server/jobs/job.h"
#include "server/reload/last_good.h"

namespace kiln::reload {
namespace {

// Requires a bound, since diagnostics of thousands of variants come together here; each is found by
// search.
void AddNew(std::span<const PlacedDiagnostic> from, std::vector<PlacedDiagnostic>& to) {
  for (const PlacedDiagnostic& one : from) {
    if (to.size() < kMaxDiagnostics && std::ranges::find(to, one) == to.end()) {
      to.push_back(one);
    }
  }
}

// In the order of declaration, as conditions name them.
std::vector<std::string> DeclaredNames(const compile::PreparedProgram& prepared) {
  const auto& program = prepared.program();
  std::vector<std::string> names;
  for (uint32_t option = 0; option < program.option_count(); ++option) {
    names.emplace_back(program.Text(program.NameOf(ir::OptionId{option})));
  }
  return names;
}

}  // namespace

// What tells `settings` from `layout` in a change (spec/daemon 8.3.3). Where metadata cannot be
// read its digest stands for it: a change too many, never one too few.
Hash128 StateOf(compile::CachedBuild& builder, const compile::Outcome& outcome,
                const cache::Call& call) {
  const Digest& metadata = outcome.artifact->metadata;
  const Result<cache::Blob> blob = builder.Read(outcome, metadata, call);
  return blob.ok() ? artifact::StateHash(blob->bytes) : metadata.id;
}

// The name under which a variant is known to engines, equal for equal options in any order.
std::string VariantName(const Options& options) {
  std::vector<std::string> texts;
  for (const resolve::OptionSetting& setting : options) {
    texts.push_back(setting.name + "=" + driver::ValueText(setting));
  }
  std::ranges::sort(texts);
  std::string name;
  for (const std::string& text : texts) {
    name += (name.empty() ? "" : " ") + text;
  }
  return name;
}

// Work is done in steps, between which the session's lock is free and somebody else may have the
// thread: prepare all targets, then what is on screen, point by point, then all other points in the
// batch lane. A program whose entries are those of the last generation (a comment changed, or white
// space) is done after the first step.
StepResult ProgramWork::Step(const Workshop& shop, const cache::Call& outer) {
  // A stop of either: a newer generation or the daemon.
  const std::stop_callback forward(outer.stop, [this] { stop_.request_stop(); });
  cache::Call call = outer;
  call.stop = stop_.get_token();
  switch (phase_) {
    case Phase::kPrepare:
      return Prepare(shop, call);
    case Phase::kInterest:
      return BuildInterest(shop, call);
    case Phase::kPoints:
      return BuildPoint(shop, call);
    case Phase::kDone:
      break;
  }
  return {};
}

// Trouble of the world ends the work of this generation; the next edit begins anew.
StepResult ProgramWork::Failed(std::string problem) {
  phase_ = Phase::kDone;
  failed_ = true;
  StepResult result;
  result.problem = std::move(problem);
  result.failed = 1;
  return result;
}

namespace {

// All paths that the includes of a program asked for; null, which means any, where macros choose
// what is included: the program is one of its lists.
ProbedPaths ProbedBy(const compile::PreparedProgram& prepared) {
  if (!prepared.request.hlsl.macros.empty()) {
    return nullptr;
  }
  auto paths = std::make_shared<std::set<std::string, std::less<>>>();
  for (const std::shared_ptr<const compile::ParsedSource>& source : prepared.parsed) {
    for (const Probe& probe : source->probes) {
      paths->insert(probe.path);
    }
  }
  return paths;
}

}  // namespace

// All targets are prepared, also where the first is wrong only in its own way. A source that cannot
// be read still tells which paths it asked for, so that an edit of one of these files begins the
// work again (spec/daemon 8.3.7).
StepResult ProgramWork::Prepare(const Workshop& shop, const cache::Call& call) {
  ProbedPaths probed;
  for (const compile::NamedTarget& target : request_.program.targets) {
    Result<std::shared_ptr<const compile::PreparedProgram>> prepared =
        shop.builder.Prepare(request_.program.program, target, call);
    if (!prepared.ok()) {
      return Failed(prepared.error().context);
    }
    probed = probed == nullptr ? ProbedBy(**prepared) : probed;  // the same for every target
    if (!(*prepared)->ok()) {
      StepResult result = Failed({});
      result.probed = probed;
      // The last good artifact is told even while the source is broken (spec/daemon 8.3.2).
      Recover(shop, call, nullptr, nullptr, result);
      auto all = std::make_shared<std::vector<compile::MergedFailure>>();
      for (const PlacedDiagnostic& diagnostic : (*prepared)->diagnostics) {
        all->push_back({.diagnostic = diagnostic, .example = {}});
      }
      result.diagnostics = std::move(all);
      return result;
    }
    entries_.push_back((*prepared)->entry);
    prepared_.push_back(std::move(prepared).value());
  }
  // Early cut-off: equal entry ids mean equal IR, so no variant can have changed
  // (spec/cache 2.4.3). Of a program with macros this is known of one list only.
  ir_identical_ = entries_ == request_.known_entries &&
                  std::ranges::all_of(
                      prepared_, [](const std::shared_ptr<const compile::PreparedProgram>& one) {
                        return one->request.hlsl.macros.empty();
                      });
  phase_ = ir_identical_               ? Phase::kDone
           : request_.interest.empty() ? Phase::kPoints
                                       : Phase::kInterest;
  StepResult result;
  result.probed = std::move(probed);
  return result;
}

// One variant for all targets. An error of the world breaks off the work; a wrong variant does not,
// since others may be right.
ProgramWork::BuildFindings ProgramWork::Build(const Workshop& shop, const OptionsPtr& options,
                                              const std::string& variant, const cache::Call& call,
                                              StepResult& result) {
  BuildFindings said;
  variants_.insert(variant);
  for (const std::shared_ptr<const compile::PreparedProgram>& prepared : prepared_) {
    auto [outcome, trace, rows] = shop.builder.Report(
        *prepared, *options,
        {.code = driver::ModuleSelection::kNew,
         .urgency = in_background() ? compile::Urgency::kBackground : compile::Urgency::kWaitedFor,
         .trace = compile::TraceDetail::kAll},
        call);
    if (!outcome.ok()) {
      result.problem = outcome.error().context;
      ++result.failed;
      failed_ = broken_ = true;
      return said;
    }
    AddNew(outcome->diagnostics, said.diagnostics);
    if (outcome->kind != compile::OutcomeKind::kOk) {
      ++result.failed;
      failed_ = true;
      said.well = false;
      Recover(shop, call, &variant, &prepared->target.name, result);
      continue;
    }
    // Records of failures would displace those of the last good artifacts.
    shop.explains.Append(compile::ExplainRecordOf(*prepared,
                                                  {.project = request_.whose.project,
                                                   .lane = "watch",
                                                   .trace = {},
                                                   .watcher = request_.whose.session},
                                                  trace, shop.clock));
    const bool compiled = outcome->artifact->origin == compile::Origin::kCompiled;
    ++(compiled ? result.compiled : result.shared);
    compiled_ += compiled ? 1 : 0;
    lowered_ += trace.regions_lowered;
    const Hash128 state = StateOf(shop.builder, *outcome, call);
    result.built.push_back(
        {.variant = variant,
         .options = options,
         .artifact = std::make_shared<const compile::Artifact>(*std::move(outcome->artifact)),
         .state = state});
  }
  return said;
}

// Asked once for each generation, and only of sessions that have nothing yet: a session that has
// sent artifacts keeps them itself. Without variant and target all of the program are meant.
void ProgramWork::Recover(const Workshop& shop, const cache::Call& call, const std::string* variant,
                          const std::string* target, StepResult& result) {
  if (!request_.recover) {
    return;
  }
  if (!last_good_.has_value()) {
    last_good_ = FindLastGood(request_.program, request_.interest, request_.whose, shop.explains,
                              shop.builder, call);
  }
  std::ranges::copy_if(*last_good_, std::back_inserter(result.built),
                       [&](const BuiltVariant& known) {
                         return (variant == nullptr || known.variant == *variant) &&
                                (target == nullptr || known.artifact->target == *target);
                       });
}

// One variant of interest in each step (spec/daemon 8.3.4). Their diagnostics are told before the
// points are begun, as the author looks at these variants.
StepResult ProgramWork::BuildInterest(const Workshop& shop, const cache::Call& call) {
  StepResult result;
  const Interest& interest = request_.interest[next_++];
  of_interest_[interest.variant] = Build(shop, interest.options, interest.variant, call, result);
  if (broken_) {
    phase_ = Phase::kDone;
  } else if (next_ == request_.interest.size()) {
    phase_ = Phase::kPoints;
    next_ = 0;
    result.diagnostics = AllDiagnostics();
  }
  return result;
}

// The budget is that of the manifest; there is no exploration in a watch.
Result<void> ProgramWork::ListPoints(Clock& clock, const cache::Call& call) {
  KILN_TRY(compile::BatchPoints points, cache::WhileWanted(call, jobs::kCallBytes, clock, [&] {
             return compile::PointsOf(*prepared_[0]->linked->value, request_.program.space,
                                      {.results = request_.max_results}, clock);
           }));
  points_.emplace(std::move(points));
  return {};
}

// Points that were built as variants of interest are not built again, but their failures count for
// conditions.
StepResult ProgramWork::BuildPoint(const Workshop& shop, const cache::Call& call) {
  if (!points_.has_value()) {
    if (const Result<void> listed = ListPoints(shop.clock, call); !listed.ok()) {
      return Failed(listed.error().context);
    }
  }
  StepResult result;
  if (next_ < points_->points.size()) {
    const auto options = std::make_shared<const Options>(points_->points.At(next_).options);
    const std::string variant = VariantName(*options);
    const auto known = of_interest_.find(variant);  // then it is built
    const BuildFindings said =
        known != of_interest_.end() ? known->second : Build(shop, options, variant, call, result);
    if (said.well) {
      AddNew(said.diagnostics, warnings_);
    } else {
      failures_.Add(next_, said.diagnostics);
    }
    ++next_;
  }
  if (broken_ || next_ >= points_->points.size()) {
    phase_ = Phase::kDone;
    result.diagnostics = AllDiagnostics();
  }
  return result;
}

// Errors that variants share are said once, with the condition that they fail under. Variants on
// screen were built before the points were listed, so their messages are merged by what they say.
DiagnosticsPtr ProgramWork::AllDiagnostics() const {
  auto all = std::make_shared<std::vector<compile::MergedFailure>>();
  if (!failures_.empty()) {
    *all = failures_.Merge(*points_, DeclaredNames(*prepared_[0]));
  }
  const auto add_new = [&](const std::vector<PlacedDiagnostic>& more) {
    for (const PlacedDiagnostic& one : more) {
      if (std::ranges::none_of(*all, [&](const compile::MergedFailure& other) {
            return other.diagnostic.code == one.code && other.diagnostic.primary == one.primary &&
                   other.diagnostic.message == one.message;
          })) {
        all->push_back({.diagnostic = one, .example = {}});
      }
    }
  };
  for (const auto& [variant, said] : of_interest_) {
    add_new(said.diagnostics);
  }
  add_new(warnings_);
  std::ranges::stable_sort(*all, ReadsBefore, &compile::MergedFailure::diagnostic);
  return all;
}

}  // namespace kiln::reload
