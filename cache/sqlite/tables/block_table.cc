// SPDX-License-Identifier: MIT
// A content that goes leaves its bytes in the block until about a quarter of the block is such
// bytes (modules with symbols count as they are without);
// then the block is read, and written under its number with what is left. So at most a quarter of
// what blocks take is lost, and a block is written anew at most four times while it halves. Costs
// decompressing and compressing it: about a millisecond, in the transaction of the removal.
#include "cache/sqlite/tables/block_table.h"

#include <algorithm>
#include <utility>

#include "cache/compression/content_blocks.h"

namespace kiln::cache::sqlite {
namespace {

// A block that has lost a quarter of its bytes is written anew without them.
constexpr uint64_t kLostShare = 4;

}  // namespace

Result<std::unique_ptr<BlockTable>> BlockTable::Prepare(Connection& connection,
                                                        ReadStatements& reads) {
  std::unique_ptr<BlockTable> table(new BlockTable(connection, reads));
  const std::vector<std::pair<Statement*, std::string_view>> statements = {
      {&table->insert_,
       "INSERT INTO block (id, raw_size, codec, dict, data) VALUES (?1, ?2, ?3, ?4, ?5)"},
      {&table->replace_,
       "UPDATE block SET id=?2, raw_size=?3, codec=?4, dict=?5, data=?6 WHERE bid=?1"},
      {&table->remove_, "DELETE FROM block WHERE bid=?1"},
      {&table->raw_size_, "SELECT raw_size FROM block WHERE bid=?1"},
      {&table->contents_,
       "SELECT rid, id, at, raw_size, sum FROM blob WHERE block=?1 AND block<>0 ORDER BY rid"},
      {&table->move_, "UPDATE blob SET at=?2, dict=?3 WHERE rid=?1"},
  };
  for (const auto& [statement, sql] : statements) {
    KILN_TRY(*statement, connection.Prepare(sql));
  }
  return table;
}

Result<int64_t> BlockTable::Insert(const Blob& block) {
  Query insert(insert_);
  insert.Bind(block.sum)
      .Bind(static_cast<int64_t>(block.raw_size))
      .Bind(static_cast<int64_t>(block.codec))
      .Bind(int64_t{NumberOfDictionary(block)})
      .Bind(block.bytes);
  KILN_TRY_VOID(insert.Run());
  return connection_.last_insert_rowid();
}

Result<std::vector<BlockTable::Content>> BlockTable::ContentsOf(int64_t bid) {
  std::vector<Content> contents;
  Query query(contents_);
  query.Bind(bid);
  KILN_TRY([[maybe_unused]] const int64_t rows, query.EachRow([&](const Query& row) {
    contents.push_back({.rid = row.Int(0),
                        .id = row.Id(1).value_or(Hash128{}),
                        .at = static_cast<uint64_t>(row.Int(2)),
                        .raw_size = static_cast<uint64_t>(row.Int(3)),
                        .sum = row.Id(4).value_or(Hash128{})});
  }));
  return contents;
}

Result<void> BlockTable::Tidy(std::span<const int64_t> blocks) {
  // Several contents of one block often go together; it is looked at once.
  std::vector<int64_t> each(blocks.begin(), blocks.end());
  std::ranges::sort(each);
  each.erase(std::unique(each.begin(), each.end()), each.end());
  for (const int64_t bid : each) {
    KILN_TRY_VOID(TidyOne(bid));
  }
  return {};
}

Result<void> BlockTable::TidyOne(int64_t bid) {
  KILN_TRY(const std::vector<Content> contents, ContentsOf(bid));
  if (contents.empty()) {
    Query remove(remove_);
    return remove.Bind(bid).Run();
  }
  uint64_t raw_size = 0;
  {
    Query query(raw_size_);
    KILN_TRY(const bool found, query.Bind(bid).Next());
    raw_size = found ? static_cast<uint64_t>(query.Int(0)) : 0;
  }
  uint64_t left = 0;
  for (const Content& content : contents) {
    left += std::min(content.raw_size, kMostBlockBytes);  // columns may be damaged
  }
  if (left + raw_size / kLostShare > raw_size) {
    return {};
  }
  KILN_TRY(const StoredBlock block, reads_.FindBlock(bid));
  // A block that does not decode is left to repair: nothing in it can be copied.
  return block.raw.has_value() ? Rewrite(bid, block, contents) : Result<void>();
}

// Only bytes that are right are written again.
Result<void> BlockTable::Rewrite(int64_t bid, const StoredBlock& block,
                                 std::span<const Content> contents) {
  const ByteView raw = block.raw->bytes;
  const bool has_modules = std::ranges::any_of(
      contents, [](const Content& content) { return IsPlaceOfModule(content.at); });
  const std::optional<SymbolTable> symbols = has_modules ? SymbolTable::Read(raw) : std::nullopt;
  // Views point into these; the vector may move its elements, and the bytes stay where their owners
  // are.
  std::vector<Blob> kept;
  std::vector<ByteView> views;
  for (const Content& content : contents) {
    std::optional<Blob> bytes =
        ContentIn(raw, symbols.has_value() ? &*symbols : nullptr, content.at, content.raw_size);
    // A single wrong content leaves the block as it is: writing it anew would give damage a new
    // checksum. Verify and repair find it there.
    if (!bytes.has_value() || ContentSum(content.id, bytes->bytes) != content.sum) {
      return {};
    }
    views.push_back(kept.emplace_back(*std::move(bytes)).bytes);
  }
  const uint32_t number = NumberOfDictionary(block.stored);
  DictionaryPtr dictionary;
  if (number != 0) {
    KILN_TRY(dictionary, reads_.FindDictionary(number));
  }
  const ContentBlock anew = BlockOf(views, dictionary.get());
  const int64_t dictionary_number = NumberOfDictionary(anew.stored);
  {
    Query replace(replace_);
    // The block keeps its number, so rows of contents need only their new places. Both happen in
    // the transaction of the removal: readers see the old block with old places, or the new one
    // with new places.
    replace.Bind(bid)
        .Bind(anew.stored.sum)
        .Bind(static_cast<int64_t>(anew.stored.raw_size))
        .Bind(static_cast<int64_t>(anew.stored.codec))
        .Bind(dictionary_number)
        .Bind(anew.stored.bytes);
    KILN_TRY_VOID(replace.Run());
  }
  for (size_t i = 0; i < contents.size(); ++i) {
    Query move(move_);
    KILN_TRY_VOID(move.Bind(contents[i].rid)
                      .Bind(static_cast<int64_t>(anew.places[i]))
                      .Bind(dictionary_number)
                      .Run());
  }
  return {};
}

}  // namespace kiln::cache::sqlite
