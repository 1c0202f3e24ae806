// SPDX-License-Identifier: MIT
// Behind an error the next ';' is looked for, or the '}' of the list around: braces that were
// opened by what is skipped are skipped with it. Which '{' of a function lacks its '}' cannot be
// told from the tokens alone, for the last one always pairs with the first; how the source is
// indented tells it.
#include "compiler/front/rpl/parser/recovery.h"

#include <algorithm>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/front/rpl/parser/lookahead.h"

namespace kiln::rpl {

// Panic mode with braces counted. Statements end with ';' and lists with '}', so what is skipped is
// the construct with the error and no more; the parser goes on behind it as if it had been right.
// Braces that held statements end a construct of their own, which has no ';'.
void Recovery::Recover() {
  while (true) {
    switch (at_.Kind()) {
      case TokenKind::kEnd:
        open_braces_ = 0;
        return;
      case TokenKind::kCloseBrace:
        // A '}' that no skipped constructor opened belongs to the list around: the parser that
        // reads the list stops there itself.
        if (open_braces_ == 0) {
          return;
        }
        --open_braces_;
        at_.Advance();
        break;
      // The end of the construct: whatever was opened before it was never closed.
      case TokenKind::kSemicolon:
        open_braces_ = 0;
        at_.Advance();
        return;
      case TokenKind::kOpenBrace:
        if (SkipBraces()) {
          open_braces_ = 0;
          at_.Accept(TokenKind::kSemicolon);
          return;
        }
        break;
      default:  // everything else belongs to what is skipped
        at_.Advance();
        break;
    }
  }
}

// The message is made by the usual rules, and then moved: it is about the brace without a partner,
// and where that was noticed becomes its label.
bool Recovery::FailUnclosedScope() {
  const bool at_end = at_.Kind() == TokenKind::kEnd;
  const Span noticed = at_.Peek().span();
  const uint32_t brace = FindUnclosedBrace();
  const size_t before = errors_.found().size();
  if (at_end) {
    errors_.FailHere(Code::kRpl1112);
  } else {
    errors_.FailUnclosed(errors_.owner());
  }
  if (errors_.found().size() == before || brace == kNone) {
    return false;
  }
  errors_.found().back().primary = errors_.At(at_.SpanOf(brace));
  std::move(errors_.found().back()).Label(LabelKind::kNoticedHere, errors_.At(noticed));
  return false;
}

// The innermost '{' whose '}' is indented less than its line; else the last one that is open.
// People indent before they balance: a '}' that stands left of the line of its '{' belongs to one
// further out, so the inner one is the one without. Sources without indentation get the usual
// answer.
uint32_t Recovery::FindUnclosedBrace() const {
  std::vector<uint32_t> open;
  for (uint32_t token = body_token_; token < at_.pos(); ++token) {
    const TokenKind kind = at_.lexed().tokens[token].kind;
    if (kind == TokenKind::kOpenBrace) {
      open.push_back(token);
    } else if (kind == TokenKind::kCloseBrace && !open.empty()) {
      const uint32_t indent = at_.StartsLine(token) ? at_.IndentOf(token) : kNone;
      const uint32_t opened = at_.IndentOf(open.back());
      if (indent != kNone && opened != kNone && indent < opened) {
        return open.back();
      }
      open.pop_back();
    }
  }
  return open.empty() ? kNone : open.back();
}

// Backwards from here: the first '{' that no '}' between closes.
uint32_t Recovery::BraceAround() const {
  constexpr uint32_t kFarthest = 4096;  // tokens looked at: this is asked for every brace missing
  uint32_t closed = 0;
  for (uint32_t token = at_.pos(); token > 0 && at_.pos() - token < kFarthest; --token) {
    const TokenKind kind = at_.lexed().tokens[token - 1].kind;
    if (kind == TokenKind::kCloseBrace) {
      ++closed;
    } else if (kind == TokenKind::kOpenBrace && closed-- == 0) {
      return token - 1;
    }
  }
  return kNone;
}

// For errors inside of parentheses: parsing can go on behind the one that closes them, if it is
// there and behind the error. It is not looked for beyond a ';' or a brace of statements, because
// then a parenthesis was forgotten and the next one that closes belongs to somebody else. False:
// the position is the error's again.
bool Recovery::RecoverBehind(uint32_t open, Semicolons semicolons) {
  const uint32_t wrong = at_.pos();
  open_braces_ = 0;
  uint32_t depth = 0;
  // From the parenthesis on, because the error may lie inside of several brackets whose number
  // nobody has kept.
  for (at_.MoveTo(open);;) {
    switch (at_.Kind()) {
      case TokenKind::kOpenParen:
      case TokenKind::kOpenBracket:
        ++depth;
        at_.Advance();
        break;
      case TokenKind::kCloseParen:
      case TokenKind::kCloseBracket:
        at_.Advance();
        if (--depth == 0) {
          const bool found = at_.pos() > wrong;
          at_.MoveTo(std::max(at_.pos(), wrong));
          return found;
        }
        break;
      case TokenKind::kOpenBrace:
        if (BracesHoldStatements(at_)) {
          at_.MoveTo(std::max(at_.pos(), wrong));
          return false;
        }
        SkipBraces();
        break;
      case TokenKind::kSemicolon:
        if (semicolons == Semicolons::kInside) {
          at_.Advance();
          break;
        }
        [[fallthrough]];
      case TokenKind::kEnd:
      case TokenKind::kCloseBrace:
        at_.MoveTo(std::max(at_.pos(), wrong));
        return false;
      default:  // everything else belongs to what is skipped
        at_.Advance();
        break;
    }
  }
}

bool Recovery::SkipBraces() {
  KILN_DCHECK(at_.Kind() == TokenKind::kOpenBrace);
  bool statements = false;
  uint32_t depth = 0;
  do {
    if (at_.Kind() == TokenKind::kOpenBrace) {
      ++depth;
    } else if (at_.Kind() == TokenKind::kCloseBrace) {
      --depth;
    } else if (at_.Kind() == TokenKind::kSemicolon) {
      statements = true;
    } else if (at_.Kind() == TokenKind::kEnd) {
      return statements;
    }
    at_.Advance();
  } while (depth > 0);
  return statements;
}

}  // namespace kiln::rpl
