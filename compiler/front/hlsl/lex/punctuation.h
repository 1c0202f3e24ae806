// SPDX-License-Identifier: MIT
// Private to the lexer: the punctuator that a text begins with.
#pragma once

#include "compiler/front/hlsl/token.h"

namespace kiln::hlsl {

constexpr TokenKind WithAssign(char next, TokenKind with, TokenKind without) {
  return next == '=' ? with : without;
}

// The longest that begins with these three characters, which are 0 behind the end of the text;
// kUnknown if none does.
constexpr TokenKind PunctuatorAt(char c, char second, char third) {
  using enum TokenKind;
  switch (c) {
    case '(':
      return kOpenParen;
    case ')':
      return kCloseParen;
    case '[':
      return kOpenBracket;
    case ']':
      return kCloseBracket;
    case '{':
      return kOpenBrace;
    case '}':
      return kCloseBrace;
    case ',':
      return kComma;
    case ';':
      return kSemicolon;
    case ':':
      return second == ':' ? kScope : kColon;
    case '?':
      return kQuestion;
    case '~':
      return kComplement;
    case '.':
      return second == '.' && third == '.' ? kEllipsis : kDot;
    case '#':
      return second == '#' ? kHashHash : kHash;
    case '!':
      return WithAssign(second, kNotEqual, kNot);
    case '=':
      return WithAssign(second, kEqual, kAssign);
    case '+':
      return second == '+' ? kIncrement : WithAssign(second, kAddAssign, kPlus);
    case '-':
      return second == '-' ? kDecrement : WithAssign(second, kSubAssign, kMinus);
    case '*':
      return WithAssign(second, kMulAssign, kStar);
    case '/':
      return WithAssign(second, kDivAssign, kSlash);
    case '%':
      return WithAssign(second, kModAssign, kPercent);
    case '^':
      return WithAssign(second, kXorAssign, kXor);
    case '&':
      return second == '&' ? kLogicalAnd : WithAssign(second, kAndAssign, kAnd);
    case '|':
      return second == '|' ? kLogicalOr : WithAssign(second, kOrAssign, kOr);
    case '<':
      return second == '<' ? WithAssign(third, kShiftLeftAssign, kShiftLeft)
                           : WithAssign(second, kLessEqual, kLess);
    case '>':
      return second == '>' ? WithAssign(third, kShiftRightAssign, kShiftRight)
                           : WithAssign(second, kGreaterEqual, kGreater);
    default:
      return kUnknown;
  }
}

}  // namespace kiln::hlsl
