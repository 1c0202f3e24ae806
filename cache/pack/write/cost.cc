// SPDX-License-Identifier: MIT
// What takes the room in a pack, from its tables alone. Nothing is decompressed, so the shares
// within a block are estimates; their sums are exact but for rounding.
#include "cache/pack/write/cost.h"

#include <algorithm>

namespace kiln::pack {
namespace {

// Rounded down; so that a part of nothing is nothing.
// A blob has no compressed size of its own: it gets the share of its block's stored bytes that its
// raw bytes have.
uint64_t Share(const BlockRow& block, uint64_t raw_bytes) {
  return block.raw_size == 0 ? 0 : uint64_t{block.stored_size} * raw_bytes / block.raw_size;
}

void AddSections(const Tables& tables, PackCost& cost) {
  cost.index_bytes = sizeof(Header) + tables.sections.size() * sizeof(SectionEntry);
  for (const SectionEntry& section : tables.sections) {
    if (section.kind == SectionKind::kData) {
      cost.data_bytes = section.stored_size;
    } else if (section.kind == SectionKind::kHashes || section.kind == SectionKind::kSignature) {
      cost.signature_bytes += section.stored_size;
    } else {
      cost.index_bytes += section.stored_size;
      cost.index_raw_bytes += section.raw_size;
    }
  }
}

void AddBlocks(const Tables& tables, PackCost& cost) {
  for (const BlockRow& block : tables.blocks) {
    // By how a block was compressed: that is what a change of the layout of packs is judged by.
    BlockCost& kind = block.codec == Codec::kRaw              ? cost.raw
                      : block.codec == Codec::kZstdAfterBlock ? cost.after_first
                      : block.codec == Codec::kZstdAfterBase  ? cost.after_base
                                                              : cost.first;
    ++kind.blocks;
    kind.raw_bytes += block.raw_size;
    kind.stored_bytes += block.stored_size;
    cost.symbol_bytes += Share(block, block.symbol_bytes);
  }
}

BlobCost CostOfBlob(const Tables& tables, const BlobRow& blob) {
  return {.blobs = 1,
          .raw_bytes = blob.raw_size,
          .stored_bytes = Share(tables.blocks[blob.block], blob.size)};
}

void Add(BlobCost& sum, const BlobCost& blob) {
  sum.blobs += blob.blobs;
  sum.raw_bytes += blob.raw_bytes;
  sum.stored_bytes += blob.stored_bytes;
}

}  // namespace

// One pass over the artifacts. The vector tells which blobs were counted already.
PackCost CostOf(const Tables& tables) {
  PackCost cost;
  AddSections(tables, cost);
  AddBlocks(tables, cost);
  for (const BlobRow& blob : tables.blobs) {
    if ((blob.flags & kInBase) != 0) {
      ++cost.in_base;
    } else {
      Add((blob.flags & kModule) != 0 ? cost.modules : cost.others, CostOfBlob(tables, blob));
    }
  }
  for (const EntryRow& entry : tables.entries) {
    cost.programs.push_back({.name = tables.String(tables.programs[entry.program].name),
                             .target = tables.String(entry.target)});
  }
  // Shared blobs are counted for the first program that has them, so the parts add up to the whole.
  std::vector<bool> counted(tables.blobs.size());
  const auto use = [&](ProgramCost& program, uint32_t blob) {
    if (!counted[blob] && (tables.blobs[blob].flags & kInBase) == 0) {
      Add(program.blobs, CostOfBlob(tables, tables.blobs[blob]));
    }
    counted[blob] = true;
  };
  for (const ArtifactRow& artifact : tables.artifacts) {
    ProgramCost& program = cost.programs[artifact.entry];
    ++program.artifacts;
    for (uint32_t i = 0; i < artifact.code_count; ++i) {
      use(program, tables.code[artifact.first_code + i].blob);
    }
    if (artifact.metadata != kNone) {
      use(program, artifact.metadata);
    }
  }
  return cost;
}

}  // namespace kiln::pack
