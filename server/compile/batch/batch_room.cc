// SPDX-License-Identifier: MIT
// Whether one more batch has room among those that are remembered, and which have to go for it
// (spec/daemon 10). Only batches that are over go, those of whoever has most first.
#include "server/compile/batch/batch_room.h"

#include <optional>

#include <fmt/format.h>

#include "cache/leases/actor.h"
#include "cache/leases/owner_shares.h"

namespace kiln::compile {

// Four things are counted, and three of them shrink when a batch goes that is over. Looks at all
// that is known for each that goes, which is one or none in a daemon that is full.
Result<std::vector<size_t>> RoomForBatch(std::span<const RememberedBatch> known,
                                         std::string_view starter, uint64_t bytes,
                                         const BatchRoomLimits& most) {
  cache::OwnerShares unfinished(kMostUnfinished), kept(kMostKept), stored(most.bytes);
  cache::OwnerShares results(most.results);
  std::vector<cache::OwnedThing> things;
  for (const RememberedBatch& batch : known) {
    things.push_back({.owner = batch.of, .used = batch.started_ms, .may_go = batch.over});
    (batch.over ? kept : unfinished).Add(batch.of, 1);
    stored.Add(batch.of, batch.bytes);
    results.Add(batch.of, batch.over ? batch.results : 0);
  }
  unfinished.Add(starter, 1);
  stored.Add(starter, bytes);
  std::vector<size_t> dropped;
  for (;;) {
    // The order decides which bound is told if none can be met; room is made for the first that
    // does not fit.
    const cache::OwnerShares* const full = !stored.Fits(starter)    ? &stored
                                           : !kept.Fits(starter)    ? &kept
                                           : !results.Fits(starter) ? &results
                                                                    : nullptr;
    const std::optional<size_t> next =
        full == nullptr ? std::nullopt : cache::NextToGo(*full, things, starter);
    if (!next.has_value()) {
      break;
    }
    const RememberedBatch& batch = known[*next];
    kept.Remove(batch.of, 1);
    stored.Remove(batch.of, batch.bytes);
    results.Remove(batch.of, batch.results);
    things[*next].may_go = false;
    dropped.push_back(*next);
  }
  if (unfinished.Fits(starter) && stored.Fits(starter)) {
    return dropped;
  }
  return Error{.code = ErrorCode::kResourceExhausted,
               .context = fmt::format(
                   "{} batches are not over, {} of them of {}, and {} bytes are stored of all, {} "
                   "of these; cancel some, or wait until they are over",
                   unfinished.all() - 1, unfinished.Of(starter) - 1, cache::OwnerName(starter),
                   stored.all() - bytes, stored.Of(starter) - bytes),
               .reason = "QUOTA"};
}

}  // namespace kiln::compile
