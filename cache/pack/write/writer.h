// SPDX-License-Identifier: MIT
// Contents -> a pack file. The same contents and options give the same bytes, whatever the order of
// the contents. See spec/cache 10.4, 10.7 to 10.9
#pragma once

#include <cstdint>
#include <string>

#include "cache/pack/contents.h"
#include "cache/pack/reader.h"
#include "cache/pack/signing/signing_key.h"

namespace kiln::pack {

enum class Mode : uint8_t {
  kFast,   // zstd 9, blocks of 64 KiB: quick to write and to read from
  kSmall,  // zstd 19, blocks of 256 KiB
};

struct WriteOptions {
  Mode mode = Mode::kFast;
  // Not null: a delta of this pack, which has only what the base lacks. Requires: outlives the
  // call.
  const Pack* base = nullptr;
  // Not null: HASH and SIGN are added. Requires: outlives the call.
  const SigningKey* key = nullptr;
};

struct WriteReport {
  Hash128 pack_id;
  uint64_t file_bytes = 0;
  uint64_t raw_bytes = 0;  // of all blobs that were written
  uint64_t programs = 0;
  uint64_t artifacts = 0;
  uint64_t blobs = 0;
  uint64_t in_base = 0;  // blobs that the base has
  uint64_t pipelines = 0;
  uint64_t rows = 0;      // of the cache
  uint64_t left_out = 0;  // rows of the cache with content that a pack cannot hold
};

// Blobs are asked for one after the other and verified. Memory: the index, the blobs of a family
// (at most 32 MiB and one blob) and a few blocks. Errors: kInvalidArgument for wrong
// contents; PACK_LIMIT; kCorrupt for a blob that is not what its digest says; those of `blobs`, of
// the base and of the file system. A failed write leaves no file.
Result<WriteReport> WritePack(const Contents& contents, const BlobSource& blobs,
                              const WriteOptions& options, const std::string& path);

}  // namespace kiln::pack
