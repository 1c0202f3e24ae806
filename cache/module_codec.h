// SPDX-License-Identifier: MIT
// SPIR-V <-> SPIR-V without numbers of its own. Variants of a program are nearly the same module,
// but one constant more gives every later id another number, and nothing repeats any more. Here
// what is defined at module scope is named by a symbol, the number of its definition in a table
// that many modules share; ids within functions are distances. Functions that are the same then
// have the same words, wherever they stand, and zstd finds them.
//
// A table of symbols is u32 count, then `count` words: definitions one after the other, each an
// instruction whose ids are symbols of earlier definitions and whose result id is 0.
//
// A module is words: the five of the header; n; for each of its n definitions, in order, the
// symbol, less that of the one before, less 1; then its instructions in order, where
//   0                   stands for the next definition; the result ids of definitions are 1 to n
//   0x80000000 + s      the id that the definition with symbol s has here
//   0x40000000 + d      the id `last - d`, where `last` is the result id before this instruction,
//                       n in front of the functions' first one; outside of functions (names,
//                       decorations) it is the id that was told in this way before
//   result of function  the id less `last` less 1
// and everything else is as it was. A module that this cannot say, because its ids have another
// order, is stored as it is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/base/bytes.h"

namespace kiln::cache {

// Of a table of symbols.
inline constexpr uint64_t kMaxSymbolBytes = uint64_t{1} << 18;

// Definitions by symbol. Threads: const is safe.
class SymbolTable {
 public:
  // Nothing if the bytes do not begin with a table of kMaxSymbolBytes at most.
  static std::optional<SymbolTable> Read(ByteView bytes);

  uint32_t size() const { return static_cast<uint32_t>(begins_.size()) - 1; }
  // Requires: symbol < size().
  std::span<const uint32_t> Definition(uint32_t symbol) const {
    return std::span(words_).subspan(begins_[symbol], begins_[symbol + 1] - begins_[symbol]);
  }
  uint64_t memory_bytes() const { return (words_.size() + begins_.size()) * sizeof(uint32_t); }

 private:
  friend class SymbolWriter;

  std::vector<uint32_t> words_;
  std::vector<uint32_t> begins_{0};
};

// Fills `module`. False if the encoded bytes are not those of a module of exactly that size.
// Whatever the bytes: no more than module.size() is written, and the time is linear.
bool DecodeModule(ByteView encoded, const SymbolTable& symbols, std::span<std::byte> module);

// The table of modules that are to be encoded, all of which are added before the first is.
class SymbolWriter {
 public:
  // `start`: symbols that keep their numbers.
  explicit SymbolWriter(const SymbolTable& start);

  // Its number among those that were added.
  size_t Add(ByteView module);
  // The table as it is stored, empty if there is no symbol; always whole words.
  Bytes Table() const;
  // Nothing if the module cannot be said with the symbols, or is none. `added`: what Add gave for
  // these very bytes, whose symbols are not looked up again then.
  std::optional<Bytes> Encode(ByteView module, std::optional<size_t> added = std::nullopt);

 private:
  enum class Missing { kAdd, kGiveUp };
  struct Globals {
    std::vector<uint32_t> symbols{0};  // by id; 0 is none
    size_t end = 0;                    // where the functions begin
  };

  std::optional<Globals> GlobalsOf(std::span<const uint32_t> words, Missing missing);

  std::vector<std::optional<Globals>> added_;  // nothing: Encode finds out why
  SymbolTable table_;
  std::unordered_map<std::string, uint32_t> by_definition_;
};

}  // namespace kiln::cache
