// SPDX-License-Identifier: MIT
// Batch rows in cache.db. See spec/cache 6.3, spec/daemon 7.1.
#pragma once

#include "cache/batch_rows.h"
#include "cache/sqlite/sqlite_store.h"

namespace kiln::cache::sqlite {

// Threads: see BatchRows; no state of its own.
class BatchTable final : public BatchRows {
 public:
  // Requires: store outlives this.
  explicit BatchTable(SqliteStore& store) : store_(store) {}

  Result<void> Put(const BatchRow& row) override;
  Result<BatchRow> Get(const Hash128& id) override;
  Result<std::vector<BatchRow>> List(const std::optional<Hash128>& after, uint32_t limit) override;
  Result<void> Remove(const Hash128& id) override;

 private:
  SqliteStore& store_;
};

}  // namespace kiln::cache::sqlite
