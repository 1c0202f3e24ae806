// SPDX-License-Identifier: MIT
// What the parts of checking share: the source and its tree, the unit that is made, names, and what
// is wrong.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/base/language_limits.h"
#include "compiler/base/threads/stop.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/diag/message_count.h"
#include "compiler/front/common/source_index.h"
#include "compiler/front/wgsl/check/scopes.h"
#include "compiler/front/wgsl/check/tree.h"
#include "compiler/front/wgsl/syntax/ast.h"

namespace kiln::wgsl::front {

// Everything given outlives it; it does not move.
class CheckContext {
 public:
  CheckContext(const TokenStream& token_stream, const syntax::Ast& tree, uint32_t ordinal,
               const LanguageLimits& most)
      : stream(token_stream), ast(tree), module(ordinal), limits(most) {}
  CheckContext(const CheckContext&) = delete;
  CheckContext& operator=(const CheckContext&) = delete;

  const TokenStream& stream;
  const syntax::Ast& ast;
  const uint32_t module;
  const LanguageLimits& limits;
  Unit unit;
  Scopes scopes;
  std::vector<Diagnostic> diagnostics;
  MessageCount found;  // of what is in `diagnostics`

  // For editors: what names mean; null where nobody asks.
  std::vector<kiln::front::Mention>* mentions = nullptr;
  void NoteMention(uint32_t token, uint32_t declared, uint32_t member = kNoRow) {
    if (mentions != nullptr) {
      ChargeMemory(sizeof(kiln::front::Mention));
      mentions->push_back({.token = token, .declared = declared, .member = member});
    }
  }

  bool has_f16 = false;          // enable f16
  bool has_dual_source = false;  // enable dual_source_blending
  FunctionId function;           // whose body is checked
  uint32_t in_continuing = 0;    // continuing blocks around
  // By token of a declaration in the body of a loop: a `continue` stands before it. Behind the body
  // only the continuing block can mention it.
  FlatMap<uint32_t, bool> skipped;
  std::vector<ExprId> rows;  // by row of Ast::exprs: what was made of it
  FlatMap<uint32_t, StructId> part_structs;
  FlatMap<uint32_t, bool> override_ids;
  FlatMap<uint64_t, bool>
      mentioned;  // function << 32 | global, or 1 << 63 | function << 32 | callee
  FlatMap<uint32_t, uint32_t>
      override_counts;  // of GlobalId: the first count of an array that it is

  Types& types() { return unit.types; }
  const Expr& Get(ExprId id) const { return unit.exprs[id.value]; }
  TypeId TypeOf(ExprId id) const { return unit.exprs[id.value].type; }
  const Type& TypeRowOf(ExprId id) const { return unit.types[TypeOf(id)]; }
  bool IsFailed(ExprId id) const { return !id.valid() || Get(id).kind == ExprKind::kFailed; }
  std::string TypeText(ExprId id) const { return unit.types.Text(TypeOf(id)); }
  std::string_view Text(uint32_t token) const { return stream.Text(token); }
  std::string Text(TokenRange at) const;

  // --- diagnostics
  Location Where(TokenRange at) const { return {.module = module, .bytes = stream.SpanOf(at)}; }
  Diagnostic At(Code code, TokenRange at) const { return Make(code, Where(at)); }
  Diagnostic At(Code code, uint32_t token) const { return At(code, {token, token + 1}); }
  void Say(Diagnostic&& diagnostic) {
    if (found.Take(diagnostic.severity)) {
      diagnostics.push_back(std::move(diagnostic));
    }
  }
  // WGSL2010: what is written breaks a rule of the language.
  void Forbid(TokenRange at, std::string_view reason);
  // WGSL1008: what is written is right and cannot be compiled yet.
  void Refuse(TokenRange at, std::string_view reason);
  // WGSL2002.
  void Mismatch(TokenRange at, std::string_view expected, std::string_view found);
  // "value", "type", …: what stands there, for messages.
  std::string FoundText(ExprId id) const;

  // Counts what a mention or an empty variable of a type that holds structs costs. False: WGSL1007,
  // said once for the module.
  bool SpendParts(TypeId type, TokenRange at);

  // --- rows
  ExprId Add(const Expr& expr) {
    ChargeMemory(sizeof(Expr));
    unit.exprs.push_back(expr);
    return ExprId{static_cast<uint32_t>(unit.exprs.size() - 1)};
  }
  ExprId Failed(TokenRange at) { return Add({.type = unit.types.Failed(), .at = at}); }
  // Lists in braces are expressions.
  template <std::same_as<Stmt> Row>
  StmtId Add(const Row& stmt) {
    ChargeMemory(sizeof(Row));
    unit.stmts.push_back(stmt);
    return StmtId{static_cast<uint32_t>(unit.stmts.size() - 1)};
  }
  template <std::same_as<Local> Row>
  LocalId Add(const Row& local) {
    ChargeMemory(sizeof(Row));
    unit.locals.push_back(local);
    return LocalId{static_cast<uint32_t>(unit.locals.size() - 1)};
  }
  // A constant of a type whose leaves are `words`. Fails where a module has too many.
  ExprId AddConstant(TypeId type, std::span<const Word> words, TokenRange at);
  FunctionRow& Function() { return unit.functions[function.value]; }

 private:
  uint64_t CostOf(TypeId type);

  FlatMap<uint32_t, uint64_t> costs_;  // of TypeId
  uint64_t parts_ = 0;                 // of constants and empty variables with structs
};

}  // namespace kiln::wgsl::front
