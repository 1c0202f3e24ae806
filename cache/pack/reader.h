// SPDX-License-Identifier: MIT
// An open pack: program, target and option values -> artifact -> blobs. Opening checks the index;
// blocks are checked when they are first read, blobs by their id. Spec: cache §10.5, §10.6
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cache/key.h"
#include "cache/pack/mapped_file.h"
#include "cache/pack/tables.h"
#include "compiler/base/mutex.h"

namespace kiln::pack {

struct ReadOptions {
  // Opens a file whose end is missing; only blobs in missing blocks cannot be read.
  bool allow_partial = false;
  uint64_t cache_bytes = uint64_t{32} << 20;  // of decompressed blocks
};

// Threads: all const functions from any thread; ReadBlob takes a lock around the block cache only.
class Pack {
 public:
  // Errors: those of the file; PACK_*, with the path.
  static Result<std::unique_ptr<Pack>> Open(const std::string& path, const ReadOptions& options);
  // The bytes outlive the pack and lie at a multiple of 8.
  static Result<std::unique_ptr<Pack>> OpenBytes(ByteView bytes, const ReadOptions& options);

  const Tables& tables() const { return tables_; }

  // Row of PROG, of ENTR, of ARTF; nullopt if there is none.
  std::optional<uint32_t> FindProgram(std::string_view name) const;
  std::optional<uint32_t> FindEntry(uint32_t program, std::string_view target) const;
  // `values`: one per option of the entry's program, in its order. Requires: that many.
  std::optional<uint32_t> FindArtifact(uint32_t entry,
                                       std::span<const cache::TypedValue> values) const;

  // Errors: PACK_BLOCK_MISSING, PACK_CORRUPT. Requires: a row of BIDX.
  Result<Bytes> ReadBlob(uint32_t blob) const;
  // Reads and checks everything that opening did not. Errors: the first one found.
  Result<void> Verify() const;

 private:
  struct Block {
    uint32_t index = kNone;
    std::shared_ptr<const Bytes> raw;
  };

  Pack(std::optional<MappedFile> file, Tables tables, const ReadOptions& options)
      : file_(std::move(file)), tables_(std::move(tables)), options_(options) {}

  Result<std::shared_ptr<const Bytes>> BlockOf(uint32_t block) const;
  Result<std::shared_ptr<const Bytes>> LoadBlock(uint32_t block) const;

  std::optional<MappedFile> file_;
  const Tables tables_;
  const ReadOptions options_;
  mutable Mutex mutex_;
  mutable std::vector<Block> recent_ KILN_GUARDED_BY(mutex_);  // last used last
};

}  // namespace kiln::pack
