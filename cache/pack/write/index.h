// SPDX-License-Identifier: MIT
// The index of a pack as tables, before it is bytes: contents -> sorted rows. See spec/cache 10.4
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cache/pack/contents.h"
#include "cache/pack/format.h"

namespace kiln::pack {

// What a blob is used for first: the blobs of one entry and stage resemble each other. The blobs of
// one family lie side by side and share what they have in common.
struct BlobUse {
  uint32_t family = 0;
  uint32_t entry = kNone;  // kNone: named by rows of the cache only
  uint32_t stage = kNone;  // kNone: metadata
};

struct Index {
  std::vector<std::string> strings;
  std::vector<ProgramRow> programs;
  std::vector<OptionRow> options;
  std::vector<EntryRow> entries;
  std::vector<uint64_t> live;  // rows of 1 + live_words: the head, then the mask
  uint32_t live_words = 0;
  std::vector<LayoutRow> layouts;
  std::vector<ArtifactRow> artifacts;
  std::vector<CodeRow> code;
  std::vector<PipelineRow> pipelines;
  std::vector<PassRow> passes;
  std::vector<WarmRow> warm;
  std::vector<HintRow> hints;
  // Each once, in the order in which they lie in the data: by families, the small programs of which
  // are in one; within them by stage, program, target and order of artifacts, metadata behind code;
  // then what only rows of the cache name. Where they lie is filled in by the block writer.
  std::vector<BlobRow> blobs;
  std::vector<BlobUse> uses;     // of `blobs`
  std::vector<BlockRow> blocks;  // filled in by the block writer
  std::vector<CacheRow> cache_rows;
  Bytes cache_values;
};

// Requires: contents as their comments say. Errors: kInvalidArgument naming what is wrong with
// them; PACK_LIMIT.
Result<Index> MakeIndex(const Contents& contents);

}  // namespace kiln::pack
