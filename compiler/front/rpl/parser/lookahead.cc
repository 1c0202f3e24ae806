// SPDX-License-Identifier: MIT
// RPL has no reserved words to stop at, so what stands at a place is told by the shape of the next
// few tokens. Loops are bounded by a fixed number of tokens, or by the ';' that every statement
// has.
#include "compiler/front/rpl/parser/lookahead.h"

#include "compiler/front/rpl/operators.h"

namespace kiln::rpl {

// ( 'void' | ID ) ID '(' and what starts an argument list
bool AtFunction(const TokenCursor& at) {
  // All arguments begin with their access, so the word behind the '(' tells a function from a call.
  // A function of type `void` is one whatever follows: nothing else begins with that word.
  if (!(at.Kind() == TokenKind::kVoid || at.Kind() == TokenKind::kIdentifier) ||
      at.Kind(1) != TokenKind::kIdentifier || at.Kind(2) != TokenKind::kOpenParen) {
    return false;
  }
  const Keyword first = at.KeywordAt(3);
  return at.Kind() == TokenKind::kVoid || at.Kind(3) == TokenKind::kVoid || first == Keyword::kIn ||
         first == Keyword::kOut;
}

// Two identifiers in a row begin a variable too, so the third token must be one that only this
// declaration has there.
bool AtDeclaration(const TokenCursor& at) {
  if (AtFunction(at)) {
    return true;
  }
  const TokenKind second = at.Kind(1);
  const TokenKind third = at.Kind(2);
  if (at.Kind() != TokenKind::kIdentifier || second != TokenKind::kIdentifier) {
    return false;
  }
  switch (at.KeywordAt()) {
    case Keyword::kGlobal:
    case Keyword::kInstance:
      return third == TokenKind::kColon;
    case Keyword::kConstant:
      return third == TokenKind::kAssign;
    case Keyword::kSetting:
      return third == TokenKind::kAssign || at.KeywordAt(2) == Keyword::kBlock;
    case Keyword::kStruct:
    case Keyword::kPushConstant:
    case Keyword::kVertexAttributeContainer:
    case Keyword::kInstancedAttributeContainer:
    case Keyword::kStateContainer:
    case Keyword::kColorOutputContainer:
      return third == TokenKind::kOpenBrace;
    case Keyword::kSetPass:
    case Keyword::kSetMaterial:
    case Keyword::kSetObject:
    case Keyword::kSetShared:
      return third == TokenKind::kIdentifier;
    default:  // a plain name
      return false;
  }
}

// A declaration behind 'conditional (…)'. Conditions of declarations are short; a longer one is not
// looked through.
bool AtConditionalDeclaration(const TokenCursor& at) {
  // Asked for each line that begins like one, so a limit keeps the cost of a source linear.
  constexpr uint32_t kLongest = 256;
  if (!at.AtPrefix(Keyword::kConditional)) {
    return false;
  }
  uint32_t depth = 0;
  for (uint32_t ahead = 1; ahead < kLongest; ++ahead) {
    if (at.Kind(ahead) == TokenKind::kOpenParen) {
      ++depth;
    } else if (at.Kind(ahead) == TokenKind::kCloseParen && --depth == 0) {
      return AtDeclaration(at.Behind(ahead + 1));
    } else if (at.Kind(ahead) == TokenKind::kSemicolon || at.Kind(ahead) == TokenKind::kEnd) {
      // A condition holds no ';', so this is a `conditional` that is broken: nothing is said about
      // what follows.
      return false;
    }
  }
  return false;
}

// A constructor holds expressions, a scope statements, and every statement has a ';' or braces of
// its own. The look-ahead ends at the first ';' or at the brace that closes.
bool BracesHoldStatements(const TokenCursor& at) {
  uint32_t depth = 0;
  for (uint32_t ahead = 0; at.Kind(ahead) != TokenKind::kEnd; ++ahead) {
    if (at.Kind(ahead) == TokenKind::kSemicolon) {
      return true;
    }
    if (at.Kind(ahead) == TokenKind::kOpenBrace) {
      ++depth;
    } else if (at.Kind(ahead) == TokenKind::kCloseBrace && --depth == 0) {
      // Empty braces are a scope: a constructor without items would be an error anyway.
      return ahead == 1;  // "{}"
    }
  }
  return false;
}

// ID { '[' … ']' } ID: what starts a variable or an argument, and no expression
bool AtTypedName(const TokenCursor& at) {
  if (at.Kind() != TokenKind::kIdentifier) {
    return false;
  }
  uint32_t ahead = 1;
  // Not allowed in variables and arguments, but people write it; so that the error is about the
  // dots, it is a type all the same.
  if (at.Kind(ahead) == TokenKind::kEllipsis) {
    ++ahead;
  }
  for (uint32_t depth = 0;; ++ahead) {
    const TokenKind kind = at.Kind(ahead);
    if (kind == TokenKind::kOpenBracket) {
      ++depth;
    } else if (kind == TokenKind::kCloseBracket && depth > 0) {
      --depth;
    } else if (depth == 0) {
      return IsName(kind);
    } else if (kind == TokenKind::kSemicolon || kind == TokenKind::kEnd) {
      return false;
    }
  }
}

// T[n] {…}, version 2. Behind a name, balanced brackets and then '{'.
bool AtArrayConstructor(const TokenCursor& at) {
  uint32_t depth = 0;
  for (uint32_t ahead = 0;; ++ahead) {
    switch (at.Kind(ahead)) {
      case TokenKind::kOpenBracket:
        ++depth;
        break;
      case TokenKind::kCloseBracket:
        // Several sizes may follow one another; the last ']' decides.
        if (--depth == 0 && at.Kind(ahead + 1) != TokenKind::kOpenBracket) {
          return at.Kind(ahead + 1) == TokenKind::kOpenBrace;
        }
        break;
      case TokenKind::kSemicolon:
      case TokenKind::kEnd:
        return false;
      default:  // part of an index
        break;
    }
  }
}

// `if x > 1.0 {`: no variable, whose name a '=' or ';' follows
bool AtHeaderWithoutParen(const TokenCursor& at) {
  const Keyword word = at.KeywordAt();
  return (word == Keyword::kIf || word == Keyword::kWhile || word == Keyword::kFor) &&
         at.Kind(1) == TokenKind::kIdentifier && at.Kind(2) != TokenKind::kAssign &&
         at.Kind(2) != TokenKind::kSemicolon;
}

bool BracesAssign(const TokenCursor& at) {
  return at.Kind(1) == TokenKind::kIdentifier && OperatorOf(at.Kind(2)).precedence == kAssignment;
}

}  // namespace kiln::rpl
