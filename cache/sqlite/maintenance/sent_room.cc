// SPDX-License-Identifier: MIT
// What goes is chosen from what is known in memory and removed on the writer thread, which looks
// again whether a record names it by now: then it stays, and is only forgotten here. A content that
// goes although a record was about to name it has that record refused (REFS_MISSING) and sent or
// made again.
#include "cache/sqlite/maintenance/sent_room.h"

#include <limits>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cache/leases/actor.h"

namespace kiln::cache::sqlite {
namespace {

// One transaction of the writer, for which puts wait, removes so many.
constexpr size_t kContentsAtOnce = 1024;
// A put that meets a full store waits for so many of them at most.
constexpr int kMostRounds = 16;

}  // namespace

int64_t SentRoom::NowSeconds() const {
  return std::chrono::duration_cast<std::chrono::seconds>(parts_.clock.UnixTime()).count();
}

Result<void> SentRoom::Drop(std::vector<Hash128> ids, const Call& call) {
  // The change lives longer than this call if the caller leaves: it owns what it names.
  KILN_TRY_VOID(parts_.session.Write(
      [ids](TableWrites& writes) -> Result<void> {
        KILN_TRY([[maybe_unused]] const std::vector<Hash128> stay,
                 writes.removals().DropUnnamed(ids, std::numeric_limits<int64_t>::max(),
                                               [](const Hash128& /*id*/) { return false; }));
        return {};
      },
      call));
  for (const Hash128& id : ids) {
    parts_.sent.Forget(id);
  }
  return {};
}

Result<std::vector<Hash128>> SentRoom::Admit(std::string_view owner, std::span<const Item> contents,
                                             const Call& /*call*/) {
  const int64_t now_s = NowSeconds();
  std::vector<Hash128> counted;
  for (const Item& item : contents) {
    if (parts_.sent.Add(owner, item.key.id, item.value.raw_size, now_s)) {
      counted.push_back(item.key.id);
    }
  }
  // What counts no longer must go, whether the caller still waits or not: nothing here asks for
  // him.
  std::vector<Hash128> gone;
  bool fits = parts_.sent.Fits(owner);
  while (!fits && gone.size() < kContentsAtOnce) {
    const std::optional<Hash128> next = parts_.sent.NextToGo(owner, now_s);
    if (!next.has_value()) {
      break;
    }
    parts_.sent.Forget(*next);
    gone.push_back(*next);
    fits = parts_.sent.Fits(owner);
  }
  if (!gone.empty()) {
    KILN_TRY_VOID(Drop(std::move(gone), {}));
  }
  if (fits) {
    return counted;
  }
  const uint64_t would_have = parts_.sent.Of(owner);
  Forget(counted);
  return Error{.code = ErrorCode::kFull,
               .context = fmt::format(
                   "{} would keep {} bytes of content that no result names; {} are allowed to "
                   "one, {} to all, and what was sent makes room after ten minutes",
                   OwnerName(owner), would_have, parts_.sent.MostOfOne(), parts_.sent.most()),
               .reason = "CACHE_FULL"};
}

void SentRoom::Forget(std::span<const Hash128> contents) {
  for (const Hash128& id : contents) {
    parts_.sent.Forget(id);
  }
}

void SentRoom::MakeRoom(uint64_t target_bytes, const Call& call) {
  for (int round = 0; round < kMostRounds; ++round) {
    const uint64_t used = parts_.counters.used_bytes + parts_.aside.bytes();
    std::vector<Hash128> ids = used <= target_bytes
                                   ? std::vector<Hash128>()
                                   : parts_.sent.OldestOfMost(used - target_bytes, kContentsAtOnce);
    if (ids.empty() || !Drop(std::move(ids), call).ok()) {
      return;
    }
  }
}

void SentRoom::Note(std::span<const Item> put) {
  std::unordered_set<Hash128, Hash128Hash> named;
  for (const Item& item : put) {
    for (const Hash128& id : item.refs) {
      parts_.sent.Forget(id);
      named.insert(id);
    }
  }
  const int64_t now_s = NowSeconds();
  for (const Item& item : put) {
    if (item.key.level == Level::kContent && !named.contains(item.key.id)) {
      parts_.sent.Add(SentContent::kRequests, item.key.id, item.value.raw_size, now_s);
    }
  }
}

}  // namespace kiln::cache::sqlite
