// SPDX-License-Identifier: MIT
// How rows come into the tables and are marked as used; how they leave them is in table_removals.h.
// Every function runs inside a transaction of the writer's connection and leaves the tables
// consistent when it succeeds; after an error the caller rolls back. See spec/cache 4.4, 4.5
//
// Threads: belongs to the writer thread.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cache/sqlite/session/write_context.h"
#include "cache/sqlite/tables/table_removals.h"
#include "compiler/base/lru_map.h"

namespace kiln::cache::sqlite {

class TableWrites {
 public:
  struct Options {
    int64_t negative_ttl_s = int64_t{24} * 3600;  // of poison records
  };

  // Requires: connection, clock and counters outlive the changes.
  static Result<TableWrites> Prepare(Connection& connection, Clock& clock, Counters& counters,
                                     const Options& options);

  // As BlobStore::Put promises for one call. Requires: the caller has checked the ids of content of
  // codec kRaw and the sums of rows.
  Result<PutResult> Put(std::span<const Item> items);

  // Marks records as used in this quantum or later.
  Result<void> MarkUsed(int64_t eid, int64_t used_q);
  Result<void> MarkUsed(const Key& key, int64_t used_q);

  // Those that content was written with since the last call; some of it may have been rolled back.
  std::set<int64_t> TakeUsedDictionaries() { return std::exchange(used_dictionaries_, {}); }

  TableRemovals& removals() { return removals_; }
  ReadStatements& reads() { return context_->reads; }
  Connection& connection() { return context_->connection; }
  int64_t NowSeconds() const { return context_->NowSeconds(); }
  int64_t NowQuantum() const { return context_->NowQuantum(); }

 private:
  // Row numbers of what this call has put, so that nothing has to be looked up twice.
  using Numbers = std::unordered_map<Hash128, int64_t, Hash128Hash>;

  // Where the bytes of a content lie: in the row, or in a block.
  struct Place {
    const Blob* stored = nullptr;  // null: in the block
    int64_t dictionary = 0;
    int64_t block = 0;
    int64_t at = 0;
  };
  // A block of the call.
  struct BlockRow {
    int64_t number = 0;
    int64_t dictionary = 0;
    bool used = false;  // by content that was not there
  };
  struct Contents {
    Numbers rids;
    std::unordered_map<const Blob*, BlockRow> blocks;
    std::vector<int64_t> left;  // blocks that lost content which is healed now
  };

  TableWrites(std::unique_ptr<WriteContext> context, TableRemovals removals, const Options& options)
      : context_(std::move(context)), removals_(std::move(removals)), options_(options) {}

  // The number of the dictionary that a blob needs, 0 for none. Errors: DICTIONARY_GONE.
  Result<int64_t> DictionaryOf(const Key& key, const Blob& stored);
  static Codec CodecIn(const Place& place);
  static ByteView BytesIn(const Place& place);
  Result<Place> PlaceOf(const Item& item, Contents& contents);
  Result<void> PutContent(const Item& item, PutResult& stored, Contents& contents);
  Result<int64_t> MeetStoredContent(const Item& item, const Place& place, PutResult& stored,
                                    Contents& contents);
  Result<void> ReplaceContent(int64_t rid, const Item& item, const Place& place);
  // Blocks that nothing new lies in, and those that content has left.
  Result<void> TidyBlocks(const Contents& contents);
  Result<std::optional<int64_t>> RidOf(const Hash128& id);
  // What earlier calls have put, as long as nothing of it went. A batch puts content first and the
  // records that name it later.
  LruMap<Hash128, int64_t>& Recent();
  void Note(const Hash128& id, int64_t rid);
  // The rids of the content that a record names. Errors: REFS_MISSING.
  Result<std::vector<int64_t>> RidsOf(const Item& item, const Numbers& contents);
  Result<void> PutRecord(const Item& item, const Numbers& contents, PutResult& stored,
                         Numbers& signatures);
  // How the value of a record is written, and what it says.
  struct WrittenValue {
    int64_t form = 0;
    Bytes shortened;  // empty without a form
    RowSummary summary = {};
  };
  Result<bool> InsertRecord(const Item& item, const WrittenValue& written,
                            std::span<const int64_t> rids);
  // Errors: kInvalidArgument if the row says nothing.
  Result<WrittenValue> WrittenValueOf(const Item& item);
  // Whether the form has a row of its own; false if another one has its number.
  Result<bool> HasForm(const RecordForm& form);
  Result<void> InsertRefs(int64_t eid, std::span<const int64_t> rids);
  // Whether the stored record gave way to the item.
  Result<bool> MeetStoredRecord(const Item& item, const WrittenValue& written, PutResult& stored,
                                std::span<const int64_t> rids);
  // The same for masks: whether the stored one was widened.
  Result<bool> MeetStoredMask(const Item& item, const StoredRow& there, PutResult& stored);
  Result<int64_t> EidOfSignature(const Item& alias, const Hash128& signature,
                                 const Numbers& signatures);
  Result<void> PutAlias(const Item& item, PutResult& stored, const Numbers& signatures);

  std::set<int64_t> used_dictionaries_;
  std::unique_ptr<WriteContext> context_;  // statements and removals refer to it
  TableRemovals removals_;
  Options options_;
  int64_t inserted_eid_ = 0;  // of the last record that InsertRecord made
  LruMap<Hash128, int64_t> recent_;
  uint64_t losses_ = 0;  // of the connection, when recent_ was right
  // Those with rows that this call has met, the latest last: what an earlier one has put may have
  // been rolled back.
  std::vector<RecordForm> forms_;
  Statement insert_blob_, find_blob_, find_rid_, replace_blob_, renew_blob_;
  Statement insert_entry_, widen_mask_, use_eid_, use_key_, use_alias_;
  Statement insert_ref_, insert_alias_, replace_alias_, signature_eid_, dictionary_;
  Statement insert_form_, find_form_, replace_form_;
};

}  // namespace kiln::cache::sqlite
