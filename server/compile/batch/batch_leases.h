// SPDX-License-Identifier: MIT
// Keeps what a batch uses from eviction: leases while it goes on, and the pin that its request may
// ask for at the end. Without a database nothing is evicted, and leases do nothing. See spec/cache
// 8.4
//
// Threads: by any chunk of the run; each takes the run's lock to look and to tell, never while the
// database is asked.
#pragma once

#include "cache/store.h"
#include "server/compile/batch/batch_context.h"
#include "server/compile/batch/batch_run.h"

namespace kiln::compile {

// Holds leases on what the batch uses, renewed every minute.
void HoldLeases(const BatchContext& context, BatchRun& run, const cache::Call& call);
void ReleaseLeases(const BatchContext& context, const BatchRun& run);

// Pins the results under the name that the request gives, unless the run is over. What cannot be
// pinned counts as not stored.
void PinResults(const BatchContext& context, BatchRun& run);

}  // namespace kiln::compile
