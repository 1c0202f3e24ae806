// SPDX-License-Identifier: MIT
// What the writer does to the tables: puts, removals, quarantine, recency. Every function runs
// inside a transaction of the writer's connection and leaves the tables consistent when it
// succeeds; after an error the caller rolls back. See spec/cache 4.4, 4.5, 5.2, 6.7.
//
// Threads: belongs to the writer thread.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cache/sqlite/counters.h"
#include "cache/sqlite/read_statements.h"
#include "compiler/base/clock.h"

namespace kiln::cache::sqlite {

// Unit of used_q.
inline constexpr int64_t kQuantumSeconds = 600;
// Content without a record lives at least this long after it was put (spec/cache 8.2).
inline constexpr int64_t kGraceSeconds = 600;

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

  // Looks again at what a reader found damaged; if it still is, quarantines and drops it, with
  // every record that names it.
  Result<void> DropDamaged(const Damage& damage);

  Result<void> DropDictionary(int64_t number);
  // Drops a dictionary if it is not what its row says. What it compressed goes when it is read.
  Result<void> DropDamagedDictionary(int64_t number);

  // Marks records as used in this quantum or later.
  Result<void> MarkUsed(int64_t eid, int64_t used_q);
  Result<void> MarkUsed(const Key& key, int64_t used_q);

  // Removes a record with its aliases, references and pins. Its content stays.
  Result<void> DropRecord(int64_t eid, RemovedBy why);
  // Removes the blobs of `rids` that no record refers to, that are past their grace and that `keep`
  // does not want.
  Result<void> DropOrphans(std::span<const int64_t> rids,
                           const std::function<bool(const Hash128&)>& keep);
  // The blobs that a record refers to.
  Result<std::vector<int64_t>> RefsOf(int64_t eid);

  Result<void> Quarantine(std::string_view what, const Hash128& id, std::string_view reason,
                          ByteView bytes);

  int64_t NowSeconds() const;
  int64_t NowQuantum() const { return NowSeconds() / kQuantumSeconds; }
  ReadStatements& reads() { return reads_; }
  Connection& connection() { return *connection_; }

 private:
  // Row numbers of what this call has put, so that nothing has to be looked up twice.
  using Numbers = std::unordered_map<Hash128, int64_t, Hash128Hash>;

  TableWrites(Connection& connection, Clock& clock, Counters& counters, const Options& options)
      : connection_(&connection), clock_(&clock), counters_(&counters), options_(options) {}

  // The number of the dictionary that content needs, 0 for none. Errors: DICTIONARY_GONE.
  Result<int64_t> DictionaryOf(const Item& item);
  Result<void> PutContent(const Item& item, PutResult& stored, Numbers& contents);
  Result<int64_t> MeetStoredContent(const Item& item, int64_t dictionary, PutResult& stored);
  Result<std::optional<int64_t>> RidOf(const Hash128& id);
  // The rids of the content that a record names. Errors: REFS_MISSING.
  Result<std::vector<int64_t>> RidsOf(const Item& item, const Numbers& contents);
  Result<void> PutRecord(const Item& item, const Numbers& contents, PutResult& stored,
                         Numbers& signatures);
  Result<bool> InsertRecord(const Item& item, const RowSummary& summary,
                            std::span<const int64_t> rids);
  Result<void> InsertRefs(int64_t eid, std::span<const int64_t> rids);
  // Whether the stored record gave way to the item.
  Result<bool> MeetStoredRecord(const Item& item, const RowSummary& summary, PutResult& stored,
                                std::span<const int64_t> rids);
  // The same for masks: whether the stored one was widened.
  Result<bool> MeetStoredMask(const Item& item, const StoredRow& there, PutResult& stored);
  Result<int64_t> EidOfSignature(const Item& alias, const Hash128& signature,
                                 const Numbers& signatures);
  Result<void> PutAlias(const Item& item, PutResult& stored, const Numbers& signatures);
  Result<void> DropBlob(const Hash128& id);

  Connection* connection_;
  Clock* clock_;
  Counters* counters_;
  Options options_;
  ReadStatements reads_;
  int64_t inserted_eid_ = 0;  // of the last record that InsertRecord made
  Statement insert_blob_, find_blob_, replace_blob_, renew_blob_, delete_blob_, orphan_id_;
  Statement insert_entry_, widen_mask_, delete_entry_, use_eid_, use_key_, use_alias_;
  Statement insert_ref_, refs_of_, delete_refs_, eids_of_blob_;
  Statement insert_alias_, replace_alias_, delete_alias_, delete_aliases_of_, delete_pins_of_;
  Statement signature_eid_;
  Statement dictionary_, delete_dictionary_;
  Statement insert_quarantine_, trim_quarantine_;
};

}  // namespace kiln::cache::sqlite
