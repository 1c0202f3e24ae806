// SPDX-License-Identifier: MIT
// How many rows of each level a file has: its indexes, page by page, so that a store of millions of
// rows keeps nobody waiting. Callers that show the numbers often keep them (SqliteStore::Records).
// See spec/daemon 13.2
#pragma once

#include <array>
#include <cstdint>
#include <stop_token>

#include "cache/sqlite/connection.h"
#include "cache/store.h"

namespace kiln::cache::sqlite {

// By level.
using RecordCounts = std::array<uint64_t, kLevelCount>;

// What comes and goes meanwhile may be counted or not. When stopped: what was counted so far.
Result<RecordCounts> CountRecords(Connection& connection, const std::stop_token& stop);

}  // namespace kiln::cache::sqlite
