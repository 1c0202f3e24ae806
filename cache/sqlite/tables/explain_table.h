// SPDX-License-Identifier: MIT
// Explain records in cache.db: a ring for each slot. See spec/cache 11.1
#pragma once

#include "cache/explain/explain.h"
#include "cache/sqlite/sqlite_store.h"

namespace kiln::cache::sqlite {

// Threads: see ExplainLog; no state of its own.
class ExplainTable final : public ExplainLog {
 public:
  // `max_bytes`: of all records, which no collection takes; slots go beyond it. Requires: store
  // outlives this.
  // `max_bytes`: of all records. `cache_bytes`: of the whole cache; where it has as many, records
  // take the place of others and no more. 0: no bound.
  explicit ExplainTable(SqliteStore& store, uint64_t max_bytes = uint64_t{1} << 40,
                        uint64_t cache_bytes = 0)
      : store_(store), max_bytes_(max_bytes), cache_bytes_(cache_bytes) {}

  uint64_t NextSeq() override;
  void Append(std::span<const std::shared_ptr<const ExplainRecord>> records) override;
  Result<std::vector<ExplainRecord>> Records(const ExplainSlot& slot) override;
  Result<void> Each(const std::stop_token& stop,
                    const std::function<void(const ExplainRecord&)>& each) override;
  Result<std::optional<ExplainRecord>> Find(const Hash128& signature,
                                            const std::stop_token& stop) override;

 private:
  // Of records that have these bytes somewhere.
  Result<void> EachWith(ByteView bytes, const std::stop_token& stop,
                        const std::function<void(const ExplainRecord&)>& each);

  SqliteStore& store_;
  const uint64_t max_bytes_, cache_bytes_;
};

}  // namespace kiln::cache::sqlite
