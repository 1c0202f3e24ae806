// SPDX-License-Identifier: MIT
// Reads a whole database and tells what is wrong with it. Pages through every table, so that no
// read lasts; what a writer changes meanwhile is looked at again before it is called a fault.
// See spec/cache 6.4, 9
#pragma once

#include <optional>
#include <unordered_set>

#include "cache/maintenance.h"
#include "cache/sqlite/session/read_statements.h"

namespace kiln::cache::sqlite {

// What content of this id could be written with, if size, codec and sum beside it are ignored.
struct HealedBlob {
  Codec codec = Codec::kRaw;
  uint64_t raw_size = 0;
  uint32_t dictionary = 0;
  Hash128 sum;
};
std::optional<HealedBlob> HealBlob(ReadStatements& reads, const Hash128& id, const Blob& stored);

// What a block whose bytes decode is to have beside them.
std::optional<HealedBlob> HealBlock(ReadStatements& reads, const StoredBlock& block);

class Verifier {
 public:
  // Requires: connection and statements belong together and outlive the verifier.
  Verifier(Connection& connection, ReadStatements& reads, const VerifyOptions& options)
      : connection_(connection), reads_(reads), options_(options) {}

  // Errors: kCancelled. What cannot be read is a fault.
  Result<VerifyReport> Run();

 private:
  struct EntryRow {
    int64_t eid = 0;
    int64_t space = 0;
    int64_t level = 0;
    std::optional<Hash128> id;
    int64_t kind = 0;
    bool expires = false;
    int64_t cost_us = 0;
    Blob value;
    uint64_t bytes_in_row = 0;
    std::optional<Hash128> sum;
  };

  struct BlobRow {
    int64_t rid = 0;
    std::optional<Hash128> id;
    Blob blob;
    int64_t dictionary = 0;
    int64_t block = 0;     // 0: the bytes are in the row
    int64_t of_block = 0;  // the dictionary of the block
    uint64_t bytes_in_row = 0;
  };

  void Add(FaultKind kind, const Key& key, std::string detail, int64_t row = 0,
           int64_t other_row = 0);
  // A part that could not be read is a fault of the database.
  void Note(const Result<void>& part, std::string_view what);

  Result<void> CheckTables();
  Result<void> CheckIntegrity();
  Result<void> CheckBlocks();
  Result<void> CheckBlock(int64_t number, int64_t dictionary, bool used);
  Result<void> CheckBlobs();
  Result<void> CheckBlob(const BlobRow& row);
  // Whether codec, size and dictionary beside the bytes can be theirs.
  Result<bool> ColumnsFit(const BlobRow& row);
  Result<void> CheckDictionaries();
  Result<void> CheckRecords();
  Result<void> CheckRecord(const EntryRow& row);
  Result<void> CheckNamed(const EntryRow& row, const Key& key, const RowSummary& summary);
  Result<void> CheckAliases();
  Result<void> CheckReferences();
  Result<void> CheckPins();
  Result<void> CheckExplain();
  EntryRow EntryAt(const Query& query);
  Result<std::optional<EntryRow>> EntryOf(int64_t eid);
  bool IsSampled(const Hash128& id) const;
  void Measure();
  // Of a row that was looked at.
  void Tell();
  bool Stopped() const { return options_.stop.stop_requested(); }

  Connection& connection_;
  ReadStatements& reads_;
  const VerifyOptions& options_;
  VerifyReport report_;
  uint64_t total_ = 0;                       // bytes to hash; 0: not known
  uint64_t told_ = 0;                        // rows
  std::unordered_set<int64_t> wrong_sizes_;  // rids whose size beside them is wrong
  std::unordered_set<int64_t> to_heal_;      // blocks that are right but for what is beside them
};

}  // namespace kiln::cache::sqlite
