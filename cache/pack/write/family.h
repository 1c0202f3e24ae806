// SPDX-License-Identifier: MIT
// Blobs that resemble each other -> blocks that share what they have in common.
//
//   first block     table of symbols, then some of the blobs, evenly spaced: what all have in
//   common other blocks    the other blobs in their order, each block compressed after the first
//   one
//
// So a blob takes two blocks, and the two are all that a reader decompresses for it, while zstd
// finds nearly everything that the family repeats. In a delta the first block is compressed after
// the blocks of its kin in the base, the common one and one of their own, and its symbols go on
// from those.
// See spec/cache 10.4, 10.9
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "cache/pack/reader.h"
#include "cache/pack/write/block_writer.h"
#include "cache/pack/write/writer.h"

namespace kiln::pack {

// What blobs resemble each other: those of one program, target and stage.
using Kin = std::tuple<std::string, std::string, uint32_t>;

// Where a pack has the blobs of a kin.
struct KinBlocks {
  uint32_t common = 0;  // the first block of their family
  uint32_t own = 0;     // another one, where some of the kin lie; the same if there is none
  friend bool operator==(const KinBlocks&, const KinBlocks&) = default;
};

// Those of a pack's own blobs.
std::map<Kin, KinBlocks> BlocksOfKin(const Pack& pack);

int LevelOf(Mode mode);

struct FamilyBlob {
  BlobRow* row = nullptr;  // gets where the blob lies
  Bytes bytes;
};

struct FamilyBase {
  const Pack* pack = nullptr;     // null: no delta
  std::optional<uint32_t> block;  // of its first kin; nothing if the base has none
};

// Errors: those of the spool and of the base.
Result<void> WriteFamily(std::vector<FamilyBlob> blobs, const FamilyBase& base, Mode mode,
                         BlockWriter& writer);

}  // namespace kiln::pack
