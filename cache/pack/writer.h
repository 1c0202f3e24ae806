// SPDX-License-Identifier: MIT
// Contents -> a pack file. The same contents and mode give the same bytes, whatever the order of
// the contents. Spec: cache §10.4, §10.8
#pragma once

#include <cstdint>
#include <string>

#include "cache/pack/contents.h"

namespace kiln::pack {

enum class Mode : uint8_t {
  kFast,   // zstd 3
  kSmall,  // zstd 19
};

struct Written {
  Hash128 pack_id;
  uint64_t file_bytes = 0;
  uint64_t raw_bytes = 0;  // of all blobs
  uint64_t programs = 0;
  uint64_t artifacts = 0;
  uint64_t blobs = 0;
  uint64_t pipelines = 0;
};

// Blobs are asked for one after the other, each once, and verified. Memory: the index and a few
// blocks. Errors: kInvalidArgument for wrong contents; PACK_LIMIT; kCorrupt for a blob that is not
// what its digest says; those of `blobs` and of the file system. A failed write leaves no file.
Result<Written> WritePack(const Contents& contents, const BlobSource& blobs, Mode mode,
                          const std::string& path);

}  // namespace kiln::pack
