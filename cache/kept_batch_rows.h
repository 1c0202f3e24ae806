// SPDX-License-Identifier: MIT
// Rows of batches over a store that may be full for a while: what it does not take is kept in
// memory, the latest row of each batch, and is put again until it is taken. Whoever puts is told
// the truth all the same. See spec/cache 6.3, spec/daemon 7.1
//
// Threads: see BatchRows. One thread of its own puts again; one mutex guards what waits, and is
// held while a row of it is written, so that no older row comes behind a newer one.
#pragma once

#include <map>

#include "cache/batch_rows.h"
#include "compiler/base/clock.h"
#include "compiler/base/threads/thread.h"

namespace kiln::cache {

// What waits is as much as the batches that are known have rows, which are bounded (`batches`).
class KeptBatchRows final : public BatchRows {
 public:
  // Requires: `below` outlives this.
  KeptBatchRows(BatchRows& below, Duration retry);
  // What waits is put a last time.
  ~KeptBatchRows() override;

  // Errors: as the rows below; then the row waits.
  Result<void> Put(const BatchRow& row) override;
  Result<BatchRow> Get(const Hash128& id) override;
  // Of the rows below: it is asked once, before anything can wait.
  Result<std::vector<BatchRow>> List(const std::optional<Hash128>& after, uint32_t limit) override {
    return below_.List(after, limit);
  }
  Result<void> Remove(const Hash128& id) override;
  bool Waits(const Hash128& id) override;

 private:
  void PutWaiting() KILN_REQUIRES(mutex_);
  void Retry();

  BatchRows& below_;
  const Duration retry_;
  Mutex mutex_;
  CondVar changed_;
  std::map<Hash128, BatchRow> waiting_ KILN_GUARDED_BY(mutex_);
  bool ended_ KILN_GUARDED_BY(mutex_) = false;
  Thread thread_;
};

}  // namespace kiln::cache
