// SPDX-License-Identifier: MIT
// What the parsers of one module share: one cursor, one place for errors, one tree, one depth.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "compiler/base/language_limits.h"
#include "compiler/front/hlsl/syntax/ast.h"
#include "compiler/front/hlsl/syntax/parse.h"
#include "compiler/front/hlsl/syntax/parser/name_scopes.h"
#include "compiler/front/hlsl/syntax/parser/parse_errors.h"
#include "compiler/front/hlsl/syntax/parser/recovery.h"
#include "compiler/front/hlsl/syntax/parser/token_cursor.h"

namespace kiln::hlsl::syntax {

// Everything given outlives it; it does not move.
struct ParseContext {
  ParseContext(const TokenStream& stream, std::span<const std::string_view> texts, Version version,
               const LanguageLimits& how_much, ParseResult& out)
      : at(stream, texts),
        ast(out.ast),
        limits(how_much),
        errors(at, version, out.diagnostics),
        recovery(at, errors),
        names(stream.symbols) {}
  ParseContext(const ParseContext&) = delete;
  ParseContext& operator=(const ParseContext&) = delete;

  // Counts one level of nesting at a token; false: HLSL1008.
  bool Enter(uint32_t token) {
    if (nesting < limits.nesting) {
      ++nesting;
      return true;
    }
    return errors.Fail(Code::kHlsl1008, token,
                       {{"text", at.TextOfToken(token)}, {"limit", limits.nesting}});
  }

  TokenCursor at;
  Ast& ast;
  const LanguageLimits& limits;
  ParseErrors errors;
  Recovery recovery;
  NameScopes names;
  uint32_t nesting = 0;  // brackets, scopes, records and what binds to the right, around here
  std::vector<uint32_t> items;  // stack of list items, for all lists that are being read
};

// Gives `nesting` and `items` back what they were, also behind an error.
class Level {
 public:
  explicit Level(ParseContext& context)
      : context_(context), nesting_(context.nesting), items_(context.items.size()) {}
  ~Level() {
    context_.nesting = nesting_;
    context_.items.resize(items_);
  }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

  // What was pushed since, as a list.
  uint32_t TakeList() const {
    return context_.ast.AddList(std::span(context_.items).subspan(items_));
  }
  bool has_items() const { return context_.items.size() > items_; }
  size_t count() const { return context_.items.size() - items_; }

 private:
  ParseContext& context_;
  const uint32_t nesting_;
  const size_t items_;
};

}  // namespace kiln::hlsl::syntax
