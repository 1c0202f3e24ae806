// SPDX-License-Identifier: MIT
// What everything that is written shares: the writing connection with statements that read through
// it, the time, and what is counted.
//
// Threads: belongs to the writer thread.
#pragma once

#include <cstdint>
#include <memory>

#include "cache/sqlite/connection.h"
#include "cache/sqlite/counters.h"
#include "cache/sqlite/session/read_statements.h"
#include "cache/sqlite/tables/block_table.h"
#include "compiler/base/clock.h"

namespace kiln::cache::sqlite {

// Unit of used_q.
inline constexpr int64_t kQuantumSeconds = 600;
// Content without a record lives at least this long after it was put (spec/cache 8.2).
inline constexpr int64_t kGraceSeconds = 600;

struct WriteContext {
  // At an address that stays, because statements refer to it. Requires: connection, clock and
  // counters outlive the context.
  static Result<std::unique_ptr<WriteContext>> Prepare(Connection& connection, Clock& clock,
                                                       Counters& counters);

  int64_t NowSeconds() const;
  int64_t NowQuantum() const { return NowSeconds() / kQuantumSeconds; }

  Connection& connection;
  Clock& clock;
  Counters& counters;
  ReadStatements reads = {};
  std::unique_ptr<BlockTable> blocks = {};
};

}  // namespace kiln::cache::sqlite
