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

// Counts and tells results that only memory has: an earlier run, whose rows were refused, left them
// there. Once, behind the last Acknowledge; a run with a pin is told by the pin.
void TellUnstored(const BatchContext& context, BatchRun& run);

}  // namespace kiln::compile
