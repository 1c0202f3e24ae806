// SPDX-License-Identifier: MIT
// Computes the result of one variant, here and now: finds out what it reads, and builds it unless a
// result of that signature is known. What runs is noted (jobs::CrashGuard) while it runs, so that
// an input that ends the process is known to the next one. See spec/cache 3.2, 3.5;
// spec/daemon 14.9
//
// Threads: all functions may run concurrently, also for one variant; ResultFlights sees to it that
// it is not computed twice. The object itself guards nothing (AssemblerPool has a mutex).
#pragma once

#include <cstdint>
#include <optional>

#include "cache/store.h"
#include "compiler/base/clock.h"
#include "compiler/base/result.h"
#include "compiler/driver/variant_assembler.h"
#include "server/compile/cached_result.h"
#include "server/compile/programs/assembler_pool.h"
#include "server/compile/result_lookup.h"
#include "server/compile/result_recorder.h"
#include "server/jobs/crash_guard.h"

namespace kiln::compile {

class ResultBuilder {
 public:
  // All must outlive the object. `attempts`: null if none are noted.
  ResultBuilder(ResultLookup& lookup, ResultRecorder& recorder, Clock& clock,
                BuildCounters& counters, jobs::CrashGuard* attempts)
      : lookup_(lookup),
        recorder_(recorder),
        clock_(clock),
        counters_(counters),
        attempts_(attempts),
        assemblers_(kAssemblerBytes) {}

  // Builds the variant, or finds it by its signature, and writes that down. `begin`: ThreadCpu
  // where what is told as the time of this result begins.
  CachedResultPtr Compile(const ResultRequest& wanted, Duration begin, const cache::Call& call);

  // Finds a result by its signature and builds nothing; null: unknown. Errors: kCancelled,
  // kDeadlineExceeded, kResourceExhausted.
  Result<CachedResultPtr> Walk(const ResultRequest& wanted, const cache::Call& call);

  // The record of a variant whose walk ended processes: it has no signature, so it lies under its
  // own key. Null: it may be tried. Looked up only while there is any record of this kind.
  CachedResultPtr Poisoned(const ResultRequest& wanted, const cache::Call& call);

  CountedCache& cache() { return assemblers_; }

 private:
  static constexpr uint64_t kAssemblerBytes = uint64_t{32} << 20;

  std::optional<driver::BuildResult> Assemble(const ResultRequest& wanted,
                                              const driver::VariantAssembler::IsKnown& is_known,
                                              const cache::Call& call);

  ResultLookup& lookup_;
  ResultRecorder& recorder_;
  Clock& clock_;
  BuildCounters& counters_;
  jobs::CrashGuard* const attempts_;
  AssemblerPool assemblers_;
};

}  // namespace kiln::compile
