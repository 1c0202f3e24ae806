// SPDX-License-Identifier: MIT
// Placement of items in an address space of blocks: two may share bytes iff their epochs are
// disjoint. Gaps never cross the border of two blocks; the last block has no end. Best fit takes
// the gap with the smallest rest, the lowest on ties; what fits no gap goes on top. Private to
// runtime/graph. See spec/graph 6.8.2
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/graph/sort_keys.h"

namespace kiln::graph {

enum class Effort : uint8_t;

// A chain to be placed.
struct PackItem {
  uint64_t size = 0;
  uint64_t alignment = 1;  // a power of two
  uint32_t first = 0;      // epochs, both included
  uint32_t last = 0;
  uint32_t chain = 0;
  uint32_t memory_class = 0;
};

// Rows of a window of epochs, by offset: bytes that are taken in the epochs [firsts, lasts]. Lanes
// beyond the count are taken in no epoch.
struct PlacedPage {
  static constexpr uint32_t kRows = 128;
  struct Extent {
    uint64_t begin;
    uint64_t end;
  };
  std::array<uint16_t, kRows> firsts;
  std::array<uint16_t, kRows> lasts;
  std::array<Extent, kRows> extents;
  uint32_t count;
  uint32_t after;  // the page with the rows above
};

// Bytes between two borders of the sweep by time, in the order of addresses.
struct SweepPart {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint32_t before = 0;  // neighbours
  uint32_t after = 0;
  uint32_t bin_before = 0;  // free parts of about this size
  uint32_t bin_after = 0;   // of an item: the next that ends in its last epoch
  uint32_t bin = 0;         // that it lies in, if free
};

struct PackScratch {
  std::vector<uint32_t> order;
  std::vector<PackItem> sorted;  // items by order
  std::vector<uint64_t> begins;  // by item
  std::vector<uint64_t> best;
  std::vector<PlacedPage> pages;
  std::vector<uint32_t> windows;  // first pages, by window of epochs; the last one has all
  std::vector<SweepPart> parts;
  std::vector<uint32_t> ending;  // by epoch: part
  std::vector<uint32_t> bins;    // first free part of about this size
  std::vector<uint64_t> filled;  // bit set of bins
  std::vector<uint64_t> load;    // by epoch: bytes
  std::vector<KeyedIndex> keys;
  std::vector<KeyedIndex> spare_keys;
  std::vector<uint32_t> by_epoch;
};

inline constexpr uint64_t kNoAddress = ~uint64_t{0};

inline uint64_t AlignAddress(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

// The end of the block that holds the address.
inline uint64_t BlockEnd(std::span<const uint64_t> blocks, uint64_t address) {
  uint64_t end = 0;
  for (const uint64_t block : blocks) {
    end += block;
    if (address < end) {
      return end;
    }
  }
  return kNoAddress;
}

struct PackAttempt {
  std::span<const PackItem> items;
  std::span<const uint64_t> blocks;
  PackScratch& scratch;
  uint64_t limit;  // give up at this top
};

// Puts the items side by side in the order in which they are placed.
inline void GatherItems(PackAttempt& attempt) {
  std::vector<PackItem>& sorted = attempt.scratch.sorted;
  sorted.resize(attempt.scratch.order.size());
  std::transform(attempt.scratch.order.begin(), attempt.scratch.order.end(), sorted.begin(),
                 [&](uint32_t index) { return attempt.items[index]; });
}

// Both leave the items' offsets in scratch.begins and return the top, or the limit if it was
// reached. Items in any order of scratch.order.
uint64_t PlaceInOrder(PackAttempt& attempt, bool best_fit);
// Requires: scratch.order is by first epoch. Best fit.
uint64_t PlaceByTime(PackAttempt& attempt);

// Packs items of one class into an address space whose first blocks have the given sizes; returns
// the top. Offsets are left in scratch.best, by item.
struct PackResult {
  uint64_t top = 0;
  const char* packer = "none";
};
PackResult Pack(std::span<const PackItem> items, std::span<const uint64_t> blocks, Effort effort,
                PackScratch& scratch);

}  // namespace kiln::graph
