// SPDX-License-Identifier: MIT
// The reading statements of one connection, and what makes a row that was read trustworthy. One
// statement per read; bytes are copied out and the statement reset at once. spec/cache 6.4, 6.6.
//
// Threads: belongs to the thread that uses its connection.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "cache/compression/dictionary.h"
#include "cache/module_codec.h"
#include "cache/record.h"
#include "cache/record_form.h"
#include "cache/sqlite/connection.h"
#include "cache/store.h"
#include "compiler/base/bounded_cache.h"

namespace kiln::cache::sqlite {

// A row of `entry` as it was found: not yet verified.
struct StoredRow {
  int64_t eid = 0;
  std::optional<int64_t> expires_s;
  int64_t used_q = 0;
  Blob value;  // with the stored sum
};

// A row of `alias` and the signature record that it leads to.
struct StoredAlias {
  int64_t eid = 0;
  int64_t sum = 0;
  std::optional<Hash128> signature;  // nullopt: the record is not there
  int64_t used_q = 0;
};

// XXH3-64 of space, alias key and signature key, as stored.
int64_t AliasSum(uint32_t space, const Hash128& alias, const Hash128& signature);

// A codec out of range reads as one that decodes nothing.
Codec CodecOf(int64_t column);

// A row of `block`. Its sum is the id of what is stored.
struct StoredBlock {
  Blob stored;
  std::optional<Blob> raw;  // nullopt: it does not decode, or is not there
  std::string why;          // then
};

// A block by its number and by what is stored there: one that was written anew is another one.
struct BlockName {
  int64_t number = 0;
  Hash128 id;
  friend bool operator==(const BlockName&, const BlockName&) = default;
};
struct BlockNameHash {
  size_t operator()(const BlockName& name) const {
    return Hash128Hash{}(name.id) ^ static_cast<size_t>(name.number);
  }
};
// Raw bytes of blocks that were read lately, for all readers of a store.
using BlockCache = BoundedCache<BlockName, Blob, BlockNameHash>;

// A value of this size is read by parts: its statement has NULL in place of the
// column.
inline constexpr int64_t kLongData = int64_t{1} << 20;
// The bytes of row `rid` of the table, which have `size`: those of the column if it has them, else
// read by parts. Requires, errors: as Query::ReadLong. What is too long to be a value is empty.
Result<Blob> DataOf(const Query& query, int column, const char* table, int64_t rid, int64_t size);

// The dictionary that a blob was compressed with, by its frame; 0: none.
uint32_t NumberOfDictionary(const Blob& stored);

// What is wrong with something that was read.
struct Finding {
  DamageKind kind = DamageKind::kBlob;
  std::string reason;
};

class ReadStatements {
 public:
  // Requires: connection outlives the statements, and `blocks`, which may be null, too.
  static Result<ReadStatements> Prepare(Connection& connection, BlockCache* blocks = nullptr);

  // Nullopt: not there. The blob is as stored: codec and size are not yet verified. One that lies
  // in a block comes raw; if the block gives nothing, as that block, with kBlock.
  Result<std::optional<Blob>> FindBlob(const Hash128& id);
  Result<StoredBlock> FindBlock(int64_t number);
  // The same for a content by what its row says: `place` as in content_blocks.h. Requires: a
  // statement that holds the transaction of that row is not reset yet. Errors: those of reading.
  Result<Blob> TakeOutOf(const BlockName& block, uint64_t place, uint64_t raw_size);
  Result<std::optional<StoredRow>> FindRow(const Key& key);
  Result<std::optional<StoredAlias>> FindAlias(uint32_t space, const Hash128& key);

  Result<bool> Has(const Key& key);

  // The value of a row of `entry` by what its columns say: put together with its form if it has one
  // that is there and right, else as it is stored, which no sum holds for. Errors: those of
  // reading.
  Result<Blob> ValueOf(int64_t form, ByteView stored);

  // When content was put that no record names; nothing: one does, or it is not there.
  Result<std::optional<int64_t>> UnnamedSince(const Hash128& id);

  // Null: it is not there, or damaged. One that was read is believed until ForgetDictionaries.
  Result<DictionaryPtr> FindDictionary(uint32_t number);
  // Blocks that were made with them as well, and forms.
  void ForgetDictionaries() {
    dictionaries_.Clear();
    forms_.Clear();
    last_.reset();
    symbols_.reset();
  }
  // The raw bytes of a stored blob. Errors: kCorrupt without reason if it does not decode; with a
  // reason what kept its dictionary from being read.
  Result<Blob> Decode(const Blob& stored);
  // As long as it lives, what is read is of one transaction: the file is locked and unlocked once
  // and not for each statement, which is a third of what looking up a row costs. Lives for one
  // call, and no longer than some 64 statements. Requires: the connection has no transaction.
  class Together {
   public:
    explicit Together(ReadStatements& reads) : reads_(reads) {
      begun_ = Query(reads_.begin_).Run().ok();
    }
    ~Together() {
      if (begun_) {
        (void)Query(reads_.end_).Run();  // fails where an error has ended it
      }
    }
    Together(const Together&) = delete;
    Together& operator=(const Together&) = delete;

   private:
    ReadStatements& reads_;
    bool begun_ = false;
  };

  // As long as it lives, nothing that was read before is believed: neither dictionaries nor forms
  // nor blocks.
  class FromFile {
   public:
    explicit FromFile(ReadStatements& reads)
        : reads_(reads), blocks_(std::exchange(reads.blocks_, nullptr)) {
      reads_.ForgetDictionaries();
    }
    ~FromFile() {
      reads_.ForgetDictionaries();
      reads_.blocks_ = blocks_;
    }
    FromFile(const FromFile&) = delete;
    FromFile& operator=(const FromFile&) = delete;

   private:
    ReadStatements& reads_;
    BlockCache* const blocks_;
  };

  // Nullopt if the stored blob decodes to the content of this id and has its sum.
  Result<std::optional<Finding>> CheckContent(const Hash128& id, const Blob& stored);

  // Nullopt if the row is what it should be: its sum holds, its value decodes, and every content
  // that it names is there.
  Result<std::optional<Finding>> CheckRow(const Key& key, const StoredRow& row);

 private:
  // What the raw bytes of the block begin with; null: no table of symbols.
  const SymbolTable* SymbolsOf(const BlockName& block, ByteView raw);

  Statement begin_;
  Statement end_;
  Statement blob_;
  Statement row_;
  Statement alias_;
  Statement has_blob_;
  Statement has_row_;
  Statement unnamed_;
  Statement dictionary_;
  Statement block_;
  Statement form_;
  BlockCache* blocks_ = nullptr;
  std::optional<std::pair<BlockName, Blob>> last_;  // without a cache
  // Of the block that a module was taken out of last.
  std::optional<std::pair<BlockName, SymbolTable>> symbols_;
  LruMap<uint32_t, DictionaryPtr> dictionaries_;  // that were used lately
  LruMap<int64_t, RecordForm> forms_;             // the same
};

// Nullopt if number and id are those of the bytes; else what is wrong.
std::optional<std::string> CheckDictionary(int64_t number, const std::optional<Hash128>& id,
                                           const DictionaryPtr& dictionary);
// Nullopt if the alias leads to the record that it was made for.
std::optional<Finding> CheckAlias(const Key& key, const StoredAlias& alias);

}  // namespace kiln::cache::sqlite
