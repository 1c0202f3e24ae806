// SPDX-License-Identifier: MIT
// What all writes of one connection share. It belongs to the writer's thread and lives as long as
// its connection.
#include "cache/sqlite/session/write_context.h"

#include <chrono>

namespace kiln::cache::sqlite {

Result<std::unique_ptr<WriteContext>> WriteContext::Prepare(Connection& connection, Clock& clock,
                                                            Counters& counters) {
  std::unique_ptr<WriteContext> context(
      new WriteContext{.connection = connection, .clock = clock, .counters = counters});
  KILN_TRY(context->reads, ReadStatements::Prepare(connection));
  KILN_TRY(context->blocks, BlockTable::Prepare(connection, context->reads));
  return context;
}

int64_t WriteContext::NowSeconds() const {
  return std::chrono::duration_cast<std::chrono::seconds>(clock.UnixTime()).count();
}

}  // namespace kiln::cache::sqlite
