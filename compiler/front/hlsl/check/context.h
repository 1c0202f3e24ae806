// SPDX-License-Identifier: MIT
// What the parts of checking share: the source and its tree, the unit that is made, names, and what
// is wrong.
#pragma once

#include <cstdint>
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
#include "compiler/front/hlsl/check/scopes.h"
#include "compiler/front/hlsl/check/tree.h"
#include "compiler/front/hlsl/settings.h"
#include "compiler/front/hlsl/syntax/ast.h"
#include "compiler/front/hlsl/token_stream.h"

namespace kiln::hlsl {

// A resource that is handed to a function: what is compared there is compared here.
struct HandedOn {
  ExprId argument;
  FunctionId callee;
  uint32_t parameter = 0;
};
// A call of a method: whether it writes to its object is known when its body is checked.
struct ObjectCall {
  ExprId object;
  FunctionId callee;
};

// What few words of a source make much of, counted for the module.
struct Budget {
  uint64_t most = 0;
  std::string_view unit;  // for the message
  uint64_t used = 0;
};
// A constant that was made of one scalar.
struct Fill {
  Scalar scalar;
  ExprId made;
};

// Everything given outlives it; it does not move.
class CheckContext {
 public:
  CheckContext(const TokenStream& token_stream, const syntax::Ast& tree,
               const Settings& module_settings, const LanguageLimits& language_limits)
      : stream(token_stream), ast(tree), settings(module_settings), limits(language_limits) {}
  CheckContext(const CheckContext&) = delete;
  CheckContext& operator=(const CheckContext&) = delete;

  const TokenStream& stream;
  const syntax::Ast& ast;
  const Settings& settings;
  const LanguageLimits& limits;
  Unit unit;
  Scopes scopes;
  std::vector<Diagnostic> diagnostics;
  MessageCount found;  // of what is in `diagnostics`

  // For editors: what names mean; null where nobody asks.
  std::vector<front::Mention>* mentions = nullptr;
  void NoteMention(uint32_t token, uint32_t declared) {
    if (mentions != nullptr && declared != kNoRow) {
      ChargeMemory(sizeof(front::Mention));
      mentions->push_back({.token = token, .declared = declared});
    }
  }

  // The function whose body is checked, and the namespaces around it.
  FunctionId function;
  std::vector<uint32_t> path;  // tokens of names
  uint32_t name_token = 0;     // of the declarator that is read, for messages about its type

  FlatMap<uint32_t, TypeId> records;         // by row of Ast::decls
  FlatMap<uint32_t, ScopeId> record_scopes;  // by StructId: names of members and methods
  LocalId self;                              // the object, in a method
  std::vector<HandedOn> handed_on;
  std::vector<ObjectCall> object_calls;
  std::vector<ExprId> rows;                    // by row of Ast::exprs: what was made of it
  FlatMap<uint32_t, Fill> fills;               // by TypeId: the last `(T) scalar` that is constant
  FlatMap<uint32_t, uint64_t> constant_costs;  // by TypeId: see CostOf

  // Items of constants, fills and constructors that are larger than a matrix, terms of the
  // compile-time expressions that names stand for, and of default values that calls leave out.
  Budget large_items{.most = 1u << 20, .unit = " items of large values"};
  Budget named_terms{.most = 1u << 21, .unit = " terms in names of compile-time values"};
  Budget default_terms{.most = 1u << 18, .unit = " terms in default values"};

  Dialect dialect() const {
    return settings.version == Version::k2018 ? Dialect::k2018 : Dialect::k2021;
  }
  Types& types() { return unit.types; }
  const Expr& Get(ExprId id) const { return unit.exprs[id.value]; }
  TypeId TypeOf(ExprId id) const { return unit.exprs[id.value].type; }
  std::string TypeText(ExprId id) const { return unit.types.Text(TypeOf(id)); }

  // --- tokens
  uint32_t NameOf(uint32_t token) const { return stream.tokens[token].symbol; }
  std::string_view Text(uint32_t token) const { return stream.Text(stream.tokens[token]); }
  // The tokens with single spaces where there was some; cut where it gets long.
  std::string Text(TokenRange at) const;
  // "fog.kDensity" of a name in the namespaces of `path`.
  std::string Dotted(uint32_t token) const;

  // --- diagnostics
  Diagnostic At(Code code, TokenRange at) const;
  Diagnostic At(Code code, uint32_t token) const { return At(code, TokenRange{token, token + 1}); }
  void Say(Diagnostic&& diagnostic) {
    if (found.Take(diagnostic.severity)) {
      diagnostics.push_back(std::move(diagnostic));
    }
  }
  // HLSL8004.
  void Refuse(TokenRange at, std::string_view text, std::string_view family);
  Location LocationOf(uint32_t token) const;
  // False if there is too much: HLSL1007, said once for the module.
  bool Spend(Budget& budget, uint64_t amount, TokenRange at);

  // --- rows
  // A value whose type failed has failed: whoever looks at its kind need not look at its type.
  ExprId Add(const Expr& expr) {
    ChargeMemory(sizeof(Expr));
    const bool failed = unit.types.IsFailed(expr.type);
    unit.exprs.push_back(failed ? Expr{.type = expr.type, .at = expr.at} : expr);
    return ExprId{static_cast<uint32_t>(unit.exprs.size() - 1)};
  }
  ExprId Failed(TokenRange at) { return Add({.type = unit.types.Failed(), .at = at}); }
  StmtId Add(const Stmt& stmt) {
    ChargeMemory(sizeof(Stmt));
    unit.stmts.push_back(stmt);
    return StmtId{static_cast<uint32_t>(unit.stmts.size() - 1)};
  }
  template <class IdT>
  ListId AddList(std::span<const IdT> ids) {
    std::vector<uint32_t> words;
    words.reserve(ids.size());
    for (const IdT id : ids) {
      words.push_back(id.value);
    }
    return unit.AddList(words);
  }
  template <class IdT>
  ListId AddList(const std::vector<IdT>& ids) {
    return AddList(std::span<const IdT>(ids));
  }
  LocalId AddLocal(Local&& local) {
    ChargeMemory(sizeof(Local));
    unit.locals.push_back(std::move(local));
    return LocalId{static_cast<uint32_t>(unit.locals.size() - 1)};
  }
  GlobalId AddGlobal(Global&& global) {
    ChargeMemory(sizeof(Global) + global.name.size());
    unit.globals.push_back(std::move(global));
    return GlobalId{static_cast<uint32_t>(unit.globals.size() - 1)};
  }
  AttributesId AddAttributes(const Attributes& attributes) {
    ChargeMemory(sizeof(Attributes));
    unit.attributes.push_back(attributes);
    return AttributesId{static_cast<uint32_t>(unit.attributes.size() - 1)};
  }
};

}  // namespace kiln::hlsl
