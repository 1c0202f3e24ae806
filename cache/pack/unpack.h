// SPDX-License-Identifier: MIT
// The way back: an open pack -> the contents that it was written from, and what two packs differ
// in. See spec/cache 10.9, spec/cli 6.10
#pragma once

#include <string>
#include <vector>

#include "cache/pack/contents.h"
#include "cache/pack/reader.h"

namespace kiln::pack {

// Written again in the same mode they give the same bytes; of a delta, those of one pack without
// base. Errors: PACK_CORRUPT if a row of the cache does not decode.
Result<Contents> ContentsOf(const Pack& pack);

// The blobs of a pack and of its bases. Requires: the pack outlives the source.
BlobSource BlobsOf(const Pack& pack);

struct ProgramChange {
  enum class Kind : uint8_t { kAdded, kRemoved, kChanged };
  Kind kind = Kind::kAdded;
  std::string program;
  std::string target;
  uint64_t added = 0;    // artifacts that only the second pack has, by live key
  uint64_t removed = 0;  // that only the first has
  uint64_t changed = 0;  // that both have, with other blobs
};

struct PackDifference {
  std::vector<ProgramChange> programs;  // by name and target; equal ones are left out
  uint64_t new_blobs = 0;               // that only the second pack has
  uint64_t new_bytes = 0;               // raw
  uint64_t gone_blobs = 0;
  uint64_t equal_artifacts = 0;
};

PackDifference Compare(const Pack& first, const Pack& second);

}  // namespace kiln::pack
