// SPDX-License-Identifier: MIT
// Blobs in data order -> compressed blocks, one after the other. Spec: cache §10.4, §10.9
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "cache/pack/file_writer.h"
#include "cache/pack/format.h"
#include "cache/pack/reader.h"
#include "cache/pack/writer.h"
#include "compiler/base/sha256.h"

namespace kiln::pack {

// What blobs resemble each other: those of one program, target and stage.
using Kin = std::tuple<std::string, std::string, uint32_t>;

// For each kin of a pack's own blobs the block where they begin.
std::map<Kin, uint32_t> FirstBlocks(const Pack& pack);

// One thread. Requires: spool and base outlive the writer.
class BlockWriter {
 public:
  struct Options {
    Mode mode = Mode::kFast;
    Bytes dictionary = {};       // empty: none
    const Pack* base = nullptr;  // its blocks may be prefixes of new ones
  };

  BlockWriter(const Options& options, FileWriter& spool);
  ~BlockWriter();

  // Fills in where the blob lies. `prefix`: a block of the base that resembles it.
  // Errors: those of the spool and of the base.
  Result<void> Add(BlobRow& row, ByteView blob, std::optional<uint32_t> prefix);
  Result<void> Flush();

  const std::vector<BlockRow>& blocks() const { return blocks_; }
  const std::vector<HashRow>& hashes() const { return hashes_; }
  uint64_t raw_total() const { return raw_total_; }
  Hash128 data_id() const { return data_.Finish().id; }

 private:
  struct Compressor;

  Result<void> Compress(BlockRow& row);

  const Options options_;
  FileWriter& spool_;
  std::unique_ptr<Compressor> compressor_;
  std::vector<BlockRow> blocks_;
  std::vector<HashRow> hashes_;
  std::optional<uint32_t> prefix_;  // of the block that is being filled
  Bytes raw_, stored_;
  uint64_t raw_total_ = 0;
  Hasher data_;
};

}  // namespace kiln::pack
