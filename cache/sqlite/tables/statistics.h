// SPDX-License-Identifier: MIT
// Numbers of a whole store, table by table.
#pragma once

#include "cache/maintenance.h"
#include "cache/sqlite/sqlite_store.h"
#include "compiler/base/clock.h"

namespace kiln::cache::sqlite {

// Threads: from any thread; takes as long as the store is large. Errors: those of the file.
Result<StoreStats> StatisticsOf(SqliteStore& store, Clock& clock);

}  // namespace kiln::cache::sqlite
