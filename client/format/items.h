// SPDX-License-Identifier: MIT
// A source as the formatter sees it: tokens and comments in order, with the line ends that the
// author put between them, and what each brace is.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/front/rpl/lex.h"
#include "compiler/source/span.h"

namespace kiln::format {

enum class Brace : uint8_t {
  kNone,
  kConstructor,  // of a value
  kOneLine,      // of a block that stands on one line
  kBlock,        // of a block of several lines
};

struct Item {
  Span bytes;
  rpl::TokenKind kind = rpl::TokenKind::kEnd;
  bool comment = false;
  uint32_t line_ends = 0;  // before it
  Brace brace = Brace::kNone;
  bool unary = false;  // an operator with one operand
  bool option_colon = false;
  bool starts = false;       // a declaration, field or statement begins with it
  bool conditional = false;  // it stands behind `conditional (…)`
  uint32_t depth = 0;        // blocks around it; a '}' has that of its '{'
  uint32_t brackets = 0;     // of one statement around it: parentheses, brackets, constructors

  bool Is(rpl::TokenKind what) const { return !comment && kind == what; }
  bool opens() const { return Is(rpl::TokenKind::kOpenBrace) && brace >= Brace::kOneLine; }
  bool closes() const { return Is(rpl::TokenKind::kCloseBrace) && brace >= Brace::kOneLine; }
};

// Without the end token. Requires: tokens of the text, which parses.
std::vector<Item> ItemsOf(std::string_view text, const rpl::LexResult& tokens);

}  // namespace kiln::format
