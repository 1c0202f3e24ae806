// SPDX-License-Identifier: MIT
#include "cache/sqlite/session/block_places.h"

#include <algorithm>

namespace kiln::cache::sqlite {

// Looks at the place behind the last one of each block first, then at all of them: a few hundred
// ids, still a tenth of what a statement costs.
std::optional<BlockPlaces::Found> BlockPlaces::Find(const Hash128& id) {
  if (changes_ == nullptr) {
    return std::nullopt;
  }
  if (changes_->load() != state_) {
    Forget();
    return std::nullopt;
  }
  const auto found = [&](size_t block, size_t row) {
    ToFront(block);
    blocks_.front().next = row + 1;
    return Found{.block = blocks_.front().name, .place = blocks_.front().places[row]};
  };
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    if (block.next < block.places.size() && block.places[block.next].id == id) {
      return found(i, block.next);
    }
  }
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const std::vector<ContentPlace>& places = blocks_[i].places;
    const auto place = std::ranges::find(places, id, &ContentPlace::id);
    if (place != places.end()) {
      return found(i, static_cast<size_t>(place - places.begin()));
    }
  }
  return std::nullopt;
}

void BlockPlaces::ToFront(size_t block) {
  const auto begin = blocks_.begin() + static_cast<ptrdiff_t>(block);
  std::rotate(blocks_.begin(), begin, begin + 1);
}

// The count is taken before the read begins: a change that comes meanwhile is either in what is
// read or counts later, and then what was read goes.
void BlockPlaces::BeginRead() {
  if (changes_ == nullptr) {
    return;
  }
  if (const uint64_t now = changes_->load(); now != state_) {
    Forget();
    state_ = now;
  }
}

bool BlockPlaces::IsWanted(const BlockName& block) {
  if (changes_ == nullptr) {
    return false;
  }
  const auto known = std::ranges::find(blocks_, block, &Block::name);
  if (known != blocks_.end()) {
    return known->places.empty();
  }
  ToFront(blocks_.size() - 1);
  blocks_.front() = {.name = block};
  return false;
}

void BlockPlaces::Keep(const BlockName& block, std::vector<ContentPlace> places) {
  const auto known = std::ranges::find(blocks_, block, &Block::name);
  if (known == blocks_.end() || places.size() > kMostRows) {
    return;
  }
  known->places = std::move(places);
}

void BlockPlaces::Forget() { blocks_ = {}; }

}  // namespace kiln::cache::sqlite
