// SPDX-License-Identifier: MIT
#include "cache/sqlite/store_parts.h"

namespace kiln::cache::sqlite {

Result<void> StoreParts::Flush() {
  dictionaries.PutGathered();
  return session.Write(
      [this](TableWrites& writes) { return FlushAccessTimes(writes, access_times); }, {});
}

}  // namespace kiln::cache::sqlite
