// SPDX-License-Identifier: MIT
// Refuses writes between two watermarks.
#include "cache/decorators/limited_store.h"

#include <algorithm>

namespace kiln::cache {

Result<PutResult> LimitedStore::Put(std::span<const Item> items, Durability durability,
                                    const Call& call) {
  const uint64_t used = collectable_.UsedBytes();
  // Divided first: the product could overflow for a limit near 2^64, and a hundredth of a byte does
  // not matter.
  const uint64_t low = options_.max_bytes / 100 * options_.low_percent;
  // Collecting begins well before the limit and goes on behind the answer, so a put hardly ever
  // meets a full cache. A disk that others fill counts as well (spec/cache 6.10).
  if (used >= options_.max_bytes / 100 * options_.high_percent) {
    collectable_.StartCollecting(low);
  } else if (const uint64_t free = collectable_.FreeDiskBytes(); free < options_.min_free_bytes) {
    collectable_.StartCollecting(used - std::min(used, options_.min_free_bytes - free));
  }
  if (used >= options_.max_bytes) {
    // Nobody is refused for the sake of what others have sent and no result names.
    collectable_.MakeRoom(options_.max_bytes / 100 * options_.high_percent, call);
  }
  if (const uint64_t still = collectable_.UsedBytes(); still >= options_.max_bytes) {
    return Error{.code = ErrorCode::kFull,
                 .context = "the cache holds " + std::to_string(still) + " of " +
                            std::to_string(options_.max_bytes) + " bytes",
                 .reason = "CACHE_FULL"};
  }
  return below_.Put(items, durability, call);
}

}  // namespace kiln::cache
