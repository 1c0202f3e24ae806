// SPDX-License-Identifier: MIT
// One variant: look it up, and build and keep it if nobody knows it. The order is
// parse → link → check options → variant key → live keys → single flight → walk → signature key →
// build → store → reply;
// nothing in the compiler knows that a cache exists. See spec/cache 2.4, 3.5, 4; spec/daemon 2.2
//
// This is the order; the steps are classes of their own: ProgramPreparer (parse, link),
// ResultLookup (keys), ResultFlights (single flight), ResultBuilder (walk, build), ResultRecorder
// (store), ResultReader (reply).
//
// Threads: Build may be called from any number of threads. Nothing is guarded here: each part
// guards its own tables, and none calls another under its mutex.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "cache/store.h"
#include "compiler/base/clock.h"
#include "compiler/base/result.h"
#include "server/compile/batch/masks.h"
#include "server/compile/build_options.h"
#include "server/compile/build_trace.h"
#include "server/compile/cached_result.h"
#include "server/compile/programs/prepared_program.h"
#include "server/compile/programs/program_pool.h"
#include "server/compile/programs/program_preparer.h"
#include "server/compile/recipes.h"
#include "server/compile/request.h"
#include "server/compile/result_builder.h"
#include "server/compile/result_flights.h"
#include "server/compile/result_lookup.h"
#include "server/compile/result_reader.h"
#include "server/compile/result_recorder.h"

namespace kiln::compile {

class CachedBuild {
 public:
  // All must outlive the object. `recipes`: null if targets have none; `attempts`: null if none are
  // noted.
  CachedBuild(cache::BlobStore& store, ProgramPool& pool, Clock& clock, Recipes* recipes = nullptr,
              jobs::CrashGuard* attempts = nullptr)
      : pool_(pool),
        clock_(clock),
        recipes_(recipes),
        preparer_(pool, clock),
        masks_(store),
        lookup_(store, masks_),
        recorder_(store, masks_, lookup_, clock, counters_),
        builder_(lookup_, recorder_, clock, counters_, attempts),
        flights_(store, lookup_, builder_, clock, attempts),
        reader_(store, pool) {}

  // Told of every result that is made, by the thread that made it. Set before the first build.
  void OnBuilt(std::function<void(const FreshResult&)> on_built) {
    recorder_.OnBuilt(std::move(on_built));
  }

  // Told of rows that are not what their keys stand for. Set before the first build; outlives the
  // object.
  void ReportTo(cache::DamageSink& sink) { lookup_.ReportTo(sink); }

  // As ProgramPreparer::Prepare.
  Result<std::shared_ptr<const PreparedProgram>> Prepare(
      const ProgramRequest& request, const NamedTarget& target, const cache::Call& call,
      PoisonPolicy poison = PoisonPolicy::kStands) {
    return preparer_.Prepare(request, target, call, poison);
  }
  // As ProgramPreparer::Choose.
  Result<std::shared_ptr<const PreparedProgram>> Choose(
      const PreparedProgram& program, std::span<const resolve::OptionSetting> options,
      const cache::Call& call) {
    return preparer_.Choose(program, options, call);
  }
  // As ProgramPreparer::NeedsOf.
  Result<std::vector<Source>> NeedsOf(const ProgramRequest& request, const cache::Call& call) {
    return preparer_.NeedsOf(request, call);
  }

  // Builds or finds one variant; `options` add to the fixed part. Wrong sources and options are
  // outcomes. A call that may not write builds nothing and leaves nothing behind, here or in the
  // store. Requires: rows are not kept back. Errors: kCancelled, kDeadlineExceeded, kNotFound
  // (UnknownVariant::kRefused), kInternal; kResourceExhausted as Prepare. A caller that leaves does
  // not end what others wait for, too.
  Result<Outcome> Build(const PreparedProgram& program,
                        std::span<const resolve::OptionSetting> options, const BuildOptions& how,
                        const cache::Call& call);
  // The same with what happened, also if an unknown variant may not be compiled. The trace goes on
  // with what `begun` has of the time before.
  BuildReport Report(const PreparedProgram& program,
                     std::span<const resolve::OptionSetting> options, const BuildOptions& how,
                     const cache::Call& call, BuildTrace begun = {});

  // The values of options that are right, and what is in memory for them. Nothing is counted.
  // Nullopt: the program or the options are wrong, or the target has recipes.
  std::optional<RecentResult> Recall(const PreparedProgram& program,
                                     std::span<const resolve::OptionSetting> options,
                                     const cache::Call& call);
  // Whether Build finds the same for the variant as it did then; counts as a hit if it does.
  bool StillFinds(const RecentResult& recalled, const cache::Call& call);

  // A result by its signature, if the store has it and all that it names. Nothing else is known of
  // it: no diagnostics, no options.
  std::optional<Outcome> Find(const std::string& target, const Hash128& signature,
                              const cache::Call& call);

  // What an outcome of Build names: products, diagnostics. Errors: kNotFound; as BlobStore::Get.
  Result<cache::Blob> Read(const Outcome& outcome, const Digest& digest, const cache::Call& call) {
    return reader_.ContentOf(outcome.fresh, digest, call);
  }

  // Errors: as Recipes::Show; kUnimplemented in a process that runs no recipes.
  Result<Bytes> Show(const std::string& recipe, ByteView module, const cache::Call& call);

  // Something that was put is not there: nothing is taken for granted any more.
  void DistrustStore() {
    ++distrusted_;
    recorder_.Distrust();
  }
  // How often what was known was given up; never decreases.
  uint64_t distrusted() const { return distrusted_.load(); }

  // Forgets what this process has seen; the store is asked again.
  void Forget();

  // What its parts remember.
  std::vector<CountedCache*> caches() {
    return {&preparer_.cache(), &preparer_.chosen(), &pool_,  &builder_.cache(),
            &lookup_.results(), &lookup_.variants(), &masks_, &recorder_.cache()};
  }

  const BuildCounters& counters() const { return counters_; }
  // Requests that found what they ask for being built.
  uint64_t merged() const { return flights_.merged(); }

 private:
  Result<Outcome> BuildWhole(const PreparedProgram& program,
                             std::span<const resolve::OptionSetting> options,
                             const BuildOptions& how, const cache::Call& call, BuildReport& report);
  Result<Outcome> BuildPlain(const PreparedProgram& program,
                             std::span<const resolve::OptionSetting> options,
                             const BuildOptions& how, const cache::Call& call, BuildReport& report);
  Result<Outcome> BuildChecked(const PreparedProgram& program, const resolve::OptionValues& values,
                               const BuildOptions& how, const cache::Call& call,
                               BuildReport& report);
  static void Describe(const CachedResult& found, BuildTrace& trace);

  ProgramPool& pool_;
  Clock& clock_;
  Recipes* const recipes_;
  BuildCounters counters_;
  std::atomic<uint64_t> distrusted_{0};
  // Each refers to some of those before it.
  ProgramPreparer preparer_;
  StoredMasks masks_;
  ResultLookup lookup_;
  ResultRecorder recorder_;
  ResultBuilder builder_;
  ResultFlights flights_;
  ResultReader reader_;
};

}  // namespace kiln::compile
