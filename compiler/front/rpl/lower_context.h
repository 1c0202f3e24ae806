// SPDX-License-Identifier: MIT
// What the parts of lowering share: the source, its tree, the module that is being built, and the
// ids of names and types in it.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "compiler/front/rpl/ast.h"
#include "compiler/front/rpl/lex.h"
#include "compiler/ir/builder.h"

namespace kiln::rpl {

// Everything given outlives it; it does not move.
class LowerContext {
 public:
  LowerContext(std::string_view of_source, const LexResult& tokens, const Ast& tree);
  LowerContext(const LowerContext&) = delete;
  LowerContext& operator=(const LowerContext&) = delete;

  Span SpanOf(uint32_t token) const { return lexed.tokens[token].span(); }
  std::string_view TextAt(Span span) const { return TextOf(text, span); }
  uint32_t SymbolOf(uint32_t token) const { return lexed.tokens[token].value; }
  ir::StringId TextOfSymbol(uint32_t symbol);
  ir::StringId NameOf(uint32_t token) { return TextOfSymbol(SymbolOf(token)); }
  ir::SpanId AddSpan(Span span) { return builder.AddSpan(span); }
  ir::TypeId NamedType(uint32_t token);
  ir::TypeId InbuiltTypeId(InbuiltType type);

  const std::string_view text;
  const LexResult& lexed;
  const Ast& ast;
  ir::Builder builder;
  const ir::TypeId void_type;
  const ir::TypeId deferred;
  std::vector<uint32_t> words;  // scratch, for whoever fills it next
  std::vector<Span> run;        // scratch: spans of a run

 private:
  std::vector<ir::StringId> texts_;      // by symbol; invalid until used
  std::vector<ir::TypeId> named_types_;  // by symbol
  std::array<ir::TypeId, 64> inbuilt_types_{};
};

}  // namespace kiln::rpl
