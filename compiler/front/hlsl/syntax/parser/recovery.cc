// SPDX-License-Identifier: MIT
// Behind an error the next ';' is looked for, or the '}' of the list around: braces that were
// opened by what is skipped are skipped with it. Which '{' lacks its '}' cannot be told from the
// tokens alone, for the last one always pairs with the first; how the source is indented tells it.
#include "compiler/front/hlsl/syntax/parser/recovery.h"

#include <vector>

namespace kiln::hlsl::syntax {
namespace {

bool IsOpen(TokenKind kind) {
  return kind == TokenKind::kOpenParen || kind == TokenKind::kOpenBracket;
}
bool IsClose(TokenKind kind) {
  return kind == TokenKind::kCloseParen || kind == TokenKind::kCloseBracket;
}
bool EndsStatement(TokenKind kind) {
  return kind == TokenKind::kSemicolon || kind == TokenKind::kOpenBrace ||
         kind == TokenKind::kCloseBrace || kind == TokenKind::kEnd;
}

}  // namespace

// A `}` is left for whoever opened its `{`. A block that begins behind the error belongs to the
// statement, so it is skipped with all it holds.
void Recovery::Recover() {
  while (true) {
    switch (at_.Kind()) {
      case TokenKind::kEnd:
      case TokenKind::kCloseBrace:
        return;
      case TokenKind::kSemicolon:
        at_.Advance();
        return;
      case TokenKind::kOpenBrace:
        SkipBrackets();
        at_.Accept(TokenKind::kSemicolon);
        return;
      default:  // everything else belongs to what is skipped
        at_.Advance();
        break;
    }
  }
}

// Brackets are counted from the one that opened, over what was read already, so that the match
// is right whatever is wrong between. If the match lies before the error, parsing stays where
// it is.
bool Recovery::RecoverBehind(uint32_t open, Semicolons semicolons) {
  const uint32_t wrong = at_.pos();
  const bool inside = semicolons == Semicolons::kInside;
  uint32_t depth = 0;
  for (uint32_t token = open;; ++token) {
    const TokenKind kind = at_.KindOf(token);
    // What ends a statement also ends the search: the bracket is missing.
    if ((EndsStatement(kind) && !(inside && kind == TokenKind::kSemicolon)) || !TakeLook()) {
      return false;
    }
    depth += IsOpen(kind) ? 1 : 0;
    if (IsClose(kind) && --depth == 0) {
      at_.MoveTo(token >= wrong ? token + 1 : wrong);
      return token >= wrong;
    }
  }
}

// Braces hold everything, so only braces are counted for them; other brackets end with their
// statement.
void Recovery::SkipBrackets() {
  const bool braces = at_.At(TokenKind::kOpenBrace);
  uint32_t depth = 0;
  do {
    const TokenKind kind = at_.Kind();
    if (braces ? kind == TokenKind::kOpenBrace : IsOpen(kind)) {
      ++depth;
    } else if (braces ? kind == TokenKind::kCloseBrace : IsClose(kind)) {
      --depth;
    }
    if (at_.AtEnd() || (!braces && EndsStatement(kind))) {
      return;
    }
    at_.Advance();
  } while (depth > 0);
}

// If the source says nothing about where it is missing, the brace that the caller knows is
// named.
bool Recovery::FailUnclosedBrace(const ConstructName& what, uint32_t brace) {
  const Missing missing = FindUnclosed(brace, at_.pos());
  if (missing.open == kNone) {
    return errors_.FailUnclosed(TokenKind::kCloseBrace, what, brace, at_.pos());
  }
  // Two in a row on one line: the second one is too many.
  const uint32_t next = missing.open + 1;
  const bool doubled = at_.KindOf(next) == TokenKind::kOpenBrace && !at_.StartsLine(next);
  return errors_.FailUnclosed(TokenKind::kCloseBrace,
                              missing.open == brace ? what : ConstructName{"scope"}, missing.open,
                              doubled ? next : missing.before);
}

// People indent before they balance. So the '}' of a brace is missing where a line is no further to
// the right than the line of the brace, and is not that '}' itself: labels of a switch excepted,
// which many write at its column. Sources without indentation get the usual answer: the last brace
// that is open, where it was noticed. Looks at each token once; how often all in all is bounded.
Recovery::Missing Recovery::FindUnclosed(uint32_t begin, uint32_t end) {
  struct Brace {
    uint32_t token;
    uint32_t indent;
  };
  // The budget is for all searches of a source together: many braces that are missing must not
  // cost the square of its length.
  if (end - begin > looks_left_) {
    return {};
  }
  looks_left_ -= end - begin;
  std::vector<Brace> open;
  for (uint32_t token = begin; token <= end; ++token) {
    const TokenKind kind = at_.KindOf(token);
    const bool closes = kind == TokenKind::kCloseBrace;
    const bool label = kind == TokenKind::kCase || kind == TokenKind::kDefault;
    // Only the first token of a line has an indentation that means something.
    if (!open.empty() && at_.StartsLine(token) && !label && open.back().indent != kNone) {
      const uint32_t indent = at_.IndentOf(token);
      if (indent != kNone &&
          (closes ? indent < open.back().indent : indent <= open.back().indent)) {
        return {.open = open.back().token, .before = token};
      }
    }
    if (kind == TokenKind::kOpenBrace) {
      open.push_back({token, at_.IndentOf(token)});
    } else if (closes && !open.empty()) {
      open.pop_back();
    }
  }
  return open.empty() ? Missing{} : Missing{.open = open.back().token, .before = end};
}

}  // namespace kiln::hlsl::syntax
