// SPDX-License-Identifier: MIT
// What a verification finds is mended where the right value is known, and dropped where it is not.
// What was dropped is a miss, so the next request makes it again. See spec/cache 9
#pragma once

#include <stop_token>

#include "cache/maintenance.h"
#include "cache/sqlite/sqlite_store.h"

namespace kiln::cache::sqlite {

// Threads and errors of both: as Maintenance::Verify and Maintenance::Repair.
Result<VerifyReport> VerifyStore(SqliteStore& store, const VerifyOptions& options);
Result<RepairReport> RepairStore(SqliteStore& store, const std::stop_token& stop);

}  // namespace kiln::cache::sqlite
