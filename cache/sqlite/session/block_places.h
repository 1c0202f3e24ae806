// SPDX-License-Identifier: MIT
// Where contents lie in the blocks that a connection reads from now. Content is asked for in the
// order in which it was put, mostly: a start-up fetch asks for all that a block has, one content
// after the other, and a statement for each costs as much as taking the content out. So whoever
// comes to a block for the second time reads the rows of all its contents at once.
//
// Rows are those of one state of the file. Every change of the file, and there is one process that
// makes them, counts; after one, nothing that was read before is believed.
//
// Threads: of the thread that uses the connection.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "cache/store.h"
#include "compiler/base/digest.h"

namespace kiln::cache::sqlite {

// A block by its number and by what is stored there: one that was written anew is another one.
struct BlockName {
  int64_t number = 0;
  Hash128 id;
  friend bool operator==(const BlockName&, const BlockName&) = default;
};

// What the row of a content in a block says: not yet verified.
struct ContentPlace {
  Hash128 id, sum;
  uint64_t at = 0;  // as in content_blocks.h
  uint64_t raw_size = 0;
};

class BlockPlaces {
 public:
  // More rows than a block that was written can have: they are not kept.
  static constexpr size_t kMostRows = 4'096;

  BlockPlaces() = default;
  // `changes` outlives the object; null: nothing is kept, as changes are not told.
  explicit BlockPlaces(const std::atomic<uint64_t>* changes) : changes_(changes) {}

  struct Found {
    BlockName block;
    ContentPlace place;
  };
  // Nothing: its block is not known. Costs a step where contents are asked for in their order.
  std::optional<Found> Find(const Hash128& id);

  // To be called before the statement that reads a row, or the rows of a block.
  void BeginRead();
  // A content of this block was read by its row. True: the rows of the block are worth reading.
  bool IsWanted(const BlockName& block);
  // They were read, since the last BeginRead.
  void Keep(const BlockName& block, std::vector<ContentPlace> places);
  void Forget();

 private:
  struct Block {
    BlockName name;
    std::vector<ContentPlace> places;  // none: it was asked for once
    size_t next = 0;                   // of them, is asked for next if all goes in order
  };

  void ToFront(size_t block);

  const std::atomic<uint64_t>* changes_ = nullptr;
  uint64_t state_ = 0;  // of the file: changes until the last read
  // Code and metadata of one variant lie in blocks of their own; the one that was used least lately
  // is last.
  std::array<Block, 4> blocks_{};
};

}  // namespace kiln::cache::sqlite
