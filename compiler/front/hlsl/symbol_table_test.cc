// SPDX-License-Identifier: MIT
#include "compiler/front/hlsl/symbol_table.h"

#include <string>

#include <gtest/gtest.h>

namespace kiln::hlsl {
namespace {

TEST(SymbolTable, KeywordsAndPunctuators_HaveTheNumbersOfTheirKinds) {
  SymbolTable symbols;
  for (auto kind = static_cast<uint32_t>(kFirstKeyword); kind < kTokenKinds; ++kind) {
    const std::string_view text = TokenKindText(static_cast<TokenKind>(kind));
    EXPECT_EQ(symbols.Find(text), kind) << text;
    EXPECT_EQ(symbols.Intern(text), kind) << text;
    EXPECT_EQ(symbols.Text(kind), text);
  }
  EXPECT_EQ(symbols.Find("include"), kWordInclude);
  EXPECT_EQ(symbols.Text(kWordVaArgs), "__VA_ARGS__");
  EXPECT_EQ(symbols.Find("identifier"), kNoSymbol) << "the name of a kind is no spelling";
}

TEST(SymbolTable, Kinds_AreThoseOfTheWords) {
  SymbolTable symbols;
  EXPECT_EQ(SymbolTable::KindOf(symbols.Intern("while")), TokenKind::kWhile);
  EXPECT_EQ(SymbolTable::KindOf(symbols.Intern("break")), TokenKind::kBreak);
  EXPECT_EQ(SymbolTable::KindOf(symbols.Intern("export")), TokenKind::kExport);
  EXPECT_EQ(SymbolTable::KindOf(symbols.Intern("include")), TokenKind::kIdentifier);
  EXPECT_EQ(SymbolTable::KindOf(symbols.Intern("identifier")), TokenKind::kIdentifier);
}

// Whichever way a spelling comes in, and whatever is behind it.
TEST(SymbolTable, Scanning_FindsWhatInterningFinds) {
  SymbolTable symbols;
  for (size_t size = 1; size < 40; ++size) {
    const std::string name = std::string("_Az09zZa").substr(0, std::min<size_t>(size, 8)) +
                             std::string(size > 8 ? size - 8 : 0, 'q');
    const uint32_t symbol = symbols.Intern(name);
    for (const std::string& behind : {std::string(), std::string("+"), std::string(20, ' ')}) {
      const std::string text = "(" + name + behind;
      const SymbolTable::Identifier scanned = symbols.ScanIdentifier(text, 1);
      EXPECT_EQ(scanned.symbol, symbol) << text;
      EXPECT_EQ(scanned.end, 1 + size) << text;
    }
  }
}

TEST(SymbolTable, Bytes_ThatAreNoneOfIdentifiers_EndThem) {
  SymbolTable symbols;
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool inside =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    const std::string text = std::string("abc") + c + "defghijk";
    EXPECT_EQ(symbols.ScanIdentifier(text, 0).end, inside ? text.size() : 3) << byte;
  }
}

TEST(SymbolTable, ManySpellings_KeepTheirNumbers) {
  SymbolTable symbols;
  const uint32_t first = symbols.size();
  for (uint32_t i = 0; i < 20'000; ++i) {
    ASSERT_EQ(symbols.Intern("name" + std::to_string(i)), first + i);
  }
  for (uint32_t i = 0; i < 20'000; ++i) {
    ASSERT_EQ(symbols.Find("name" + std::to_string(i)), first + i);
    ASSERT_EQ(symbols.Text(first + i), "name" + std::to_string(i));
  }
  EXPECT_EQ(symbols.Find("name20000"), kNoSymbol);
}

}  // namespace
}  // namespace kiln::hlsl
