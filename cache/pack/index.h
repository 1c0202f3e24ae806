// SPDX-License-Identifier: MIT
// The index of a pack as tables, before it is bytes: contents -> sorted rows. Spec: cache §10.4
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cache/pack/contents.h"
#include "cache/pack/format.h"

namespace kiln::pack {

// A blob and what it is used for first: the blobs of one entry and stage resemble each other.
struct BlobUse {
  uint32_t blob = 0;
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
  std::vector<ArtifactRow> artifacts;
  std::vector<CodeRow> code;
  std::vector<PipelineRow> pipelines;
  std::vector<PassRow> passes;
  std::vector<WarmRow> warm;
  std::vector<HintRow> hints;
  std::vector<BlobRow> blobs;  // sorted by id; block and offset are filled in by the block writer
  // Blobs in the order in which they lie in the data: by program, target, stage, live key; each
  // once, metadata behind code, then what only rows of the cache name.
  std::vector<BlobUse> data_order;
  std::vector<CacheRow> cache_rows;
  Bytes cache_values;
};

// Requires: contents as their comments say. Errors: kInvalidArgument naming what is wrong with
// them; PACK_LIMIT.
Result<Index> MakeIndex(const Contents& contents);

}  // namespace kiln::pack
