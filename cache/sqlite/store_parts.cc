// SPDX-License-Identifier: MIT
// Everything that is gathered in memory goes to the file: content that waits for a dictionary
// first, since putting it touches rows, then the times of use.
#include "cache/sqlite/store_parts.h"

namespace kiln::cache::sqlite {

Result<void> StoreParts::Flush() {
  dictionaries.PutGathered();
  return session.Write(
      [this](TableWrites& writes) { return FlushAccessTimes(writes, access_times); }, {});
}

}  // namespace kiln::cache::sqlite
