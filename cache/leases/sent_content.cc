// SPDX-License-Identifier: MIT
// A queue for each owner, and where each content stands in it. Owners are few (principals of a
// daemon), so who has most is looked for among all of them.
#include "cache/leases/sent_content.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "cache/leases/actor.h"

namespace kiln::cache {
namespace {

// A page of the file. Requests bring few small contents that nobody names, and a flood of them must
// not have larger ones forgotten.
constexpr uint64_t kSmall = 4096;

}  // namespace

// Rounded up, so that the number of contents is bounded by the bytes of the share.
uint64_t SentContent::CostOf(uint64_t bytes) const {
  return std::max(bytes, shares_.most() / kMostContents + 1);
}

bool SentContent::Add(std::string_view owner, const Hash128& id, uint64_t bytes, int64_t now_s) {
  const MutexLock lock(mutex_);
  const bool nobodys = owner == kRequests;
  if (const auto known = places_.find(id); known != places_.end()) {
    const auto [of, row] = known->second;
    if (of->first == OwnerName(owner)) {
      row->sent_s = now_s;
      of->second.splice(of->second.end(), of->second, row);
    }
    return false;
  }
  if (nobodys && bytes < kSmall) {
    return false;
  }
  const auto of = owners_.try_emplace(std::string(OwnerName(owner))).first;
  of->second.push_back({.id = id, .cost = CostOf(bytes), .sent_s = now_s});
  places_[id] = {.owner = of, .row = std::prev(of->second.end())};
  shares_.Add(of->first, of->second.back().cost);
  // Senders are asked whether it fits; requests are not, so here their number is bounded.
  if (nobodys && of->second.size() > kMostContents) {
    Drop(of->second.front().id);
  }
  return true;
}

void SentContent::Drop(const Hash128& id) {
  const auto found = places_.find(id);
  if (found == places_.end()) {
    return;
  }
  const auto [owner, row] = found->second;
  shares_.Remove(owner->first, row->cost);
  owner->second.erase(row);
  if (owner->second.empty()) {
    owners_.erase(owner);
  }
  places_.erase(found);
}

void SentContent::Forget(const Hash128& id) {
  const MutexLock lock(mutex_);
  Drop(id);
}

bool SentContent::Fits(std::string_view owner) const {
  const MutexLock lock(mutex_);
  return shares_.Fits(owner);
}

// Where the sender has most himself he is refused rather than others lose what they have.
std::optional<Hash128> SentContent::NextToGo(std::string_view owner, int64_t now_s) const {
  const MutexLock lock(mutex_);
  std::vector<OwnedThing> things;
  std::vector<const Row*> oldest;
  for (const auto& [name, rows] : owners_) {
    things.push_back({.owner = name, .used = rows.front().sent_s});
    oldest.push_back(&rows.front());
  }
  const std::optional<size_t> next = cache::NextToGo(shares_, things, owner);
  if (!next.has_value()) {
    return std::nullopt;
  }
  const bool is_own = things[*next].owner == OwnerName(owner);
  const bool is_young = oldest[*next]->sent_s + young_s_ > now_s;
  return is_own && is_young ? std::nullopt : std::optional(oldest[*next]->id);
}

std::vector<Hash128> SentContent::OldestOfMost(uint64_t bytes, size_t contents) const {
  const MutexLock lock(mutex_);
  const Rows* most = nullptr;
  uint64_t has = 0;
  for (const auto& [name, rows] : owners_) {
    if (const uint64_t of = shares_.Of(name); of > has) {
      most = &rows;
      has = of;
    }
  }
  std::vector<Hash128> oldest;
  uint64_t found = 0;
  for (auto row = most == nullptr ? Rows::const_iterator() : most->begin();
       most != nullptr && row != most->end() && found < bytes && oldest.size() < contents; ++row) {
    found += row->cost;
    oldest.push_back(row->id);
  }
  return oldest;
}

std::vector<Hash128> SentContent::SentBefore(int64_t then_s, size_t contents) {
  const MutexLock lock(mutex_);
  std::vector<Hash128> found;
  for (auto& [name, rows] : owners_) {
    // Each is looked at once in a pass: those that stay go to the end.
    for (size_t left = rows.size(); left > 0 && found.size() < contents; --left) {
      if (rows.front().sent_s >= then_s) {
        break;
      }
      found.push_back(rows.front().id);
      rows.splice(rows.end(), rows, rows.begin());
    }
  }
  return found;
}

bool SentContent::empty() const {
  const MutexLock lock(mutex_);
  return places_.empty();
}

uint64_t SentContent::Of(std::string_view owner) const {
  const MutexLock lock(mutex_);
  return shares_.Of(owner);
}

std::vector<SentContent::Share> SentContent::Shares() const {
  std::vector<Share> shares;
  const MutexLock lock(mutex_);
  for (const auto& [name, rows] : owners_) {
    Share share{.owner = name, .bytes = shares_.Of(name), .contents = rows.size()};
    for (const Row& row : rows) {
      share.last_s = std::max(share.last_s, row.sent_s);
    }
    shares.push_back(std::move(share));
  }
  std::ranges::sort(shares, [](const Share& a, const Share& b) {
    return std::tie(b.bytes, a.owner) < std::tie(a.bytes, b.owner);
  });
  return shares;
}

}  // namespace kiln::cache
