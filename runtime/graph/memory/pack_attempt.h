// SPDX-License-Identifier: MIT
// One attempt to place items in an address space of blocks: two may share bytes iff their epochs
// are disjoint. Gaps never cross the border of two blocks; the last block has no end. Best fit
// takes the gap with the smallest rest, the lowest on ties; what fits no gap goes on top. See
// spec/graph 6.8.2
#pragma once

#include <cstdint>
#include <span>

namespace kiln::graph {

// A chain to be placed.
struct PackItem {
  uint64_t size = 0;
  uint64_t alignment = 1;  // a power of two
  uint32_t first = 0;      // epochs, both included
  uint32_t last = 0;
  uint32_t chain = 0;
  uint32_t memory_class = 0;
};

struct PackAttempt {
  std::span<const PackItem> items;
  std::span<const uint32_t> order;   // in which the items are placed
  std::span<const uint64_t> blocks;  // sizes
  uint64_t limit;                    // give up at this top
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

}  // namespace kiln::graph
