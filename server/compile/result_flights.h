// SPDX-License-Identifier: MIT
// Single flight: a variant that several callers want is computed once, by the first of them, for as
// long as one of them wants it. See spec/cache 5.5, spec/daemon 2.3, 9.2
//
// Threads: all functions may run concurrently. cache::SingleFlight guards who waits for what; a
// caller's own place in it may be given up on any thread (OwnPlace in the .cc file).
#pragma once

#include <cstdint>

#include "cache/single_flight.h"
#include "cache/store.h"
#include "compiler/base/clock.h"
#include "compiler/base/result.h"
#include "server/compile/cached_result.h"
#include "server/compile/result_builder.h"
#include "server/compile/result_lookup.h"
#include "server/jobs/crash_guard.h"

namespace kiln::compile {

class ResultFlights {
 public:
  // All must outlive the object. `attempts`: null if none are noted.
  ResultFlights(cache::BlobStore& store, ResultLookup& lookup, ResultBuilder& builder, Clock& clock,
                jobs::CrashGuard* attempts)
      : store_(store),
        lookup_(lookup),
        builder_(builder),
        clock_(clock),
        attempts_(attempts),
        flights_(clock) {}

  // The result, computed by this call or by the one that wanted it first. Errors: kCancelled,
  // kDeadlineExceeded of this call; kResourceExhausted.
  Result<CachedResultPtr> Compile(const ResultRequest& wanted, const cache::Call& call);

  // Requests that found what they ask for being built.
  uint64_t merged() const { return flights_.merged(); }

 private:
  Result<CachedResultPtr> Fly(const ResultRequest& wanted,
                              cache::SingleFlight<CachedResultPtr>::JoinResult joined,
                              const cache::Call& call);
  CachedResultPtr AfterSlowness(const ResultRequest& wanted, const cache::Call& call);

  cache::BlobStore& store_;
  ResultLookup& lookup_;
  ResultBuilder& builder_;
  Clock& clock_;
  jobs::CrashGuard* const attempts_;
  cache::SingleFlight<CachedResultPtr> flights_;
};

}  // namespace kiln::compile
