// SPDX-License-Identifier: MIT
// Spellings of one module, numbered by first mention: equal text, equal number. Texts are copied,
// so the table does not depend on the sources. Keywords and punctuators have the numbers of their
// kinds.
//
// Identifiers are scanned and hashed eight bytes at a time in one go, because finding their ends
// byte by byte costs a mispredicted branch for each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/front/hlsl/token.h"

namespace kiln::hlsl {

inline constexpr uint32_t kNoSymbol = 0xffffffffu;

// Symbols of words that the preprocessor knows.
enum Word : uint32_t {
  kFirstWord = kTokenKinds - 1,
#define KILN_WORD(enumerator, text) kWord##enumerator,
#include "compiler/front/hlsl/preprocess/words.def"
};

class SymbolTable {
 public:
  SymbolTable();

  // Valid until the next spelling is added. Requires: symbol < size().
  std::string_view Text(uint32_t symbol) const {
    const Row& row = rows_[symbol];
    return {bytes_.data() + row.begin, row.length};
  }
  uint32_t size() const { return static_cast<uint32_t>(rows_.size()); }

  uint32_t Intern(std::string_view text);
  uint32_t Find(std::string_view text) const;  // kNoSymbol if nobody mentioned it

  struct Identifier {
    uint32_t symbol;
    uint32_t end;
  };
  // The identifier that starts at `begin`. Requires: one does.
  Identifier ScanIdentifier(std::string_view text, uint32_t begin);

  // kIdentifier, or the keyword that an identifier of this spelling is.
  static TokenKind KindOf(uint32_t symbol) {
    const bool keyword = symbol >= static_cast<uint32_t>(kFirstKeyword) &&
                         symbol <= static_cast<uint32_t>(kLastKeyword);
    return keyword ? static_cast<TokenKind>(symbol) : TokenKind::kIdentifier;
  }

 private:
  struct Row {
    uint32_t begin = 0;
    uint32_t length = 0;
  };
  struct Slot {
    uint64_t hash = 0;
    uint32_t symbol = kNoSymbol;
  };

  uint32_t FindOrAdd(std::string_view text, uint64_t hash);
  uint32_t AddRow(std::string_view text);
  void Place(const Slot& slot);
  void Grow();

  std::string bytes_;
  std::vector<Row> rows_;
  std::vector<Slot> slots_;  // size is a power of two; less than half are taken
};

}  // namespace kiln::hlsl
