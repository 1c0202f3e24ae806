// SPDX-License-Identifier: MIT
// The first chunk of a batch: its programs are prepared and their points listed. See
// spec/daemon 6.4
//
// Threads: one call per run. It takes the run's lock for what it tells and hands over, and holds it
// for none of the counting.
#pragma once

#include "cache/key.h"
#include "cache/store.h"
#include "compiler/base/digest.h"
#include "server/compile/batch/batch_context.h"
#include "server/compile/batch/batch_run.h"

namespace kiln::compile {

// The name under which attempts to scan a batch are noted: what ends the process three times while
// it counts is not tried again.
cache::Key ScanKey(const Hash128& batch);

// Prepares every program and lists its points. False if the batch cannot go on: it was stopped, or
// scanning it has ended too many processes.
bool ScanBatch(const BatchContext& context, BatchRun& run, const cache::Call& call);

}  // namespace kiln::compile
