// SPDX-License-Identifier: MIT
// Interns spellings of one source text. Identifiers are scanned and hashed eight bytes at a time in
// one go, because finding their ends byte by byte costs a mispredicted branch for each. Private to
// the lexer.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "compiler/front/common/identifier.h"
#include "compiler/front/rpl/lex.h"

namespace kiln::rpl {

class SymbolTable {
 public:
  // Both outlive the table.
  SymbolTable(std::string_view text, std::vector<Symbol>& symbols)
      : text_(text), symbols_(symbols), slots_(512) {}

  struct Identifier {
    uint32_t symbol;
    uint32_t end;
  };
  // The identifier that starts at `begin`. Requires: one does.
  Identifier ScanIdentifier(uint32_t begin) {
    uint64_t hash = 0;
    uint32_t end = begin;
    while (end + 8 <= text_.size()) {
      const uint64_t word = LoadWord(end);
      const uint64_t others = ~IdentifierBytes(word) & kHighBits;
      if (others != 0) {
        const auto bytes = static_cast<uint32_t>(std::countr_zero(others)) / 8;
        end += bytes;
        return {Find(begin, end - begin, Finish(hash, FirstBytes(word, bytes))), end};
      }
      hash = Mix(hash, word);
      end += 8;
    }
    while (end < text_.size() && front::IsIdentifierByte(text_[end])) {
      ++end;
    }
    return {Intern(begin, end - begin), end};
  }

  uint32_t Intern(uint32_t begin, uint32_t length) {
    uint64_t hash = 0;
    uint32_t at = begin;
    for (; at + 8 <= begin + length; at += 8) {
      hash = Mix(hash, LoadWord(at));
    }
    uint64_t rest = 0;
    std::memcpy(&rest, text_.data() + at, begin + length - at);
    return Find(begin, length, Finish(hash, rest));
  }

 private:
  static constexpr uint32_t kFree = 0xffffffffu;
  static constexpr uint64_t kHighBits = 0x8080808080808080u;
  static constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15u;
  struct Slot {
    uint32_t tag = 0;
    uint32_t low = 0;
    uint32_t symbol = kFree;
  };

  static constexpr uint64_t Repeat(uint8_t byte) { return 0x0101010101010101u * byte; }

  // The high bit of every byte that is in [low, high]. Requires: no byte of `word` has its high bit
  // set.
  static constexpr uint64_t BytesIn(uint64_t word, uint8_t low, uint8_t high) {
    return (word + Repeat(static_cast<uint8_t>(0x80 - low))) &
           ~(word + Repeat(static_cast<uint8_t>(0x7f - high))) & kHighBits;
  }
  static constexpr uint64_t IdentifierBytes(uint64_t word) {
    const uint64_t plain = word & ~kHighBits;
    return (BytesIn(plain | Repeat(0x20), 'a', 'z') | BytesIn(plain, '0', '9') |
            BytesIn(plain, '_', '_')) &
           ~word;
  }
  static constexpr uint64_t FirstBytes(uint64_t word, uint32_t bytes) {
    return word & ((uint64_t{1} << (8 * bytes)) - 1);
  }

  static uint64_t Mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * kMultiplier;
    return hash ^ (hash >> 32);
  }
  static uint64_t Finish(uint64_t hash, uint64_t rest) { return Mix(hash, rest); }

  uint64_t LoadWord(uint32_t at) const {
    uint64_t word;
    std::memcpy(&word, text_.data() + at, sizeof(word));
    return word;
  }

  uint32_t Find(uint32_t begin, uint32_t length, uint64_t hash) {
    const size_t mask = slots_.size() - 1;
    const auto tag = static_cast<uint32_t>(hash >> 32);
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      const Slot& slot = slots_[i];
      if (slot.symbol == kFree) {
        return Add(begin, length, hash);
      }
      if (slot.tag == tag && Equal(symbols_[slot.symbol], begin, length)) {
        return slot.symbol;
      }
    }
  }

  uint32_t Add(uint32_t begin, uint32_t length, uint64_t hash) {
    const auto symbol = static_cast<uint32_t>(symbols_.size());
    symbols_.push_back(
        {.begin = begin, .length = length, .word = LookUpWord(text_.substr(begin, length))});
    if (symbols_.size() * 2 >= slots_.size()) {
      Grow();
    }
    Place({.tag = static_cast<uint32_t>(hash >> 32),
           .low = static_cast<uint32_t>(hash),
           .symbol = symbol});
    return symbol;
  }

  bool Equal(const Symbol& symbol, uint32_t begin, uint32_t length) const {
    if (symbol.length != length) {
      return false;
    }
    if (length < 8 && begin + 8 <= text_.size()) {  // an earlier mention is further from the end
      return FirstBytes(LoadWord(symbol.begin) ^ LoadWord(begin), length) == 0;
    }
    return std::memcmp(text_.data() + symbol.begin, text_.data() + begin, length) == 0;
  }

  void Place(const Slot& slot) {
    const size_t mask = slots_.size() - 1;
    size_t i = slot.low & mask;
    while (slots_[i].symbol != kFree) {
      i = (i + 1) & mask;
    }
    slots_[i] = slot;
  }

  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.symbol != kFree) {
        Place(slot);
      }
    }
  }

  std::string_view text_;
  std::vector<Symbol>& symbols_;
  std::vector<Slot> slots_;  // size is a power of two; less than half are taken
};

}  // namespace kiln::rpl
