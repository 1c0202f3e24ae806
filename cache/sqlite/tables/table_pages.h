// SPDX-License-Identifier: MIT
// A table page by page, so that no read transaction lives long: a statement with a place to begin
// and a LIMIT -> every row, in order. See spec/cache 6.4
#pragma once

#include <stop_token>

#include "cache/sqlite/statement.h"
#include "compiler/base/threads/stop.h"

namespace kiln::cache::sqlite {

// `bind` binds the place where the next page begins; `each` reads a row and moves that place on.
// Ends with the first page without rows, or when stopped. What `bind` binds must not change before
// the page is read.
template <class Bind, class Each>
Result<void> EachPage(Statement& statement, const std::stop_token& stop, const Bind& bind,
                      const Each& each) {
  while (!stop.stop_requested()) {
    Query query(statement);
    bind(query);
    KILN_TRY(const int64_t rows, query.EachRow([&each](const Query& row) {
      CheckStop();  // what is done with a row may take longer than reading it
      each(row);
    }));
    if (rows == 0) {
      return {};
    }
  }
  return {};
}

}  // namespace kiln::cache::sqlite
