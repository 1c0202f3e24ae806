// SPDX-License-Identifier: MIT
// The walk over all rows of a store that verify, for exports. See spec/cache 6.4, 8.6
#pragma once

#include <functional>

#include "cache/maintenance.h"
#include "cache/sqlite/sqlite_store.h"

namespace kiln::cache::sqlite {

// Threads and errors: as Maintenance::EachRow.
Result<void> EachRow(SqliteStore& store, const RowFilter& filter,
                     const std::function<Result<void>(const Key& key, ByteView value)>& each);

}  // namespace kiln::cache::sqlite
