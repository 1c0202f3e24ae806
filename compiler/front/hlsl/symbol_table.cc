// SPDX-License-Identifier: MIT
// Every spelling of a module has one number, so that names are compared as numbers everywhere
// behind the lexer. Looking one up is most of what lexing costs: identifiers are therefore
// hashed while their end is looked for, eight bytes at a time.
#include "compiler/front/hlsl/symbol_table.h"

#include <array>
#include <bit>
#include <cstring>

#include "compiler/front/common/identifier.h"

namespace kiln::hlsl {
namespace {

// Bytes are looked at eight at a time in a 64-bit word (SIMD within a register).
constexpr uint64_t kHighBits = 0x8080808080808080u;
constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15u;

constexpr auto kWords = std::to_array<std::string_view>({
#define KILN_WORD(enumerator, text) text,
#include "compiler/front/hlsl/preprocess/words.def"
});

// Kinds without a spelling of their own: their rows are never found.
// "identifier", "integer" and their like: what a symbol of that kind is called, never what is
// written.
constexpr bool HasFixedSpelling(uint32_t kind) {
  return kind >= static_cast<uint32_t>(kFirstKeyword);
}

constexpr uint64_t Repeat(uint8_t byte) { return 0x0101010101010101u * byte; }

// The high bit of every byte that is in [low, high]. Requires: no byte of `word` has its high bit
// set.
// Adding 0x80 - low makes the high bit of each byte that is at least `low`, adding 0x7f - high
// that of each byte above `high`. No carry leaves a byte, since none has its high bit set.
constexpr uint64_t BytesIn(uint64_t word, uint8_t low, uint8_t high) {
  return (word + Repeat(static_cast<uint8_t>(0x80 - low))) &
         ~(word + Repeat(static_cast<uint8_t>(0x7f - high))) & kHighBits;
}

// Letters are tested in one case: 0x20 makes capitals small, and what else it moves lands on no
// letter. Bytes above 0x7f are masked for the test and taken out again.
constexpr uint64_t IdentifierBytes(uint64_t word) {
  const uint64_t plain = word & ~kHighBits;
  return (BytesIn(plain | Repeat(0x20), 'a', 'z') | BytesIn(plain, '0', '9') |
          BytesIn(plain, '_', '_')) &
         ~word;
}

// The first bytes in memory are the low ones: this reads words as little-endian.
constexpr uint64_t FirstBytes(uint64_t word, uint32_t bytes) {
  return word & ((uint64_t{1} << (8 * bytes)) - 1);
}

uint64_t LoadWord(const char* at) {
  uint64_t word;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

// A multiplication spreads low bits upwards and the shift brings them down again, since slots
// are chosen by the low bits.
uint64_t Mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * kMultiplier;
  return hash ^ (hash >> 32);
}

// Words of eight bytes, then the rest, which may be none: what ScanIdentifier does on its way.
// It must give what ScanIdentifier gives for the same word, or a word would have two symbols.
uint64_t HashOf(std::string_view text) {
  uint64_t hash = 0;
  size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    hash = Mix(hash, LoadWord(text.data() + at));
  }
  uint64_t rest = 0;
  std::memcpy(&rest, text.data() + at, text.size() - at);
  return Mix(hash, rest);
}

}  // namespace

// Kinds of tokens are the first symbols, in order, so a keyword's symbol is its kind; then the
// words that directives use, so that these have numbers known when kiln is compiled.
SymbolTable::SymbolTable() : slots_(1024) {
  rows_.reserve(512);
  bytes_.reserve(4096);
  for (uint32_t kind = 0; kind < kTokenKinds; ++kind) {
    const std::string_view text = TokenKindText(static_cast<TokenKind>(kind));
    if (HasFixedSpelling(kind)) {
      Intern(text);
    } else {
      AddRow(text);
    }
  }
  for (const std::string_view word : kWords) {
    Intern(word);
  }
}

uint32_t SymbolTable::Intern(std::string_view text) { return FindOrAdd(text, HashOf(text)); }

// Open addressing with linear probing. The table is at most half full, so a search ends soon.
uint32_t SymbolTable::Find(std::string_view text) const {
  const uint64_t hash = HashOf(text);
  const size_t mask = slots_.size() - 1;
  for (size_t i = hash & mask; slots_[i].symbol != kNoSymbol; i = (i + 1) & mask) {
    if (slots_[i].hash == hash && Text(slots_[i].symbol) == text) {
      return slots_[i].symbol;
    }
  }
  return kNoSymbol;
}

// Finds the end of an identifier and its hash on one way through the bytes. Behind the last
// whole word of text it goes byte by byte, so nothing is read beyond the text.
SymbolTable::Identifier SymbolTable::ScanIdentifier(std::string_view text, uint32_t begin) {
  uint64_t hash = 0;
  uint32_t end = begin;
  while (end + 8 <= text.size()) {
    const uint64_t word = LoadWord(text.data() + end);
    // The high bit of each byte that ends the identifier; the lowest is the first.
    const uint64_t others = ~IdentifierBytes(word) & kHighBits;
    if (others != 0) {
      const auto bytes = static_cast<uint32_t>(std::countr_zero(others)) / 8;
      end += bytes;
      return {FindOrAdd(text.substr(begin, end - begin), Mix(hash, FirstBytes(word, bytes))), end};
    }
    hash = Mix(hash, word);
    end += 8;
  }
  while (end < text.size() && front::IsIdentifierByte(text[end])) {
    ++end;
  }
  return {Intern(text.substr(begin, end - begin)), end};
}

// The place is looked for again after growing, since slots have moved.
uint32_t SymbolTable::FindOrAdd(std::string_view text, uint64_t hash) {
  const size_t mask = slots_.size() - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    const Slot& slot = slots_[i];
    if (slot.symbol == kNoSymbol) {
      break;
    }
    if (slot.hash == hash && Text(slot.symbol) == text) {
      return slot.symbol;
    }
  }
  const uint32_t symbol = AddRow(text);
  if (rows_.size() * 2 >= slots_.size()) {
    Grow();
  }
  Place({.hash = hash, .symbol = symbol});
  return symbol;
}

// `text` may be one of the table itself.
// Appending may move the bytes that a view points to; the length is kept before, and
// std::string takes what lies in itself.
uint32_t SymbolTable::AddRow(std::string_view text) {
  const auto symbol = static_cast<uint32_t>(rows_.size());
  rows_.push_back({.begin = static_cast<uint32_t>(bytes_.size()),
                   .length = static_cast<uint32_t>(text.size())});
  bytes_.append(text);
  return symbol;
}

void SymbolTable::Place(const Slot& slot) {
  const size_t mask = slots_.size() - 1;
  size_t i = slot.hash & mask;
  while (slots_[i].symbol != kNoSymbol) {
    i = (i + 1) & mask;
  }
  slots_[i] = slot;
}

// Twice as many slots, with the hashes that are kept: no text is read again.
void SymbolTable::Grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.symbol != kNoSymbol) {
      Place(slot);
    }
  }
}

}  // namespace kiln::hlsl
