// SPDX-License-Identifier: MIT
// An open pack: program, target and option values -> artifact -> blobs. Opening checks the index
// and, if asked to, who signed it; blocks are checked when they are first read, blobs by their id.
// See spec/cache 10.5 to 10.9
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/key.h"
#include "cache/module_codec.h"
#include "cache/pack/block_cache.h"
#include "cache/pack/mapped_file.h"
#include "cache/pack/signature.h"
#include "cache/pack/tables.h"
#include "cache/store.h"

namespace kiln::pack {

class Pack;

struct ReadOptions {
  // Opens a file whose end is missing; only blobs in missing blocks cannot be read.
  bool allow_partial = false;
  uint64_t cache_bytes = uint64_t{32} << 20;  // of decompressed blocks
  // Not empty: refuses every pack, and every base, that none of these signed.
  std::vector<PublicKey> require_signature = {};
  // The pack that a delta was made from. Ignored for a pack that is complete in itself.
  std::shared_ptr<const Pack> base = nullptr;
};

// Threads: all const functions from any thread.
class Pack {
 public:
  // Errors: those of the file; PACK_*, with the path.
  static Result<std::unique_ptr<Pack>> Open(const std::string& path, const ReadOptions& options);
  // The bytes outlive the pack and lie at a multiple of 8.
  static Result<std::unique_ptr<Pack>> OpenBytes(ByteView bytes, const ReadOptions& options);

  const Tables& tables() const { return tables_; }
  const Hash128& id() const { return tables_.header.pack_id; }
  const Pack* base() const { return options_.base.get(); }
  // How many bases lie below.
  uint32_t links() const { return tables_.links; }
  // Who signed it; nothing unless a signature was required.
  const std::optional<PublicKey>& signer() const { return signer_; }

  // Row of PROG, of ENTR, of ARTF, of BIDX; nullopt if there is none.
  std::optional<uint32_t> FindProgram(std::string_view name) const;
  std::optional<uint32_t> FindEntry(uint32_t program, std::string_view target) const;
  // `values`: one per option of the entry's program, in its order. Requires: that many.
  std::optional<uint32_t> FindArtifact(uint32_t entry,
                                       std::span<const cache::TypedValue> values) const;
  std::optional<uint32_t> FindBlob(const Hash128& id) const;

  // Verified bytes without a copy; valid as long as both the blob and the pack.
  // Errors: PACK_BLOCK_MISSING, PACK_CORRUPT, PACK_SIGNATURE_BAD, PACK_LIMIT.
  // Requires: a row of BIDX.
  Result<cache::Blob> GetBlob(uint32_t blob) const;
  // The same as bytes of the caller's own.
  Result<Bytes> ReadBlob(uint32_t blob) const;
  // Raw bytes of a block, modules encoded. Errors: as GetBlob. Requires: a row of BLKS.
  Result<Bytes> ReadBlock(uint32_t block) const;
  // What a delta's block is compressed after if it names this block: its raw bytes, behind those of
  // its own prefix if that is one of this pack. Errors: as GetBlob. Requires: a row of BLKS.
  Result<Bytes> ReadPrefix(uint32_t block) const;
  // The table of symbols of the modules of a block: its own or that of its prefix.
  // Errors: as GetBlob. Requires: there is one.
  Result<std::shared_ptr<const cache::SymbolTable>> SymbolsOf(uint32_t block) const;
  // Reads and checks everything that opening did not: ids, HASH, and that the pack is the one that
  // the writer makes of its contents (canonical_form.h). Errors: the first one found.
  Result<void> Verify() const;

 private:
  struct Block {
    ByteView raw;
    std::shared_ptr<const Bytes> owner;  // null: raw lies in the file
  };

  Pack(std::optional<MappedFile> file, ByteView bytes, Tables tables, const ReadOptions& options);
  static Result<std::unique_ptr<Pack>> Make(std::optional<MappedFile> file, ByteView bytes,
                                            const ReadOptions& options);
  Result<void> CheckBase();
  Result<void> CheckSectionIds() const;

  Result<Block> BlockOf(uint32_t block) const;
  Result<ByteView> StoredBlock(uint32_t block) const;
  Result<cache::Blob> ModuleOf(const BlobRow& row, ByteView encoded) const;

  std::optional<MappedFile> file_;
  const ByteView bytes_;
  const Tables tables_;
  ReadOptions options_;
  std::optional<PublicKey> signer_;
  mutable std::vector<std::atomic<bool>> checked_;  // blocks whose stored bytes were verified
  mutable BlockCache<Bytes> recent_;
  mutable BlockCache<cache::SymbolTable> symbols_;
};

}  // namespace kiln::pack
