// SPDX-License-Identifier: MIT
// Blocks, in which several contents are stored as one: how they come into the tables, and what
// becomes of one that contents have left. Every function runs inside a transaction of the writer's
// connection; after an error the caller rolls back. See spec/cache 6.3, 8.2
//
// Threads: belongs to the writer thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cache/sqlite/connection.h"
#include "cache/sqlite/session/read_statements.h"

namespace kiln::cache::sqlite {

class BlockTable {
 public:
  // Requires: both outlive the table.
  static Result<std::unique_ptr<BlockTable>> Prepare(Connection& connection, ReadStatements& reads);

  // The number of the new row.
  Result<int64_t> Insert(const Blob& block);

  // Contents have left these blocks: one that is empty goes, one of which a quarter has gone is
  // written anew without it. A block that is damaged stays as it is until its last content goes.
  Result<void> Tidy(std::span<const int64_t> blocks);

 private:
  struct Content {
    int64_t rid = 0;
    Hash128 id;
    uint64_t at = 0;
    uint64_t raw_size = 0;
    Hash128 sum;
  };

  BlockTable(Connection& connection, ReadStatements& reads)
      : connection_(connection), reads_(reads) {}

  Result<std::vector<Content>> ContentsOf(int64_t bid);
  Result<void> TidyOne(int64_t bid);
  Result<void> Rewrite(int64_t bid, const StoredBlock& block, std::span<const Content> contents);

  Connection& connection_;
  ReadStatements& reads_;
  Statement insert_, replace_, remove_, raw_size_, contents_, move_;
};

}  // namespace kiln::cache::sqlite
