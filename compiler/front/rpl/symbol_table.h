// SPDX-License-Identifier: MIT
// Interns spellings of one source text: 32-bit slots over symbols, keyed by a hash of eight bytes
// at a time. Private to the lexer.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/front/rpl/lex.h"

namespace kiln::rpl {

class SymbolTable {
 public:
  // Both outlive the table.
  SymbolTable(std::string_view text, std::vector<Symbol>& symbols)
      : text_(text), symbols_(symbols), slots_(512) {}

  uint32_t Intern(uint32_t begin, uint32_t length) {
    if (symbols_.size() * 2 >= slots_.size()) {
      Grow();
    }
    const uint64_t hash = HashOf(begin, length);
    const size_t mask = slots_.size() - 1;
    const auto tag = static_cast<uint32_t>(hash >> 32);
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      Slot& slot = slots_[i];
      if (slot.symbol == kFree) {
        slot = {.tag = tag, .low = static_cast<uint32_t>(hash), .symbol = Count()};
        symbols_.push_back(
            {.begin = begin, .length = length, .word = LookUpWord(text_.substr(begin, length))});
        return slot.symbol;
      }
      if (slot.tag == tag && Equal(symbols_[slot.symbol], begin, length)) {
        return slot.symbol;
      }
    }
  }

 private:
  static constexpr uint32_t kFree = 0xffffffffu;
  struct Slot {
    uint32_t tag = 0;
    uint32_t low = 0;
    uint32_t symbol = kFree;
  };

  uint32_t Count() const { return static_cast<uint32_t>(symbols_.size()); }

  bool Equal(const Symbol& symbol, uint32_t begin, uint32_t length) const {
    return symbol.length == length &&
           std::memcmp(text_.data() + symbol.begin, text_.data() + begin, length) == 0;
  }

  uint64_t HashOf(uint32_t begin, uint32_t length) const {
    uint64_t hash = length;
    const char* at = text_.data() + begin;
    for (; length >= 8; at += 8, length -= 8) {
      uint64_t word;
      std::memcpy(&word, at, 8);
      hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
    uint64_t rest = 0;
    for (uint32_t i = 0; i < length; ++i) {
      rest = rest << 8 | static_cast<uint8_t>(at[i]);
    }
    return Mix64(hash ^ rest);
  }

  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    const size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.symbol == kFree) {
        continue;
      }
      size_t i = slot.low & mask;
      while (slots_[i].symbol != kFree) {
        i = (i + 1) & mask;
      }
      slots_[i] = slot;
    }
  }

  std::string_view text_;
  std::vector<Symbol>& symbols_;
  std::vector<Slot> slots_;  // size is a power of two; at most half are taken
};

}  // namespace kiln::rpl
