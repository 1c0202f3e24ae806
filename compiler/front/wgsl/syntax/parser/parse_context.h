// SPDX-License-Identifier: MIT
// What the parts of the parser share: where it is, the tree that is made, what is wrong. After an
// error everything fails in silence until a statement or declaration is left (Recover).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/language_limits.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/diag/message_count.h"
#include "compiler/front/wgsl/syntax/ast.h"
#include "compiler/front/wgsl/syntax/parser/name_scopes.h"
#include "compiler/front/wgsl/token.h"

namespace kiln::wgsl::front::syntax {

class ParseContext {
 public:
  ParseContext(const TokenStream& token_stream, uint32_t ordinal, const LanguageLimits& most)
      : stream(token_stream), module(ordinal), limits(most) {}
  ParseContext(const ParseContext&) = delete;
  ParseContext& operator=(const ParseContext&) = delete;

  const TokenStream& stream;
  const uint32_t module;
  const LanguageLimits& limits;
  Ast ast;
  std::vector<Diagnostic> diagnostics;
  MessageCount found;  // of what is in `diagnostics`
  NameScopes scopes;
  uint32_t at = 0;      // the token that is next
  uint32_t depth = 0;   // of brackets, blocks and unary operators around it
  bool failed = false;  // an error was said, and nothing was left since

  TokenKind Kind() const { return stream.KindOf(at); }
  TokenKind KindAfter() const { return stream.KindOf(at + 1 < stream.tokens.size() ? at + 1 : at); }
  bool Is(TokenKind kind) const { return Kind() == kind; }
  void Next() { at += Is(TokenKind::kEnd) ? 0 : 1; }
  bool Accept(TokenKind kind) {
    const bool found = !failed && Is(kind);
    at += found && kind != TokenKind::kEnd ? 1 : 0;
    return found;
  }
  // Says WGSL1001 and fails if something else is next.
  bool Expect(TokenKind kind);
  void Fail(std::string_view expected);
  void FailAtLimit();  // WGSL1007 of the nesting
  // Says the same of a place and goes on.
  void Say(Diagnostic&& diagnostic) {
    if (found.Take(diagnostic.severity)) {
      diagnostics.push_back(std::move(diagnostic));
    }
  }
  Location Where(TokenRange range) const {
    return {.module = module, .bytes = stream.SpanOf(range)};
  }

  // A level deeper as long as it lives; fails where that is too deep.
  class Deeper {
   public:
    explicit Deeper(ParseContext& context) : context_(context) {
      if (++context.depth > context.limits.nesting) {
        context.FailAtLimit();
      }
    }
    ~Deeper() { --context_.depth; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    ParseContext& context_;
  };

  // --- rows
  ExprId Add(const Expr& expr) {
    ast.exprs.push_back(expr);
    return ExprId{static_cast<uint32_t>(ast.exprs.size() - 1)};
  }
  StmtId Add(const Stmt& stmt) {
    ast.stmts.push_back(stmt);
    return StmtId{static_cast<uint32_t>(ast.stmts.size() - 1)};
  }
  ListId AddList(std::span<const uint32_t> items);
};

}  // namespace kiln::wgsl::front::syntax
