// SPDX-License-Identifier: MIT
// The counts of a batch row as bytes: what a daemon shows of a batch before, and after, it walks it
// again. A private format: a row of another version is read as having no counts. spec/daemon 7.1
//
//   u8 version | u8 flags (1: detached) | i64 started | u64 next seq | u64 × counts, little-endian
//   | owner 0 tenant 0 pin owner 0 paused by | 0 starter, of each
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cache/batch_rows.h"
#include "compiler/base/bytes.h"
#include "compiler/base/clock.h"
#include "compiler/base/result.h"
#include "server/compile/batch/batch_context.h"
#include "server/compile/batch/batch_progress.h"
#include "server/compile/batch/batch_request.h"
#include "server/compile/batch/batch_run.h"

namespace kiln::compile {

struct BatchNotes {
  bool detach = false;
  std::string owner, tenant, pin_owner, paused_by;  // without zeros, as the following
  std::vector<std::string> starters;
  int64_t started_ms = 0;
  uint64_t next_seq = 1;
  BatchProgress progress;  // counts only
};

Bytes EncodeNotes(const BatchNotes& notes);
BatchNotes DecodeNotes(ByteView bytes);

// Milliseconds since 1970.
int64_t UnixMs(Clock& clock);

// Puts the row of a run: what the next process goes on with. `state`: instead of the run's. Rows of
// one run are put one after another, under its save_mutex; its other lock is not held meanwhile.
// Errors: as BatchRows; the next process goes on with the row before, unless it is put until then.
Result<void> SaveRow(const BatchContext& context, BatchRun& run,
                     std::optional<BatchState> state = std::nullopt);
// The same where something changed. Who asks for what is done already hears, too, that it is not
// stored yet.
Result<void> SaveIfChanged(const BatchContext& context, BatchRun& run, bool changed);

// The run of a row of an earlier process. One that is over tells its end; any other is parked until
// a chunk is submitted for it.
BatchRunPtr RestoredRun(const cache::BatchRow& row, BatchRequest request, Clock& clock);

// The same for a request that would be refused today: the row was written by a daemon with higher
// limits than this one. It has failed, which is saved, and says why.
BatchRunPtr RefusedRun(const BatchContext& context, const cache::BatchRow& row, const Error& error);

}  // namespace kiln::compile
