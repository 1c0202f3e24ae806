// SPDX-License-Identifier: MIT
// Packs items one after the other in a given order, each by first or best fit among all bytes that
// are free in its epochs. About O(n * rows that share a window with an item): the packer for few
// items, or where the order matters more than time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/graph/memory/pack_attempt.h"

namespace kiln::graph {

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

// Kept from attempt to attempt for its memory.
struct InOrderScratch {
  std::vector<PackItem> sorted;  // items by order
  std::vector<PlacedPage> pages;
  std::vector<uint32_t> windows;  // first pages, by window of epochs; the last one has all
};

enum class Fit : uint8_t { kFirst, kBest };

// Writes the addresses by item and returns the top, or the limit if it was reached: the addresses
// are then worth nothing.
uint64_t PlaceInOrder(const PackAttempt& attempt, Fit fit, InOrderScratch& scratch,
                      std::vector<uint64_t>& begins);

}  // namespace kiln::graph
