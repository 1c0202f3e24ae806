// SPDX-License-Identifier: MIT
// How rows leave the tables: records with all that hangs on them, content that nobody names, and
// what is damaged, of which a copy goes into quarantine. Every function runs inside a transaction
// of the writer's connection; after an error the caller rolls back. See spec/cache 5.2, 6.7
//
// Threads: belongs to the writer thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cache/sqlite/session/write_context.h"

namespace kiln::cache::sqlite {

class TableRemovals {
 public:
  // Requires: the context outlives the removals.
  static Result<TableRemovals> Prepare(WriteContext& context);

  // Removes a record with its aliases, references and pins. Its content stays.
  Result<void> DropRecord(int64_t eid, RemovedBy why);
  // The blobs that a record refers to: what may be an orphan without it.
  Result<std::vector<int64_t>> RefsOf(int64_t eid);
  // Removes the blobs of `rids` that no record refers to, that are past their grace and that `keep`
  // does not want.
  Result<void> DropOrphans(std::span<const int64_t> rids,
                           const std::function<bool(const Hash128&)>& keep);

  // The same for contents by their ids, of those that were put before then. Gives those that no
  // record refers to and that stay.
  Result<std::vector<Hash128>> DropUnnamed(std::span<const Hash128> ids, int64_t before_s,
                                           const std::function<bool(const Hash128&)>& keep);

  // Removes content of which not even the id is known, and what refers to it.
  Result<void> DropBlobRow(int64_t rid);

  // Looks again at what a reader found damaged; if it still is, quarantines and drops it, with
  // every record that names it.
  Result<void> DropDamaged(const Damage& damage);
  Result<void> DropDictionary(int64_t number);
  // Drops a dictionary if it is not what its row says. What it compressed goes when it is read.
  Result<void> DropDamagedDictionary(int64_t number);

  // Keeps a copy, or the beginning of one, of what goes or was not taken.
  Result<void> Quarantine(std::string_view what, const Hash128& id, std::string_view reason,
                          ByteView bytes);

 private:
  explicit TableRemovals(WriteContext& context) : context_(&context) {}

  Result<void> DropBlob(const Hash128& id);
  // Adds the block that it lay in; whoever has removed the last one tidies them.
  Result<void> DeleteBlob(int64_t rid, std::vector<int64_t>& blocks);
  Result<void> DropDamagedContent(const Damage& damage);
  Result<void> DropDamagedAlias(const Damage& damage);
  Result<void> DropDamagedRecord(const Damage& damage);

  WriteContext* context_;
  Statement find_blob_, delete_blob_, orphan_id_, find_unnamed_;
  Statement delete_entry_, refs_of_, delete_refs_, delete_refs_to_, eids_of_blob_;
  Statement delete_alias_, delete_aliases_of_, delete_pins_of_;
  Statement dictionary_, delete_dictionary_;
  Statement insert_quarantine_, trim_quarantine_;
};

}  // namespace kiln::cache::sqlite
