// SPDX-License-Identifier: MIT
// Batch rows in memory. Used where there is no database, and in tests. Any thread may call; one
// mutex guards the map, whose order by id is the order of the pages.
#include "cache/batch_rows.h"

namespace kiln::cache {

Result<void> MemoryBatchRows::Put(const BatchRow& row) {
  const MutexLock lock(mutex_);
  rows_[row.id] = row;
  return {};
}

Result<BatchRow> MemoryBatchRows::Get(const Hash128& id) {
  const MutexLock lock(mutex_);
  const auto found = rows_.find(id);
  if (found == rows_.end()) {
    return Error{.code = ErrorCode::kNotFound, .context = "batch " + id.hex()};
  }
  return found->second;
}

// `after` is the id that the former page ended with. A row that is added or removed between two
// pages is seen or not, and no other row is seen twice.
Result<std::vector<BatchRow>> MemoryBatchRows::List(const std::optional<Hash128>& after,
                                                    uint32_t limit) {
  const MutexLock lock(mutex_);
  std::vector<BatchRow> rows;
  auto it = after.has_value() ? rows_.upper_bound(*after) : rows_.begin();
  for (; it != rows_.end() && rows.size() < limit; ++it) {
    rows.push_back(it->second);
  }
  return rows;
}

Result<void> MemoryBatchRows::Remove(const Hash128& id) {
  const MutexLock lock(mutex_);
  rows_.erase(id);
  return {};
}

}  // namespace kiln::cache
