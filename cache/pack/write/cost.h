// SPDX-License-Identifier: MIT
// What costs what in a pack: its blocks by how they are stored, its blobs by what they are, and the
// programs. A block's stored bytes are divided among what lies in it by raw size.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cache/pack/tables.h"

namespace kiln::pack {

struct BlockCost {
  uint64_t blocks = 0;
  uint64_t raw_bytes = 0;
  uint64_t stored_bytes = 0;
};

struct BlobCost {
  uint64_t blobs = 0;
  uint64_t raw_bytes = 0;     // as they are handed out
  uint64_t stored_bytes = 0;  // their share of their blocks
};

struct ProgramCost {
  std::string_view name;
  std::string_view target;
  uint64_t artifacts = 0;
  BlobCost blobs;  // that no program in front of it has
};

// Views into the tables, which must outlive it.
struct PackCost {
  uint64_t index_raw_bytes = 0;
  uint64_t index_bytes = 0;      // stored; with the header and the section table
  uint64_t signature_bytes = 0;  // HASH and SIGN
  uint64_t data_bytes = 0;
  BlockCost first;  // what families have in common, and blocks without prefix
  BlockCost after_first;
  BlockCost after_base;
  BlockCost raw;
  BlobCost modules;  // with symbols in the place of ids
  BlobCost others;
  uint64_t symbol_bytes = 0;          // the share of the tables of symbols
  uint64_t in_base = 0;               // blobs
  std::vector<ProgramCost> programs;  // one for each target, in their order
};

PackCost CostOf(const Tables& tables);

}  // namespace kiln::pack
