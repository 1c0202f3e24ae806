// SPDX-License-Identifier: MIT
// What a daemon keeps of its batches over a restart: request, state, counts. Everything else about
// a batch is the content of the cache. The bytes belong to the server. See spec/cache 6.3,
// spec/daemon 7.1.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"
#include "compiler/base/mutex.h"
#include "compiler/base/result.h"

namespace kiln::cache {

struct BatchRow {
  Hash128 id;
  Bytes spec;
  uint32_t state = 0;
  Bytes counts;
  int64_t updated_s = 0;

  friend bool operator==(const BatchRow&, const BatchRow&) = default;
};

// Threads: safe from any thread.
class BatchRows {
 public:
  virtual ~BatchRows() = default;

  // Inserts or replaces, durably. Errors: kFailedPrecondition with reason READ_ONLY; kFull, kBusy.
  virtual Result<void> Put(const BatchRow& row) = 0;
  // Errors: kNotFound.
  virtual Result<BatchRow> Get(const Hash128& id) = 0;
  // Up to `limit` rows with ids after `after` (nullopt: from the start), ascending by id.
  virtual Result<std::vector<BatchRow>> List(const std::optional<Hash128>& after,
                                             uint32_t limit) = 0;
  // Removing what is not there succeeds.
  virtual Result<void> Remove(const Hash128& id) = 0;
  // Whether the last row that was put is not stored yet.
  virtual bool Waits(const Hash128& /*id*/) { return false; }
};

// For a daemon without a store of its own: forgotten at its end.
class MemoryBatchRows final : public BatchRows {
 public:
  Result<void> Put(const BatchRow& row) override;
  Result<BatchRow> Get(const Hash128& id) override;
  Result<std::vector<BatchRow>> List(const std::optional<Hash128>& after, uint32_t limit) override;
  Result<void> Remove(const Hash128& id) override;

 private:
  Mutex mutex_;
  std::map<Hash128, BatchRow> rows_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::cache
