// SPDX-License-Identifier: MIT
// Why results of a batch were missed: counts for all of them, records for a few. See
// spec/cache 11.2
//
// Threads: by any chunk of the run. Counts are kept under the run's lock; causes are looked for and
// records made outside of it.
#pragma once

#include <cstddef>
#include <span>

#include "compiler/resolve/values/options.h"
#include "server/compile/batch/batch_context.h"
#include "server/compile/batch/batch_run.h"
#include "server/compile/build_trace.h"

namespace kiln::compile {

// A point that was looked up, or built, for one target.
struct ExplainedPoint {
  size_t program = 0;
  size_t target = 0;
  std::span<const resolve::OptionSetting> point;
  BuildTrace trace;
  bool failed = false;
};

// Counts what was missed and why; some misses, the first hit and every failure leave a record:
// failures are found by it when they are to be forgotten. Requires: options.explains.
void ExplainPoint(const BatchContext& context, BatchRun& run, ExplainedPoint explained);

}  // namespace kiln::compile
