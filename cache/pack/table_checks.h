// SPDX-License-Identifier: MIT
// The rows of a pack's index, believed by nobody yet: every number that names a row, a block or a
// place is in range, keys and ids are there once. See spec/cache 10.6
#pragma once

#include <string>
#include <utility>

#include <fmt/format.h>

#include "cache/pack/errors.h"
#include "cache/pack/tables.h"

namespace kiln::pack {

template <class... Args>
Error Corrupt(fmt::format_string<Args...> format, Args&&... args) {
  return PackError(kCorrupt, fmt::format(format, std::forward<Args>(args)...) +
                                 "; fetch or build the pack again");
}

// [first, first + count) within `size`?
inline bool InRange(uint64_t first, uint64_t count, uint64_t size) {
  return first <= size && count <= size - first;
}

// Fills in artifacts_by_key, blobs_by_id and complete_blocks. `base`: of a delta, else null.
// Errors: PACK_CORRUPT and PACK_LIMIT, naming section and row.
Result<void> CheckRows(Tables& tables, const Tables* base);

}  // namespace kiln::pack
