// SPDX-License-Identifier: MIT
// What counts as stored was acknowledged (spec/cache 6.5.3). Chunks put content at once and leave
// the rows that name it in the run; here they are put together, durably.
//
// Threads: by any chunk of the run. The rows are taken out under the run's lock and put outside of
// it, so each is put once.
#pragma once

#include "server/compile/batch/batch_context.h"
#include "server/compile/batch/batch_run.h"

namespace kiln::compile {

// Puts the rows that the run has gathered. What the store refuses is counted and told.
void Acknowledge(const BatchContext& context, BatchRun& run);

// Stores results that the run found and that memory alone has. What the store refuses is counted
// and told. Requires: the run is done, and everything that it built was acknowledged.
void StoreFound(const BatchContext& context, BatchRun& run);

}  // namespace kiln::compile
